"""Prefetch: a second process compiles numba kernels in advance. If that process fails, the main process compiles the
kernels.
"""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from voxeldojo import prefetch
from voxeldojo.env import MineDojoEnv
from voxeldojo.mission import Mission

TELL = """
import pathlib, sys
for number in range(int(sys.argv[2])):
    pathlib.Path(sys.argv[1], str(number)).touch()
    print(flush=True)
"""
"""The program of a process that writes a file before it reports each kernel."""
PAUSE = "import signal; print(flush=True); signal.pause()"


def process_that_finishes(folder: Path, kernels: int) -> tuple[str, ...]:
    return (sys.executable, "-c", TELL, str(folder), str(kernels))


class Kernel:
    """The part of a numba dispatcher that prefetch uses."""

    def __init__(self, index: dict[Any, Any] | None = None, signatures: tuple[Any, ...] = ()) -> None:
        self._cache = SimpleNamespace(_cache_file=SimpleNamespace(_load_index=lambda: index or {}))
        self.signatures, self.asked = signatures, list[Any]()

    def compile(self, signature: Any) -> str:
        self.asked.append(signature)
        return "machine code"


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)


@pytest.mark.parametrize("finished", [2, 1, 0])
def test_first_call_of_a_kernel_waits_for_the_process_that_compiles_it(finished: int, tmp_path: Path) -> None:
    kernels = Kernel(), Kernel()
    process = prefetch.start(kernels, process_that_finishes(tmp_path, finished))
    assert process is not None
    assert prefetch.start(kernels, process_that_finishes(tmp_path, finished)) is None
    for number, kernel in enumerate(kernels):
        for asked in ("first", "second"):
            assert kernel.compile(asked) == "machine code"
        assert (tmp_path / str(number)).exists() == (number < finished)
        assert kernel.asked == ["first", "second"]
        assert "compile" not in vars(kernel)
    assert process.wait() == 0


def test_kernel_does_not_wait_for_a_failed_process() -> None:
    kernel = Kernel()
    process = prefetch.start([kernel], (sys.executable, "-c", "raise SystemExit(3)"))
    assert process is not None
    assert kernel.compile("asked") == "machine code"
    assert process.wait() == 3


def test_kernel_does_not_wait_for_later_kernels() -> None:
    kernels = Kernel(), Kernel()
    process = prefetch.start(kernels, (sys.executable, "-c", PAUSE))
    assert process is not None
    assert kernels[0].compile("asked") == "machine code"
    assert process.poll() is None
    process.kill()
    assert kernels[1].compile("asked") == "machine code"


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_kernel_in_a_forked_process_does_not_wait() -> None:
    kernel = Kernel()
    process = prefetch.start([Kernel(), kernel], (sys.executable, "-c", PAUSE))
    assert process is not None
    if (child := os.fork()) == 0:
        signal.alarm(20)
        os._exit(kernel.compile("asked") != "machine code")
    assert os.waitpid(child, 0)[1] == 0
    process.kill()


def test_threads_can_compile_kernels_in_any_order_during_prefetch(tmp_path: Path) -> None:
    kernels = Kernel(), Kernel(), Kernel()
    assert prefetch.start(kernels, process_that_finishes(tmp_path, len(kernels))) is not None
    with ThreadPoolExecutor(9) as pool:
        asked = [pool.submit(kernel.compile, i) for i in range(3) for kernel in reversed(kernels)]
    assert [future.result() for future in asked] == ["machine code"] * 9


def test_prefetch_starts_no_process_for_compiled_kernels_or_on_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prefetch.start([Kernel(index={"types": "file"})], process_that_finishes(Path(), 1)) is None
    assert prefetch.start([Kernel(signatures=("compiled",))], process_that_finishes(Path(), 1)) is None
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert prefetch.start([Kernel()], process_that_finishes(Path(), 1)) is None


def test_prefetch_compiles_the_same_signatures_as_an_episode(capsys: pytest.CaptureFixture[str]) -> None:
    env = MineDojoEnv(Mission(seed=0))
    env.reset(seed=0)
    env.step(env.no_op())
    compiled = {kernel: list(kernel.signatures) for kernel in prefetch.KERNELS}
    assert all(len(signatures) == 1 for signatures in compiled.values())
    prefetch.main()
    assert {kernel: list(kernel.signatures) for kernel in prefetch.KERNELS} == compiled
    assert capsys.readouterr().out == "\n" * len(prefetch.KERNELS)
