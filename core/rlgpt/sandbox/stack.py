"""The stack of a thread. The guest's code runs on the stack of the thread that calls it. If the code used more than the
thread has, the process would end.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from rlgpt.errors import SandboxError

GUEST = 2 * 2**20
"""Maximal stack of the guest's code in bytes. The size is four times wasmtime's default, so that code usually reaches
Python's own limits on nesting before it uses up the stack.
"""

LEAST = GUEST + 2**20
"""Minimal stack of a thread that calls the guest, in bytes: the host's own functions use the rest."""


class Stacks:
    """Checks the stack of each thread that calls the guest, once."""

    def __init__(self) -> None:
        self._checked = threading.local()

    def check(self) -> None:
        """:raises SandboxError: the stack of the current thread is too small for the guest's code."""
        if not hasattr(self._checked, "size"):
            size = _size()
            if size is not None and size < LEAST:
                raise SandboxError(
                    f"this thread has a stack of {size / 2**20:.2g} MiB, and code in the sandbox needs "
                    f"{LEAST / 2**20:g} MiB: run `ulimit -s 8192` before the program, or call "
                    "threading.stack_size(8 * 2**20) before the thread starts"
                )
            self._checked.size = size


def thread_pool(threads: int, name: str) -> ThreadPoolExecutor:
    """Make a pool whose threads have the stack that the guest's code needs, whatever the system's default is.

    :param threads: number of threads. All of them start now.
    :param name: prefix of the threads' names.
    """
    pool, started = ThreadPoolExecutor(threads, thread_name_prefix=name), threading.Barrier(threads)
    before = threading.stack_size(2 * LEAST)
    try:
        list(pool.map(lambda _: started.wait(), range(threads)))
    finally:
        threading.stack_size(before)
    return pool


def _size() -> int | None:
    """The size of the current thread's stack in bytes; None if it is not known (it is on Linux)."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "gnu_get_libc_version") and threading.get_native_id() == os.getpid():
        return None  # musl says how much of the first thread's stack was used, not how large it can become.
    libc.pthread_self.restype = ctypes.c_void_p
    attributes, size = ctypes.create_string_buffer(256), ctypes.c_size_t()
    if libc.pthread_getattr_np(ctypes.c_void_p(libc.pthread_self()), attributes):
        return None
    libc.pthread_attr_getstacksize(attributes, ctypes.byref(size))
    libc.pthread_attr_destroy(attributes)
    return size.value
