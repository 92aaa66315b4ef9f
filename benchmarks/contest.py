"""RL-GPT beside its baselines on a plugin's tasks, every row at the same total of primitive steps.

Rows, for each task and seed:

==================  =================================================================================================
``rlgpt``           the whole method; rehearsals, code trials, every iteration and selection count
``rl``              PPO on base actions, the plugin's default setup
``rl_setup``        PPO on base actions, with the reward, observation and horizon of RL-GPT's final RLSetup
``code``            the coded actions of RL-GPT's best iteration, in the plan's order, again and again
``untrained``       the policy of RL-GPT's best iteration before it learnt anything: a fresh network
``primitives``      PPO over the plugin's primitives as parameterised actions, without a language model
``rlgpt_gamma``     RL-GPT with one gamma a decision (ablation)
``rlgpt_heads``     RL-GPT with independent heads (ablation)
``rlgpt_turns``     RL-GPT with four turns of the outer loop for the same total
==================  =================================================================================================

The outer loop turns once unless ``--iterations`` says otherwise, so that a policy is trained with all that rehearsal,
code alone and selection leave of the budget. Replies are replayed from the plugin's transcripts: seed s plays recording
s modulo their number. Evaluation is on seeds that nothing was selected on, sampled and greedy. Ends with lines of JSON.
A run that is half done goes on only with the settings and at the commit it was begun with. The trainer is the built-in
PPO unless ``--trainer`` says otherwise, as in the results that are kept.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import standings
from cells import Cell, commit, run, save
from rows import DERIVED, TRAINERS, Rows

RESULTS = Path(__file__).parent / "results"
PLAIN = ("rl", "primitives")
VARIANTS = ("rlgpt_gamma", "rlgpt_heads", "rlgpt_turns")
SETTINGS = ("budget", "iterations", "episodes", "trainer")
"""What a cell is asked for; results of other settings do not stand in for it."""


@dataclass(frozen=True)
class Contest:
    """A benchmark of this kind.

    :ivar name: of the plugin, and of its folder of results.
    :ivar variants: row -> tasks on which it is run; see :data:`VARIANTS`.
    :ivar rows: those that are measured.
    :ivar measured_by: what measures a cell.
    """

    name: str
    tasks: tuple[str, ...]
    budget: int
    seeds: int = 5
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rows: tuple[str, ...] = ("rlgpt", *PLAIN, *DERIVED)
    episodes: int = 50
    trainer: str = "ppo"
    measured_by: type[Rows] = Rows

    def main(self, script: str) -> int:
        """Do what the command line of ``script`` asks for; 1 where a cell failed."""
        arguments = self._arguments()
        if arguments.cell:
            task, row, seed = arguments.cell
            self._do(Cell(task, row, int(seed)), arguments)
            return 0
        cells = self.cells(arguments.tasks, arguments.rows, arguments.seeds)
        if arguments.table:
            standings.table(arguments.out, cells)
            return 0
        whole = True
        if not arguments.report:
            needs = {c: Cell(c.task, "rlgpt", c.seed) for c in cells if c.row in DERIVED}
            whole = run(script, cells, arguments.out, jobs=arguments.jobs, needs=needs, asked=_asked(arguments))
        standings.summary(self.name, arguments.out, cells)
        return 0 if whole else 1

    def cells(self, tasks: Sequence[str], rows: Sequence[str], seeds: int) -> list[Cell]:
        """All of them; RL-GPT's come first, because other rows are made of their outcome."""

        def of(names: Sequence[str], among: Sequence[str]) -> list[Cell]:
            return [Cell(t, r, s) for s in range(seeds) for t in among for r in names if r in rows]

        variants = [c for row, on in self.variants.items() for c in of((row,), [t for t in tasks if t in on])]
        return [*of(("rlgpt",), tasks), *of((*PLAIN, *DERIVED), tasks), *variants]

    def _arguments(self) -> argparse.Namespace:
        summary = (__doc__ or "").split("\n\n")[0]
        parser = argparse.ArgumentParser(description=summary)
        every = (*self.rows, *self.variants)
        parser.add_argument("--tasks", nargs="+", default=self.tasks)
        parser.add_argument("--rows", nargs="+", default=every, choices=every)
        parser.add_argument("--seeds", type=int, default=self.seeds, help="seeds 0 to N - 1")
        parser.add_argument("--budget", type=int, default=self.budget, help="primitive steps of each cell")
        parser.add_argument("--iterations", type=int, default=1, help="of the outer loop, which share the budget")
        parser.add_argument(
            "--episodes", type=int, default=self.episodes, help="of the evaluation, sampled and greedy each"
        )
        parser.add_argument("--trainer", default=self.trainer, choices=TRAINERS)
        parser.add_argument("--jobs", type=int, default=2)
        parser.add_argument("--out", type=Path, default=RESULTS / self.name)
        parser.add_argument("--report", action="store_true", help="measure nothing, summarise what is there")
        parser.add_argument("--table", action="store_true", help="measure nothing, print a table in Markdown")
        parser.add_argument("--cell", nargs=3, metavar=("TASK", "ROW", "SEED"), help=argparse.SUPPRESS)
        return parser.parse_args()

    def _do(self, cell: Cell, arguments: argparse.Namespace) -> None:
        began, stamp = time.monotonic(), commit()
        result = self.measured_by(cell, arguments).measure()
        told = {"trainer": arguments.trainer, "asked": _asked(arguments)}
        seconds = round(time.monotonic() - began, 1)
        save(cell, arguments.out, {**result, **told, "seconds": seconds}, commit=stamp)


def _asked(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in SETTINGS}
