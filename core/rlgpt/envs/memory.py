"""Makes anonymous memory that two processes share. The operating system frees the shared memory when both processes
have ended, even if they are killed.
"""

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
    """Set the size of the shared file to ``size`` bytes, and map the file into memory.

    If the operating system supports sealing, a seal fixes the size of the file. Without the seal, a worker that
    truncates the file could end this process with a bus error.
    """
    os.ftruncate(handle, size)
    if hasattr(fcntl, "F_ADD_SEALS") and hasattr(os, "memfd_create"):
        fcntl.fcntl(handle, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    return mmap.mmap(handle, size)
