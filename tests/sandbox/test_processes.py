"""Guests in forked processes, as in vector environments and trainers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from rlgpt.domain import Verdict
from rlgpt.sandbox import Ask, Done, Guest, SandboxLimits

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

ENDLESS = "def run():\n    yield grasp()\n    while True: pass"


def _in_child(check: Callable[[], bool]) -> bool:
    """Return whether ``check`` is true in a forked child process."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if check() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_child_process_can_open_a_guest(open_guest: Callable[..., Guest]) -> None:
    source = "def run():\n    yield grasp()"
    assert isinstance(open_guest(source).start("a", {}), Ask)
    assert _in_child(lambda: isinstance(open_guest(source).start("a", {}), Ask))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_guest_continues_in_both_processes_after_a_fork(open_guest: Callable[..., Guest]) -> None:
    guest = open_guest(
        "def run():\n    yield grasp()\n    yield observe()",
        ENDLESS,
        limits=SandboxLimits(turn_fuel=10**15, call_fuel=10**15, episode_fuel=10**15, wall_seconds=0.5),
    )
    guest.start("a", {})

    def goes_on() -> bool:
        finished = isinstance(guest.send({}), Ask) and guest.send({}) == Done()
        guest.start("b", {})
        stopped = guest.send({})
        return finished and isinstance(stopped, Verdict) and stopped.kind == "wall"

    assert _in_child(goes_on)
    assert goes_on()


def test_importing_the_sandbox_does_not_import_wasmtime_numpy_or_torch() -> None:
    program = "import sys, rlgpt.sandbox; sys.exit(any(m in sys.modules for m in ('wasmtime', 'numpy', 'torch')))"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
