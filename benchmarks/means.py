"""Compares RL-GPT with published results that are means: prints means over seeds instead of IQMs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from comparison import Comparison
from result_table import Cell, outcome
from rows import DERIVED
from summary import interval_line, margin

if TYPE_CHECKING:
    from rlgpt.report.stats import Interval

HIDDEN = ("task", "row", "returns", "curve", "candidates", "seconds")
"""Columns of a cell that are not printed."""


@dataclass(frozen=True)
class MeansComparison(Comparison):
    """A comparison whose results are means over seeds.

    :ivar unit: the unit of the results.
    """

    unit: str = "mean return"

    def value(self, cell: Cell, result: Mapping[str, Any]) -> float:
        """Return the value of a cell."""
        return outcome(result)

    def values(
        self, task: str, results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]
    ) -> dict[str, dict[int, float]]:
        """Return the values of the cells of ``task`` that have a result, as a mapping from method and seed."""
        values: dict[str, dict[int, float]] = {}
        for cell in cells:
            if cell.task == task and cell in results:
                values.setdefault(cell.row, {})[cell.seed] = self.value(cell, results[cell])
        return values

    def task_lines(
        self, task: str, results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell], *, name: str, suffix: str = ""
    ) -> Iterator[str]:
        """Return the lines of JSON of one task: the mean of each method, and RL-GPT minus each other method.

        :param name: the first part of the name of each line.
        :param suffix: the last part of the name of each line.
        """
        values = self.values(task, results, cells)
        for row, by_seed in values.items():
            rows = [results[Cell(task, row, seed)] for seed in by_seed]
            shown = [{key: value for key, value in result.items() if key not in HIDDEN} for result in rows]
            yield self._line(f"{name}/{row}{suffix}", self.unit, by_seed, rows=shown)
        for row, by_seed in values.items():
            if row != "rlgpt" and (ours := values.get("rlgpt")):
                lead, how = margin(ours, by_seed, derived=row in DERIVED, statistic=_mean)
                yield interval_line(f"{name}/margin/{row}{suffix}", f"{self.unit}, rlgpt minus {row}, {how}", lead)

    def _line(self, name: str, unit: str, by_seed: Mapping[int, float], **more: Any) -> str:
        return interval_line(name, unit, mean_of(by_seed), **more)


def mean_of(by_seed: Mapping[int, float]) -> Interval:
    """Return the mean over seeds with its 95 % bootstrap interval, or with its range if there are too few seeds."""
    from rlgpt.report import stats

    values = list(by_seed.values())
    found = stats.interval(values, statistic=_mean)
    few = len(values) < stats.FEW
    return found.model_copy(update={"low": min(values), "high": max(values), "level": 1.0}) if few else found


def _mean(scores: Any) -> Any:
    return np.asarray(scores.mean(axis=-1))
