"""RL-GPT beside pure PPO, code alone and an untrained policy in environments without a plugin, at equal total steps.

    python benchmarks/design.py --out runs/design   # all cells, two at a time; start it again to go on
    python benchmarks/design.py --report             # only the summary of what is there

The environments and what is told of them stand in examples/design/worlds.py, the replies in its transcripts;
contest.py tells the rows. ``rl`` is PPO with every number of the observation and the environment's own reward. Budgets
are such that a cell takes minutes on one core; ``--budget 0``, the default, is each environment's own.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from cells import Cell
from contest import Contest
from rows import Rows

WORLDS = Path(__file__).resolve().parents[1] / "examples" / "design"


class Anywhere(Rows):
    """A cell whose environment has no plugin."""

    def __init__(self, cell: Cell, arguments: argparse.Namespace) -> None:
        sys.path.insert(0, str(WORLDS))
        from rlgpt.rl.base import Hyperparameters
        from worlds import WORLDS as KNOWN

        self.world = KNOWN[cell.task.split("/")[1]]
        given = argparse.Namespace(**{**vars(arguments), "budget": arguments.budget or self.world.budget})
        super().__init__(cell, given)
        self.hyperparameters = Hyperparameters(**self.world.hyperparameters)
        self.settings = self.settings.model_copy(update=dict(self.world.settings))

    def known(self) -> tuple[Any, Any, Any, tuple[Path, ...]]:
        from rlgpt.design.prepare import ConstantPluginFactory, prepare

        plugin, task = prepare(**self.world.described)
        return (
            plugin,
            task,
            ConstantPluginFactory(plugin),
            tuple(sorted((WORLDS / "transcripts" / self.world.name).glob("*.jsonl"))),
        )


ANYWHERE = Contest(
    name="design",
    tasks=tuple(f"design/{w}" for w in ("doorkey", "mountain_car", "lunar_lander", "breakout", "metaworld_drawer")),
    budget=0,
    rows=("rlgpt", "rl", "code", "untrained"),
    trainer="ppo",
    measured_by=Anywhere,
)

if __name__ == "__main__":
    sys.exit(ANYWHERE.main(__file__))
