"""The table of a benchmark's results, which is a file of JSON lines with one line for each cell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock
from rlgpt.files import write_atomic

SETTINGS = ("budget", "iterations", "episodes", "trainer")
"""Columns that contain the settings with which a cell was measured. Older results lack the first two columns."""


@dataclass(frozen=True, order=True)
class Cell:
    """A cell of a benchmark, which consists of a task, a compared method (``row``) and a seed."""

    task: str
    row: str
    seed: int


class ResultTable:
    """The results of one benchmark, sorted by task, method and seed.

    While a cell is measured, its run folder and its log are in the folder :attr:`runs` beside the file of results.

    :param path: the path of the file of results, which ends in ``.jsonl``; the file need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = path.with_name(f"{path.stem}_runs")

    def load(self) -> dict[Cell, dict[str, Any]]:
        """Return the result of each cell in the file of results.

        :raises SystemExit: a line of the file of results is not a result.
        """
        results = {}
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        for number, line in enumerate(lines, 1):
            try:
                result = json.loads(line)
                results[Cell(result["task"], result["row"], result["seed"])] = result
            except (ValueError, TypeError, KeyError) as fault:
                raise SystemExit(
                    f"{self.path}:{number} is not the result of a cell ({fault!r}). Restore it."
                ) from fault
        return results

    def add(self, cell: Cell, result: Mapping[str, Any]) -> None:
        """Write a cell's result into the file of results. Other processes may write results at the same time."""
        self.runs.mkdir(parents=True, exist_ok=True)
        with FileLock(self.runs / "table.lock"):
            results = {**self.load(), cell: {**asdict(cell), **result}}
            write_atomic(self.path, "".join(f"{json.dumps(results[c])}\n" for c in sorted(results)))

    def run_folder(self, cell: Cell) -> Path:
        return self.runs / cell.task.replace("/", "__") / cell.row / str(cell.seed)

    def log(self, cell: Cell) -> Path:
        """Return the path of the log file, which has the output of the process that measures the cell. The log file is
        deleted when the cell has a result.
        """
        return self.run_folder(cell).with_suffix(".log")


def settings_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with which a result was measured, as far as they are known."""
    return {name: result[name] for name in SETTINGS if name in result}


def differences(known: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Return the differences between two sets of settings as text, or an empty text if they agree. A setting that only
    one of the two sets has is ignored.
    """
    return ", ".join(f"{k}={known[k]} (now {v})" for k, v in wanted.items() if k in known and known[k] != v)


def outcome(result: Mapping[str, Any]) -> float:
    """Return the result of a cell in the figures of a comparison. A run of RL-GPT chooses code, tuned code or a mode of
    the policy on the selection seeds, and this choice counts. Other methods count with the sampled policy.
    """
    value: float = result["kept"] if "kept" in result else result["sampled"]
    return value
