"""Primitive steps spent, exact through a kill at any moment."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from types import TracebackType
from typing import Any

import gymnasium

from rlgpt.errors import TrainingFolderError
from rlgpt.files import Folder
from rlgpt.options import OnStep

STEPS_FILE = "steps.bin"
"""Name of the step file in its folder."""

_CELL = 8
"""Bytes of a count."""
_LARGEST = 1 << 20
"""Bytes of a file."""
_MOST = 1 << 60
"""Steps of one cell."""
_ADVICE = "restore it from a copy, or begin in a new folder."


class StepCounter:
    """64-bit counts, one for each environment or purpose, in a memory-mapped file.

    Each cell has one writer. The pages belong to the kernel, and a count is one aligned word: no ``kill -9`` loses or
    damages a count. Steps count even if their learning is lost with the process. The file only ever grows.

    :param cells: number of cells. Cells of earlier, larger trainings still count in the total.
    :raises TrainingFolderError: the file is a link, or does not contain counts.
    """

    def __init__(self, path: Path, cells: int) -> None:
        with Folder(path.parent, TrainingFolderError).open_in_place(path.name) as file:
            size = os.fstat(file.fileno()).st_size
            if size % _CELL or size > _LARGEST:
                raise TrainingFolderError(f"{path} has {size} bytes and is no count of steps; {_ADVICE}")
            file.truncate(max(size, cells * _CELL))
            self._map = mmap.mmap(file.fileno(), 0)
        self._cells = memoryview(self._map).cast("q")
        if not all(0 <= cell < _MOST for cell in self._cells):
            self.__exit__(None, None, None)
            raise TrainingFolderError(f"{path} holds a count that no training reaches; {_ADVICE}")

    def add(self, cell: int, steps: int = 1) -> None:
        self._cells[cell] += steps

    def counting(self, cell: int) -> OnStep:
        """Counts each primitive step of an environment after the step."""

        def count(env: gymnasium.Env[Any, Any], step: int) -> None:
            if step:
                self.add(cell)

        return count

    @property
    def cells(self) -> tuple[int, ...]:
        """The count of each cell."""
        return tuple(self._cells)

    @property
    def total(self) -> int:
        return sum(self._cells)

    def __enter__(self) -> StepCounter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cells.release()
        self._map.flush()
        self._map.close()


def steps_in(path: Path) -> int:
    """The total of a step file; 0 if there is none.

    :raises TrainingFolderError: the file is a link, or does not contain counts.
    """
    folder = Folder(path.parent, TrainingFolderError)
    if not folder.exists(path.name) or not path.stat().st_size:
        return 0
    with StepCounter(path, 0) as counter:
        return counter.total
