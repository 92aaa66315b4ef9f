"""The first start of a new version: a second process compiles the tick, while this one compiles what makes land.

The tick is half of all there is to compile, and wanted last. Each process writes its own kernels into numba's cache,
and the tick is read from there. Where there is no second core, or the process fails, the tick is compiled when it is
first called, as it would be without this module.

    python -m rlgpt_minecraft.ahead    # is that process
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

from rlgpt_minecraft.world.jit import is_cached
from rlgpt_minecraft.world.state import ACTION, empty
from rlgpt_minecraft.world.tick import KERNEL

COMMAND: Final = (sys.executable, "-m", "rlgpt_minecraft.ahead")
_LOCK: Final = threading.Lock()


def begin(kernel: Any = KERNEL, command: Sequence[str] = COMMAND) -> subprocess.Popen[bytes] | None:
    """Start the process, where the cache lacks the kernel; the kernel's first call waits for it.

    :returns: the process, if one was started. Workers of ``multiprocessing`` start none: they have others beside them.
    """
    with _LOCK:
        if kernel.signatures or "compile" in vars(kernel) or not _worth_it() or is_cached(kernel):
            return None
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
        atexit.register(_end, process)
        kernel.compile = _after(process, kernel)
        return process


def main() -> None:
    """Compile the tick into the cache."""
    KERNEL.compile(tuple(KERNEL.typeof_pyval(value) for value in (empty(0), np.zeros(1, ACTION))))


def _after(process: subprocess.Popen[bytes], kernel: Any) -> Callable[[Any], Any]:
    """The kernel's ``compile``, which waits for the process before it looks into the cache, once."""
    compiled: Callable[[Any], Any] = kernel.compile

    def wait_first(signature: Any) -> Any:
        process.wait()
        vars(kernel).pop("compile", None)
        return compiled(signature)

    return wait_first


def _worth_it() -> bool:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores > 1 and multiprocessing.parent_process() is None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


if __name__ == "__main__":
    main()
