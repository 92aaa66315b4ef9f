"""The same seed, sources and replies give the same requests and the same fuel. Other programs have no effect."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from histories import LIMITS, LONG, SOURCE, elsewhere, history
from rlgpt.domain import Verdict
from rlgpt.sandbox import Guest, Library


def test_guests_with_equal_seeds_send_equal_requests_and_use_equal_fuel(open_guest: Callable[..., Guest]) -> None:
    first = history(open_guest(SOURCE, seed=7))
    assert len(first) == 6
    open_guest("def run():\n    while True: pass\n    yield").start("a", {})
    assert history(open_guest(SOURCE, seed=7)) == first


def test_guests_with_different_seeds_send_different_requests(open_guest: Callable[..., Guest]) -> None:
    histories = [history(open_guest(SOURCE, seed=seed)) for seed in (0, 1, -1, 2**70)]
    assert all(a != b for i, a in enumerate(histories) for b in histories[:i])


@contextmanager
def _busy() -> Iterator[None]:
    """Keep every CPU core busy with a process."""
    program = "import os\nparent = os.getppid()\nprint(flush=True)\nwhile os.getppid() == parent: pass"
    children = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) for _ in range(os.cpu_count() or 1)
    ]
    try:
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline()
        yield
        assert all(child.poll() is None for child in children)
    finally:
        for child in children:
            child.kill()
            child.communicate()


def test_busy_cpu_cores_do_not_change_requests_and_fuel_of_a_guest(open_guest: Callable[..., Guest]) -> None:
    quiet = history(open_guest(LONG, seed=7, limits=LIMITS))
    assert [type(turn) for turn, _ in quiet] == [tuple] * 6 + [Verdict]
    assert quiet[-1][1] == LIMITS.turn_fuel
    with _busy():
        assert history(open_guest(LONG, seed=7, limits=LIMITS)) == quiet


def test_guests_in_concurrent_processes_have_the_same_history(
    library: Library, open_guest: Callable[..., Guest]
) -> None:
    context = multiprocessing.get_context("spawn")
    both, told = context.Barrier(2), []
    pipes = [context.Pipe(duplex=False) for _ in range(2)]
    children = [context.Process(target=elsewhere, args=(library, both, theirs), daemon=True) for _, theirs in pipes]
    for child in children:
        child.start()
    for (ours, theirs), child in zip(pipes, children, strict=True):
        theirs.close()  # If the child process dies, the pipe is closed, and `recv` does not wait without end.
        told.append(ours.recv())
        child.join()
        ours.close()
    (one, first), (other, second) = told
    assert len({one, other, os.getpid()}) == 3
    assert first == second == history(open_guest(LONG, seed=7, limits=LIMITS))
