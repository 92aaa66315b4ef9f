"""Compares RL-GPT with its baselines on tasks in which code alone fails in some episodes. The suite ``falls_short`` has
tasks of plugins and environments of ``design()``.

    python benchmarks/falls_short.py                      # measures the missing cells, two at a time
    python benchmarks/falls_short.py --report             # only prints the results
    python benchmarks/falls_short.py --tasks falls_short/slippery_road falls_short/lunar_lander

Every method in the suite learns with ``trainer=sac``, because 200,000 primitive steps are too few decisions for PPO.
The script falls_short_cases.py has the tasks of the suite, falls_short_calibration.py measures the success of recorded
code on the tasks, and comparison.py explains the compared methods. The file results/falls_short_cells.jsonl has the
cells of the suite, and results/falls_short.jsonl has the printed lines. Each method has a line
``falls_short/TASK/ROW``, and the line ``falls_short/TASK/margin`` has the success of RL-GPT minus that of the best
other method.

The method ``rlgpt`` and the methods that are derived from it replay recordings. If a task has no recording, or only
recordings for older prompts, their cells fail with a message that states which recording is needed. The methods ``rl``
and ``primitives`` need no recording.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from comparison import RESULTS, Comparison
from falls_short_cases import CASES
from result_table import Cell, ResultTable
from rows import RowRunner


class CaseRunner(RowRunner):
    """Measures a cell of the suite, which is a task with the settings of its :class:`Case`."""

    def __init__(self, cell: Cell, table: ResultTable, settings: Mapping[str, Any]) -> None:
        self.case = CASES[cell.task.split("/")[1]]
        super().__init__(cell, table, settings)
        if self.case.selection_episodes:
            self.settings = self.settings.model_copy(update={"selection_episodes": self.case.selection_episodes})

    def find_task(self) -> tuple[Any, Any, Any, tuple[Path, ...]]:
        return self.case.find()


FALLS_SHORT = Comparison(
    name="falls_short",
    tasks=tuple(f"falls_short/{name}" for name, case in CASES.items() if case.in_suite),
    budget=200_000,
    trainer="sac",
    runner=CaseRunner,
    first_seed={f"falls_short/{name}": case.first_seed for name, case in CASES.items()},
    lines=RESULTS / "falls_short.jsonl",
)

if __name__ == "__main__":
    sys.exit(FALLS_SHORT.main(__file__))
