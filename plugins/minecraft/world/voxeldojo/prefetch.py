"""At the first start of a new version of the package, a second process compiles half of the kernels (functions that
numba compiles).

The main process compiles the kernels that generate land. At the same time, the *compiling process* compiles the
kernels that are needed last, which are those of the scalar observations and of the tick, nearly half of all code. Each
of the two processes writes its kernels into numba's cache. The compiling process reports each finished kernel, and the
main process then loads this kernel from the cache. Without a second core, or if the compiling process fails, each
kernel is compiled at its first call.

    python -m voxeldojo.prefetch    # the command of the compiling process: it fills numba's cache
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
"""Kernels, in the order in which they are needed, and the function that compiles each for the types of the game."""
PROCESS_COMMAND: Final = (sys.executable, "-m", "voxeldojo.prefetch")
_LOCK: Final = threading.Lock()


def start(
    kernels: Sequence[Any] = tuple(KERNELS), command: Sequence[str] = PROCESS_COMMAND
) -> subprocess.Popen[bytes] | None:
    """Start the process that compiles kernels, unless the cache contains the last kernel. After ``start``, the first
    call of a kernel waits until this process has compiled the kernel.

    :returns: the process, or None. Workers of ``multiprocessing`` do not start the process, because the other workers
        use the cores.
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
    """Compile all kernels into the cache. Print a line after each kernel."""
    world = empty(0)
    for compiled in KERNELS.values():
        compiled(world)
        print(flush=True)


def _listen(process: subprocess.Popen[bytes], compiled_events: Sequence[threading.Event]) -> None:
    """Set one event for each line that the compiling process prints. When this process ends, set all remaining
    events.
    """
    with process:
        for event, _ in zip(compiled_events, process.stdout or (), strict=False):
            event.set()
    for event in compiled_events:
        event.set()


def _wait_for(compiled_events: threading.Event, kernel: Any) -> Callable[[Any], Any]:
    """Return a method ``compile`` for the kernel, which waits for the kernel's event and then finds the compiled kernel
    in the cache.

    In a forked child of this process, the method does not wait, because the child does not have the thread that sets
    the events.
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
    os._exit(0)  # ends without numba's clean-up, which takes one second while the main process waits
