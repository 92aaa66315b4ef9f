"""Counts primitive steps in a file. The count stays exact even if the process is killed at any moment."""

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
"""Size of one count, in bytes."""
_LARGEST = 1 << 20
"""Maximal size of a file, in bytes."""
_MOST = 1 << 60
"""Maximal value of one count, in primitive steps."""
_ADVICE = "restore it from a copy, or begin in a new folder."


class StepCounter:
    """Counts primitive steps in a memory-mapped file. The step file has a 64-bit number (a cell) for each environment
    or purpose.

    Each cell has one writer. The kernel owns the memory pages, and a cell is one aligned word, so ``kill -9`` cannot
    lose or damage a count. Primitive steps count even if a kill loses what the training learned from them. The step
    file can only grow.

    :param cells: number of cells of the step file. If earlier sessions used more cells, the total number of steps
        includes the counts of these cells.
    :raises TrainingFolderError: the step file is a link, or does not contain counts.
    """

    def __init__(self, path: Path, cells: int) -> None:
        with Folder(path.parent, TrainingFolderError).open_in_place(path.name) as file:
            size = os.fstat(file.fileno()).st_size
            if size % _CELL or size > _LARGEST:
                raise TrainingFolderError(f"{path} has {size} bytes and is not a count of steps; {_ADVICE}")
            file.truncate(max(size, cells * _CELL))
            self._map = mmap.mmap(file.fileno(), 0)
        self._cells = memoryview(self._map).cast("q")
        if not all(0 <= cell < _MOST for cell in self._cells):
            self.__exit__(None, None, None)
            raise TrainingFolderError(f"{path} contains a count above {_MOST:,}; {_ADVICE}")

    def add(self, cell: int, steps: int = 1) -> None:
        self._cells[cell] += steps

    def counting(self, cell: int) -> OnStep:
        """A function that an environment calls after each primitive step, to count the step in the cell ``cell``."""

        def count(env: gymnasium.Env[Any, Any], step: int) -> None:
            if step:
                self.add(cell)

        return count

    @property
    def cells(self) -> tuple[int, ...]:
        """The counts of all cells of the step file."""
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
    """The sum of all counts in a step file; 0 if the file does not exist.

    :raises TrainingFolderError: the step file is a link, or does not contain counts.
    """
    folder = Folder(path.parent, TrainingFolderError)
    if not folder.exists(path.name) or not path.stat().st_size:
        return 0
    with StepCounter(path, 0) as counter:
        return counter.total
