"""Compares RL-GPT with its baselines on the benchmark Craftax-1M, beside the published results.

    python benchmarks/craftax_1m.py                       # measures the missing cells, two at a time
    python benchmarks/craftax_1m.py --tasks craftax/1m --rows rl untrained
    python benchmarks/craftax_1m.py --report              # only prints the results

Every result is the mean return of 200 fresh episodes in percent of 226, the sum of the rewards of all achievements of
Craftax. A cell has a task, a row (one of the compared methods) and a seed. The tasks of this benchmark differ in the
budget, which is 100,000, 300,000 or a million interactions (primitive steps). The budget counts every interaction of
rehearsals, trials of code, training and selection, but not the reported episodes.

=============  ======================================================================================================
``rlgpt``      the whole method; its value is that of the code or policy that the run keeps
``code``       the coded actions of that run's best iteration alone, repeated in the plan's order
``rl``         PPO on the base actions with the plugin's default setup and action masks, without a language model
``untrained``  the policy of that run's best iteration before training
=============  ======================================================================================================

The file results/craftax_cells.jsonl has the cells. Each line of results/craftax.jsonl is one printed result. The line
``craftax/ROW`` is the result of a compared method after a million primitive steps; ``craftax/ROW/300k`` and
``craftax/ROW/100k`` are its results after 300,000 and 100,000 steps. The line ``craftax/margin/ROW`` is the paired
margin over a compared method. The remaining lines of results/craftax.jsonl are published results with their source.

The method ``rlgpt`` and the methods that are derived from it replay recordings of a language model, with as many
iterations of the outer loop as the recording has; without a recording, their cells fail with a message that says what
to record. The method ``rl`` needs no recording.

The script is not called craftax.py, because ``import craftax`` would then find this script instead of the package
craftax.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from comparison import RESULTS
from means import MeansComparison, mean_of
from reporting import line
from result_table import Cell, ResultTable
from rows import RowRunner

BUDGETS = {"craftax/1m": 1_000_000, "craftax/300k": 300_000, "craftax/100k": 100_000}
MOST_RETURN = 226
UNIT = "mean return, % of 226"
SELECTION_EPISODES = 20
SCOREBOARD = "scoreboard in the README of craftax 1.6.1"
PUBLISHED = {
    "1m": {"simulus": 6.6, "efficient_mbrl": 5.4, "ppo_rnn": 2.3, "rnd": 2.2, "ppo": 2.2, "icm": 2.2, "e3b": 2.2},
    "1b": {"ppo_gtrxl": 18.3, "pqn_rnn": 16.0, "ppo_rnn": 15.3, "rnd": 12.0, "ppo": 11.9, "icm": 11.9, "e3b": 11.0},
}
"""Published mean returns in percent of 226, after a million and a billion interactions (:data:`SCOREBOARD`)."""


class CraftaxRunner(RowRunner):
    """Measures a cell. The result of an evaluation is its mean return in percent of 226."""

    def __init__(self, cell: Cell, table: ResultTable, settings: Mapping[str, Any]) -> None:
        super().__init__(cell, table, settings)
        self.settings = self.settings.model_copy(update={"selection_episodes": SELECTION_EPISODES})

    def find_task(self) -> tuple[Any, Any, Any, tuple[Path, ...]]:
        from rlgpt.plugin.manager import PluginManager

        plugin, task = PluginManager().task("craftax/symbolic")
        return plugin, task, plugin.name, tuple(plugin.transcripts(task))

    def result(self, evaluation: Any) -> float:
        if not evaluation.episodes:
            return 0.0
        return 100 * float(evaluation.mean_score) / MOST_RETURN

    def figures(self, evaluation: Any) -> dict[str, Any]:
        """Return the returns of the episodes, how often each achievement was unlocked, and the number of episodes that
        reached the time limit.
        """
        episodes = evaluation.episodes
        means = {
            metric.name: float(np.mean([e.metrics[metric.name] for e in episodes if metric.name in e.metrics]))
            for metric in self.task.metrics
            if any(metric.name in e.metrics for e in episodes)
        }
        lengths = [e.metrics["steps"] for e in episodes if "steps" in e.metrics]
        return {
            "returns": [round(e.score, 2) for e in episodes if e.score is not None],
            "metrics": {name: round(mean, 4) for name, mean in means.items() if mean},
            "at_limit": sum(length >= self.task.horizon for length in lengths),
        }


def recorded_iterations(seed: int) -> int:
    """Return the number of iterations in the recording that the run with ``seed`` replays. A run with fewer iterations
    would ignore the later ones, and a run with more would leave their share of the budget unused.
    """
    from rlgpt.llm.transcript import Transcript
    from rlgpt.plugin.manager import PluginManager

    plugin, task = PluginManager().task("craftax/symbolic")
    recordings = tuple(plugin.transcripts(task))
    return 1 + max(entry.key.iteration for entry in Transcript.read(recordings[seed % len(recordings)]).entries)


class CraftaxComparison(MeansComparison):
    """Prints the results of each budget, and the published results."""

    def _settings(self, cell: Cell, arguments: argparse.Namespace) -> dict[str, Any]:
        found = super()._settings(cell, arguments)
        return found if arguments.iterations else {**found, "iterations": recorded_iterations(cell.seed)}

    def report_lines(self, results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]) -> Iterator[str]:
        for task in self.tasks:
            suffix = "" if task == "craftax/1m" else f"/{task.split('/')[1]}"
            yield from self.task_lines(task, results, cells, name="craftax", suffix=suffix)
        for budget, rows in PUBLISHED.items():
            for row, value in rows.items():
                yield line(f"craftax/published/{budget}/{row}", value, UNIT, source=SCOREBOARD)

    def print_table(self, results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]) -> None:
        values = {task: self.values(task, results, cells) for task in self.tasks}
        print("Mean return in % of 226 over 200 fresh episodes, mean over seeds with its 95 % bootstrap interval.\n")
        print("| method | 100,000 | 300,000 | 1,000,000 | seeds |")
        print("|---|---|---|---|---|")
        for row in self.rows:
            found = [values[task].get(row, {}) for task in reversed(self.tasks)]
            shown = [str(mean_of(by_seed)) if by_seed else "" for by_seed in found]
            print(f"| `{row}` | {' | '.join(shown)} | {max(map(len, found))} |")
        for row, value in PUBLISHED["1m"].items():
            print(f"| {row}, published | | | {value} | |")


CRAFTAX = CraftaxComparison(
    name="craftax",
    tasks=tuple(BUDGETS),
    budget=BUDGETS,
    rows=("rlgpt", "code", "rl", "untrained"),
    episodes=200,
    iterations=0,  # those of the recording
    runner=CraftaxRunner,
    first_seed=30,
    lines=RESULTS / "craftax.jsonl",
    unit=UNIT,
)

if __name__ == "__main__":
    sys.exit(CRAFTAX.main(__file__))
