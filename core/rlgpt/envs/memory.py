"""Anonymous memory that two processes share. Nothing is left behind, however either of them ends."""

from __future__ import annotations

import fcntl
import mmap
import os
import tempfile


def anonymous() -> int:
    """The file descriptor of an empty file without a name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("rlgpt", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def mapped(handle: int, size: int) -> mmap.mmap:
    """Map ``size`` bytes of the file into memory.

    Where the system supports it, the size is sealed: a worker that truncated the file would end this process with a bus
    error.
    """
    os.ftruncate(handle, size)
    if hasattr(fcntl, "F_ADD_SEALS") and hasattr(os, "memfd_create"):
        fcntl.fcntl(handle, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    return mmap.mmap(handle, size)
