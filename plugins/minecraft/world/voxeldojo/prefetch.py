"""The first start of a new version: a second process compiles what is wanted last, this one what makes land.

The tick is nearly half of all there is to compile, and the glance shares much with it. Each process writes its own
kernels into numba's cache. The second tells of each that is there, and the first reads it when it is wanted. Where
there is no second core, or the process fails, kernels are compiled when they are first called, as they would be without
this module.

    python -m voxeldojo.prefetch    # is that process
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from voxeldojo import scalars
from voxeldojo.world import tick
from voxeldojo.world.jit import is_cached
from voxeldojo.world.state import ACTION, World, empty

Compile = Callable[[World], Any]

KERNELS: Final[dict[Any, Compile]] = {
    scalars.KERNEL: scalars.read_scalars,
    tick.KERNEL: lambda world: tick.KERNEL.compile(tuple(map(tick.KERNEL.typeof_pyval, (world, np.zeros(1, ACTION))))),
}
"""Kernels, in the order in which they are wanted, and what compiles each for the types that the game has."""
PROCESS_COMMAND: Final = (sys.executable, "-m", "voxeldojo.prefetch")
_LOCK: Final = threading.Lock()


def start(
    kernels: Sequence[Any] = tuple(KERNELS), command: Sequence[str] = PROCESS_COMMAND
) -> subprocess.Popen[bytes] | None:
    """Start the process, where the cache lacks the last kernel; the first call of each waits until it is there.

    :returns: the process, if one was started. Workers of ``multiprocessing`` start none: they have others beside them.
    """
    with _LOCK:
        last = kernels[-1]
        if last.signatures or "compile" in vars(last) or not _has_free_core() or is_cached(last):
            return None
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing)
        atexit.register(_stop, process)
        compiled_events = [threading.Event() for _ in kernels]
        for kernel, event in zip(kernels, compiled_events, strict=True):
            kernel.compile = _wait_for(event, kernel)
        threading.Thread(target=_listen, args=(process, compiled_events), daemon=True).start()
        return process


def main() -> None:
    """Compile into the cache; a line is written after each kernel."""
    world = empty(0)
    for compiled in KERNELS.values():
        compiled(world)
        print(flush=True)


def _listen(process: subprocess.Popen[bytes], compiled_events: Sequence[threading.Event]) -> None:
    """Set an event for each line that the process writes, and those that are left when it ends."""
    with process:
        for event, _ in zip(compiled_events, process.stdout or (), strict=False):
            event.set()
    for event in compiled_events:
        event.set()


def _wait_for(compiled_events: threading.Event, kernel: Any) -> Callable[[Any], Any]:
    """The kernel's ``compile``, which waits until it is there before it looks into the cache, once.

    A fork of this process does not wait: nobody listens there.
    """
    compiled: Callable[[Any], Any] = kernel.compile
    owner = os.getpid()

    def wait_first(signature: Any) -> Any:
        if os.getpid() == owner:
            compiled_events.wait()
        vars(kernel).pop("compile", None)
        return compiled(signature)

    return wait_first


def _has_free_core() -> bool:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores > 1 and multiprocessing.parent_process() is None


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


if __name__ == "__main__":
    main()
    os._exit(0)  # to take apart what numba built would take the second that the other process waits
