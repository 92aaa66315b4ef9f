"""A second process compiles ahead where it is worth it, and whatever becomes of that, its kernels are compiled."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from rlgpt_minecraft import ahead
from rlgpt_minecraft.env import MineDojoEnv
from rlgpt_minecraft.mission import Mission

TELL = (sys.executable, "-c", "print(flush=True); print(flush=True)")
TELL_ONE = (sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()")
FAIL = (sys.executable, "-c", "raise SystemExit(3)")


class Kernel:
    """What is asked of a dispatcher of numba."""

    def __init__(self, index: dict[Any, Any] | None = None, signatures: tuple[Any, ...] = ()) -> None:
        self._cache = SimpleNamespace(_cache_file=SimpleNamespace(_load_index=lambda: index or {}))
        self.signatures, self.asked = signatures, list[Any]()

    def compile(self, signature: Any) -> str:
        self.asked.append(signature)
        return "machine code"


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)


@pytest.mark.parametrize("command", [TELL, TELL_ONE, FAIL], ids=["succeeds", "half", "fails"])
def test_the_first_calls_wait_for_the_process(command: tuple[str, ...]) -> None:
    kernels = Kernel(), Kernel()
    process = ahead.begin(kernels, command)
    assert process is not None
    assert ahead.begin(kernels, command) is None
    for kernel in kernels:
        for asked in ("first", "second"):
            assert kernel.compile(asked) == "machine code"
        assert kernel.asked == ["first", "second"]
        assert "compile" not in vars(kernel)
    assert process.returncode == (3 if command is FAIL else 0)


def test_a_kernel_waits_for_no_later_one() -> None:
    kernels = Kernel(), Kernel()
    process = ahead.begin(kernels, (sys.executable, "-c", "import signal; print(flush=True); signal.pause()"))
    assert process is not None
    assert kernels[0].compile("asked") == "machine code"
    assert process.poll() is None
    process.kill()
    assert kernels[1].compile("asked") == "machine code"


def test_the_last_may_be_asked_first() -> None:
    kernels = Kernel(), Kernel()
    assert ahead.begin(kernels, TELL) is not None
    for kernel in reversed(kernels):
        assert kernel.compile("asked") == "machine code"


def test_no_process_where_nothing_is_to_be_gained(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ahead.begin([Kernel(index={"types": "file"})], FAIL) is None
    assert ahead.begin([Kernel(signatures=("compiled",))], FAIL) is None
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert ahead.begin([Kernel()], FAIL) is None


def test_it_compiles_for_the_types_that_the_game_has(capsys: pytest.CaptureFixture[str]) -> None:
    env = MineDojoEnv(Mission(seed=0))
    env.reset(seed=0)
    env.step(env.no_op())
    compiled = {kernel: list(kernel.signatures) for kernel in ahead.WORK}
    assert all(len(signatures) == 1 for signatures in compiled.values())
    ahead.main()
    assert {kernel: list(kernel.signatures) for kernel in ahead.WORK} == compiled
    assert capsys.readouterr().out == "\n" * len(ahead.WORK)
