"""Append-only files of JSON lines. Several processes may append lines to the file, and a kill may leave an incomplete
last line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Generic, TypeVar

from pydantic import BaseModel, TypeAdapter

from rlgpt.files.bounded import read_json
from rlgpt.files.folder import Folder

V = TypeVar("V")

_LINE = 64 << 20
_FILE = 512 << 20
_BLOCK = 1 << 16


class JsonLines(Generic[V]):
    """A file with one JSON value on each line. A last line without a line break is incomplete, because a kill
    interrupted the writing process. Such a line is ignored.

    :param kind: the type of the value on a line; see :func:`~rlgpt.files.bounded.read_json`.
    :param advice: one sentence that tells the user what to do about a damaged line.
    :param full: maximal size of the file in bytes. A line that would exceed this size is not appended.
    """

    def __init__(
        self, folder: Folder, name: str, kind: type[V] | TypeAdapter[V], advice: str, *, full: int = _FILE
    ) -> None:
        self.folder, self.name, self._kind, self._advice, self._full = folder, name, kind, advice, full

    def read(self) -> list[V]:
        """The values of all complete lines, oldest first; an empty list if the file is missing.

        :raises RlgptError: a complete line of the file is not a valid value; the message names the line.
        """
        if not self.folder.exists(self.name):
            return []
        with self.folder.open(self.name, limit=_FILE) as file:
            return list(self._values(file))

    def append(self, value: BaseModel) -> None:
        """Append ``value`` as a line. The method returns after the line was written to the disk (``os.fsync``). An
        incomplete last line of the file is removed first. If the line does not fit into the file, nothing is appended.
        """
        line = value.model_dump_json().encode() + b"\n"
        with self.folder.open_in_place(self.name, append=True) as file, _locked(file):
            if file.seek(0, os.SEEK_END) + len(line) <= self._full:
                _cut_torn_line(file)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())

    def room(self) -> int:
        """Number of bytes that can still be appended; negative if the file is too large."""
        if not self.folder.exists(self.name):
            return self._full
        with self.folder.open(self.name, limit=sys.maxsize) as file:
            return self._full - file.seek(0, os.SEEK_END)

    def _values(self, file: BinaryIO) -> Iterator[V]:
        for number, line in enumerate(iter(lambda: file.readline(_LINE), b""), start=1):
            where = f"{self.folder.path / self.name}, line {number},"
            if not line.endswith(b"\n"):
                if len(line) == _LINE:
                    raise self.folder.error(f"{where} is longer than {_LINE:,} bytes. {self._advice}")
                return
            text = line.decode(errors="surrogateescape")
            yield read_json(text, self._kind, where, self.folder.error, self._advice)


def _cut_torn_line(file: BinaryIO) -> None:
    """Remove the incomplete last line."""
    end = size = file.seek(0, os.SEEK_END)
    while end:
        begin = max(0, end - _BLOCK)
        file.seek(begin)
        block = file.read(end - begin)
        if (newline := block.rfind(b"\n")) >= 0:
            end = begin + newline + 1
            break
        end = begin
    if end < size:
        file.truncate(end)


@contextmanager
def _locked(file: BinaryIO) -> Iterator[None]:
    """Lock the file against other processes that append lines. The lock is released when the file's descriptor is
    closed.
    """
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
    yield
