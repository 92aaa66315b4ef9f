"""Restores the memory of an instance of the guest to the snapshot with which every instance begins. Linux says which
pages were written.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import re

_PAGEMAP = "/proc/self/pagemap"
_OWN = re.compile(
    b"[" + b"".join(re.escape(bytes([flag])) for flag in range(256) if flag & 0xC0 and not flag & 0x20) + b"]+"
)
"""Highest bytes of the entries of pages that belong to the process alone: pages in memory (bit 63) or swapped out (bit
62) that are no pages of a file (bit 61). https://docs.kernel.org/admin-guide/mm/pagemap.html
"""


class Pristine:
    """The memory with which every instance of a process begins.

    :param base: address of the memory of an instance that never runs.
    :param size: size of the memory in bytes.
    :param owner: an object that keeps the memory.
    """

    def __init__(self, base: int, size: int, owner: object) -> None:
        self._base, self._size, self._owner = base, size, owner
        self._works = base % mmap.PAGESIZE == 0
        self._proven = False

    def restore(self, base: int, size: int) -> bool:
        """Restore the memory at ``base``. The first time, the whole memory is compared.

        :returns: False if the memory has grown, or if the system does not say which pages were written.
        """
        if not self._works or size != self._size:
            return False
        page = mmap.PAGESIZE
        try:
            with open(_PAGEMAP, "rb", buffering=0) as file:
                entries = os.pread(file.fileno(), size // page * 8, base // page * 8)
        except OSError:
            entries = b""
        if len(entries) != size // page * 8:
            self._works = False
            return False
        for run in _OWN.finditer(entries[7::8]):
            begin, end = run.start() * page, run.end() * page
            ctypes.memmove(base + begin, self._base + begin, end - begin)
        if not self._proven:
            self._works = self._proven = ctypes.string_at(base, size) == ctypes.string_at(self._base, size)
        return self._works
