"""Primitive steps spent, exact through a kill at any moment."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from types import TracebackType

from rlgpt.errors import TrainerError

_CELL = struct.Struct("<q")


class Ledger:
    """One 64-bit count for each environment, in a memory-mapped file.

    Each cell has one writer. The pages belong to the kernel, so what was counted before a ``kill -9`` is there
    afterwards; steps whose learning was lost with the process are still spent. The file only ever grows.

    :param cells: environments that will count; cells of earlier, larger trainings keep counting towards the total.
    :raises TrainerError: the file is no ledger.
    """

    def __init__(self, path: Path, cells: int) -> None:
        size = path.stat().st_size if path.exists() else 0
        if size % _CELL.size:
            raise TrainerError(
                f"{path} has {size} bytes and is no ledger of steps; restore it or train in a new folder."
            )
        with path.open("ab") as file:
            file.truncate(max(size, cells * _CELL.size))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)

    def add(self, cell: int) -> None:
        """One more step of environment ``cell``."""
        at = cell * _CELL.size
        _CELL.pack_into(self._map, at, _CELL.unpack_from(self._map, at)[0] + 1)

    @property
    def total(self) -> int:
        return sum(int(cell) for (cell,) in _CELL.iter_unpack(self._map[:]))

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._map.flush()
        self._map.close()
