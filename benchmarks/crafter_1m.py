"""Compares RL-GPT with its baselines on the benchmark Crafter (Hafner 2021), beside the published results.

    python benchmarks/crafter_1m.py                       # measures the missing cells, two at a time
    python benchmarks/crafter_1m.py --rows rl             # only some of the compared methods
    python benchmarks/crafter_1m.py --report              # only prints the results

Crafter's score is the geometric mean of the success rates of 22 achievements, in percent. The budget of a cell is a
million primitive steps, which counts rehearsals, trials of code, training and selection. A cell has two scores:

- the score of 200 fresh episodes, which are not part of the budget. Published results without training are of this
  kind.
- the score over all episodes of the run, which is Crafter's own protocol for methods that learn. These are the episodes
  of the training, and for RL-GPT also the episodes that judged code and policies. Rehearsals of single coded actions
  are not whole episodes, so they do not count.

=============  ======================================================================================================
``rlgpt``      the whole method; its fresh episodes are those of the code or policy that the run keeps
``code``       the coded actions of that run's best iteration alone, repeated in the plan's order
``rl``         PPO on the base actions with the plugin's default setup, without a language model
``untrained``  the policy of that run's best iteration before training
=============  ======================================================================================================

The file results/crafter_cells.jsonl has the cells. Each line of results/crafter.jsonl is one printed result. The line
``crafter/ROW`` has the fresh episodes of a compared method, and ``crafter/ROW/run`` all episodes of its runs. The line
``crafter/margin/ROW`` is the paired margin of RL-GPT over a compared method. The remaining lines are published results.

The environment is that of ``examples/rlgpt-crafter``, whose README says what code and policy observe. The methods
``rlgpt``, ``code`` and ``untrained`` replay the recordings of that plugin, with three iterations of the outer loop.

The script is not called crafter.py, because ``import crafter`` would then find this script instead of the package
crafter.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from comparison import RESULTS
from means import MeansComparison, mean_of
from reporting import line
from result_table import Cell
from rows import RowRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "rlgpt-crafter"))

from rlgpt_crafter.plugin import ACHIEVEMENTS, TASK, CrafterPlugin, crafter_score

BUDGET = 1_000_000
UNIT = "Crafter's score, %"
RUN_UNIT = f"{UNIT}, over all episodes of the run"
SCOREBOARD = "scoreboards in the README of danijar/crafter at commit e04542a2159f"
PUBLISHED = {
    "human": (50.5, "pictures"),
    "spring": (27.3, "a text of the scene"),
    "achievement_distillation": (21.8, "pictures"),
    "curious_replay": (19.4, "pictures"),
    "ppo_resnet": (15.6, "pictures"),
    "dreamerv3": (14.5, "pictures"),
    "dreamerv2": (10.0, "pictures"),
    "random": (1.6, "nothing"),
}
"""Published scores in percent, and what the player observes (:data:`SCOREBOARD`). The scores are those of a million
steps, except for human players and SPRING.
"""


class CrafterRunner(RowRunner):
    """Measures a cell. The result of an evaluation is Crafter's score."""

    def find_task(self) -> tuple[Any, Any, Any, tuple[Path, ...]]:
        from rlgpt.config.prepare import ConstantPluginFactory

        plugin = CrafterPlugin()
        task = plugin.tasks()[TASK]
        return plugin, task, ConstantPluginFactory(plugin), tuple(plugin.transcripts(task))

    def result(self, evaluation: Any) -> float:
        return score([rates(evaluation)])

    def figures(self, evaluation: Any) -> dict[str, Any]:
        """Return the rate of each achievement, and the mean return and length of the episodes."""
        episodes = evaluation.episodes
        if not episodes:
            return {}
        return {
            "rates": {name: round(value, 4) for name, value in rates(evaluation)[0].items()},
            "mean_return": round(float(np.mean([e.score for e in episodes])), 3),
            "mean_steps": round(float(np.mean([e.primitive_steps for e in episodes])), 1),
        }

    def run_loops(self, kind: str = "slow_fast_critic") -> dict[str, Any]:
        figures = super().run_loops(kind)
        played: list[Rates] = []
        for iteration in self._run().iterations():
            played += map(rates, iteration.evaluations)
            played += [] if iteration.training is None else learning(iteration.training)
        return {**figures, **over_run(played)}

    def learned(self, record: Any) -> dict[str, Any]:
        return over_run(learning(record))


Rates = tuple[dict[str, float], int]
"""For each achievement, the share of some episodes that unlocked it; and the number of these episodes."""


def rates(evaluation: Any) -> Rates:
    """Return the rates of an evaluation's episodes."""
    episodes = evaluation.episodes
    count = max(1, len(episodes))
    return {name: sum(e.metrics.get(name, 0.0) for e in episodes) / count for name in ACHIEVEMENTS}, len(episodes)


def learning(record: Any) -> list[Rates]:
    """Return the rates of each point of a training's learning curve."""
    return [(dict(point.metrics), point.episodes) for point in record.curve if point.episodes]


def score(played: Sequence[Rates]) -> float:
    """Return Crafter's score in percent over groups of episodes."""
    count = sum(episodes for _, episodes in played)
    if not count:
        return 0.0
    return crafter_score({name: sum(found.get(name, 0.0) * n for found, n in played) / count for name in ACHIEVEMENTS})


def over_run(played: Sequence[Rates]) -> dict[str, Any]:
    """Return the score over all episodes of a run, and their number."""
    return {"run": score(played), "run_episodes": sum(episodes for _, episodes in played)}


class CrafterComparison(MeansComparison):
    """Prints both scores of each method, and the published results."""

    def report_lines(self, results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]) -> Iterator[str]:
        yield from self.task_lines(TASK, results, cells, name="crafter")
        for row, by_seed in self._runs(results, cells).items():
            yield self._line(f"crafter/{row}/run", RUN_UNIT, by_seed)
        for row, (value, observes) in PUBLISHED.items():
            yield line(f"crafter/published/{row}", value, UNIT, observes=observes, source=SCOREBOARD)

    def print_table(self, results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]) -> None:
        fresh, runs = self.values(TASK, results, cells), self._runs(results, cells)
        print("Crafter's score in %, mean over seeds with its range, or with its 95 % bootstrap interval.\n")
        print("| method | 200 fresh episodes | all episodes of the run | seeds |")
        print("|---|---|---|---|")
        for row, by_seed in fresh.items():
            run = str(mean_of(runs[row])) if row in runs else ""
            print(f"| `{row}` | {mean_of(by_seed)} | {run} | {len(by_seed)} |")

    def _runs(self, results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]) -> dict[str, dict[int, float]]:
        """The scores over all episodes of the runs that learn, as a mapping from method and seed."""
        fresh = self.values(TASK, results, cells)
        learns = [row for row in ("rlgpt", "rl") if row in fresh]
        return {row: {seed: results[Cell(TASK, row, seed)]["run"] for seed in fresh[row]} for row in learns}


CRAFTER = CrafterComparison(
    name="crafter",
    tasks=(TASK,),
    budget=BUDGET,
    rows=("rlgpt", "code", "rl", "untrained"),
    episodes=200,
    iterations=3,
    runner=CrafterRunner,
    first_seed=60,
    lines=RESULTS / "crafter.jsonl",
    unit=UNIT,
)

if __name__ == "__main__":
    sys.exit(CRAFTER.main(__file__))
