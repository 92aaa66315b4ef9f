"""Compares RL-GPT with PPO, code alone and an untrained policy in environments without a plugin, with equal numbers of
primitive steps.

    python benchmarks/design.py --out runs/design.jsonl   # measures the missing cells, two at a time
    python benchmarks/design.py --report                  # only prints the results

This benchmark uses the environments of examples/design/worlds.py with their descriptions and recordings. comparison.py
explains the methods. The method ``rl`` is PPO with every number of the observation and the environment's own reward.
The budget of each environment is such that a cell takes minutes on one core.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from comparison import Comparison
from result_table import Cell, ResultTable
from rows import RowRunner

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "design"
sys.path.insert(0, str(EXAMPLES))

from worlds import WORLDS  # noqa: E402


class DesignRunner(RowRunner):
    """Measures a benchmark cell whose environment has no plugin."""

    def __init__(self, cell: Cell, table: ResultTable, settings: Mapping[str, Any]) -> None:
        from rlgpt.rl.base import Hyperparameters

        self.world = WORLDS[cell.task.split("/")[1]]
        super().__init__(cell, table, settings)
        self.hyperparameters = Hyperparameters(**self.world.hyperparameters)
        self.settings = self.settings.model_copy(update=dict(self.world.settings))

    def find_task(self) -> tuple[Any, Any, Any, tuple[Path, ...]]:
        from rlgpt.config.prepare import ConstantPluginFactory, prepare

        plugin, task = prepare(**self.world.described)
        transcripts = sorted((EXAMPLES / "transcripts" / self.world.name).glob("[0-9]*.jsonl"))
        return plugin, task, ConstantPluginFactory(plugin), tuple(transcripts)


BUDGETS = {f"design/{name}": world.budget for name, world in WORLDS.items()}
DESIGN = Comparison(
    name="design",
    tasks=tuple(BUDGETS),
    budget=BUDGETS,
    rows=("rlgpt", "rl", "code", "untrained"),
    runner=DesignRunner,
)

if __name__ == "__main__":
    sys.exit(DESIGN.main(__file__))
