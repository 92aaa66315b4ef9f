"""Reads files of JSON lines while another process appends lines to these files. Each call reads only the new lines."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar

from rlgpt.errors import RlgptError
from rlgpt.files import Folder, parse_json

S = TypeVar("S")

FILE_LIMIT = 1 << 30
"""Size in bytes of the largest file that is read."""
LINE_LIMIT = 16 << 20
"""Maximal size of a line in bytes. Longer lines are left out."""
LINES = 200_000
"""Maximal number of lines whose values are stored."""


class GrowingLines(Generic[S]):
    """GrowingLines reads the lines of a file and stores a small value for each line.

    :param reduce: a function that computes the value of a line from the JSON of the line. A line with the value None is
        left out. The function ``reduce`` must not raise an error, whatever the JSON is.
    :ivar complete: whether the last call of :meth:`update` read the file to its end.
    """

    def __init__(self, folder: Folder, name: str, reduce: Callable[[Any], S | None]) -> None:
        self._folder, self._name, self._reduce = folder, name, reduce
        self._lock = Lock()
        self.complete, self._end = True, 0
        self._forget(None)

    def update(self, seconds: float = math.inf) -> list[S]:
        """The values of all complete lines so far.

        :param seconds: maximal reading time. If the time is over before the end of the file, :attr:`complete` is False,
            and the next call continues with the remaining lines.
        """
        until = time.monotonic() + seconds
        if not self._lock.acquire(timeout=seconds if seconds < math.inf else -1):
            return list(self._values)  # Another thread continues to read.
        try:
            self.complete = False
            self.complete = self._read(until)
            return list(self._values)
        finally:
            self._lock.release()

    def _read(self, until: float) -> bool:
        """Read new lines until the given time. Return whether no lines remain."""
        if not self._folder.exists(self._name):
            self._forget(None)
            return True
        with self._folder.open(self._name, limit=FILE_LIMIT) as file:
            status = os.fstat(file.fileno())
            if status.st_ino != self._inode or status.st_size < self._end:
                self._forget(status.st_ino)
            file.seek(self._end)
            while len(self._values) < LINES and (line := file.readline(LINE_LIMIT)):
                if not line.endswith(b"\n") and len(line) < LINE_LIMIT:
                    break  # The last line is not complete yet.
                self._take(line)
                if time.monotonic() > until:
                    return False
        return True

    def line(self, number: int) -> Any:
        """Read one line of the file again and return all its JSON, parsed. The line is the one whose value has the
        index ``number`` in the list that :meth:`update` returns.

        :raises RlgptError: there is no value with this index.
        """
        if not 0 <= number < len(self._places):
            raise self._folder.error(f"{self._folder.path / self._name} has no line {number} that can be shown.")
        begin, length = self._places[number]
        with self._folder.open(self._name, limit=FILE_LIMIT) as file:
            file.seek(begin)
            return parse_json(file.read(length).decode(errors="replace"))

    def _take(self, line: bytes) -> None:
        begin, self._end = self._end, self._end + len(line)
        try:
            value = self._reduce(parse_json(line.decode(errors="replace")))
        except (ValueError, RlgptError):
            value = None  # A damaged line is left out here. The commands that need the line report an error.
        if value is not None:
            self._values.append(value)
            self._places.append((begin, len(line)))

    def _forget(self, inode: int | None) -> None:
        self._inode, self._end = inode, 0
        self._values: list[S] = []
        self._places: list[tuple[int, int]] = []
