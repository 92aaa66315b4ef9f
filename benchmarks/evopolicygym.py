"""Compares RL-GPT with its baselines on environments of the benchmark EvoPolicyGym, beside the published results.

    python benchmarks/evopolicygym.py --tasks evopolicygym/fetch_push      # every cell without a result
    python benchmarks/evopolicygym.py --report                # measure nothing, print the figures of the table
    python benchmarks/evopolicygym.py --table                 # the same as a table in Markdown

In EvoPolicyGym (arXiv 2607.02440), a coding agent edits a policy, which is a Python program, and may try it in 128
episodes. The score of the agent is the mean return of one version of this program in further episodes. In rlgpt's
benchmark, the budget of a cell is the number of primitive steps of 128 episodes of full length, and the value of a cell
is the mean return of 256 fresh episodes. The budget counts every step of rehearsals, trials of code, parameter search,
training and selection. A cell has a task, a row (one of the compared methods) and a seed.

=============  ======================================================================================================
``rlgpt``      the whole method; its value is that of the code or policy that the run keeps
``code``       the coded actions of that run's best iteration alone, repeated in the plan's order
``rl``         SAC on the environment's own actions, observation and reward, without a language model; its value is the
               better one of sampled and greedy actions
``untrained``  the policy of that run's best iteration before training
``sb3``        SAC of Stable-Baselines3 with its defaults and the same steps, on environments with continuous actions
``random``     uniformly random actions; the published random policy shows whether the environments are the same
``published``  the best published result of code alone, with the language model that wrote the code
=============  ======================================================================================================

The file results/evopolicygym.jsonl has the cells. The file results/evopolicygym_published.jsonl has every published
result of the repository Linzwcs/EvoPolicyGym at the commit :data:`COMMIT`. The module evopolicygym_cases has the
environments, and the script record_evopolicygym.py records a language model.

The method ``rlgpt`` and the methods that are derived from it replay recordings of a language model; without a
recording, their cells fail with a message that says what to record. The method ``rl`` needs no recording.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from comparison import RESULTS
from evopolicygym_cases import CASES, EPISODES, TRANSCRIPTS, episodes_only
from means import MeansComparison, mean_of
from reporting import line
from result_table import Cell
from rows import RowRunner

COMMIT = "d27918517e1b5d245b758216c16ed8f4285c2741"
"""The commit of the repository Linzwcs/EvoPolicyGym from which the published results and the protocol come."""
KITCHEN = "franka_kitchen"
KITCHEN_HORIZON = 280
UNIT = "mean return"
PUBLISHED = RESULTS / "evopolicygym_published.jsonl"
BOARDS: Mapping[str, tuple[str, ...]] = {
    "fourrooms": ("minigrid_fourrooms",),
    "racetrack": ("racetrack-v1",),
    "bring_ball": ("manipulator-bring-ball",),
    "adroit_relocate": ("adroit-hand-relocate-v1",),
    "reacher": ("reacher5",),
    "pusher": ("pusher5",),
    "halfcheetah": ("halfcheetah5", "half-cheetah-v5"),
    "ant": ("ant5",),
    "doorkey": ("minigrid_doorkey",),
    "keycorridor": ("minigrid_keycorridor", "keycorridor-s4r3"),
    "obstructedmaze": ("minigrid_obstructedmaze",),
    "racing": ("racing", "car-racing-v3"),
    KITCHEN: ("franka-kitchen-v1",),
}
"""Name -> the ids of its published results. A missing name is its own id."""
BUDGETS = {
    **{f"evopolicygym/{name}": case.budget for name, case in CASES.items()},
    f"evopolicygym/{KITCHEN}": EPISODES * KITCHEN_HORIZON,
}


DISCRETE = ("fourrooms", "roundabout", "acrobot", "doorkey", "keycorridor", "obstructedmaze")
CONTINUOUS = tuple(task for task in BUDGETS if task.split("/")[1] not in (*DISCRETE, "racing"))
"""The tasks of the row ``sb3``: with continuous actions, and with observations that are numbers."""


@dataclass(frozen=True)
class Published:
    """The best published result of an environment, and the language model that wrote the policy's program."""

    model: str
    board: str
    value: float


def published(name: str) -> Published:
    """Return the best published result of code alone for an environment. Published baselines such as random actions are
    left out, because no agent wrote them.
    """
    ids = BOARDS.get(name, (name,))
    rows = [row for row in map(json.loads, PUBLISHED.read_text().splitlines()) if row["id"] in ids]
    results = [
        Published(model, row["board"], value)
        for row in rows
        for model, value in row["scores"].items()
        if model != "Baseline"
    ]
    return max(results, key=lambda result: result.value)


class EvoRunner(RowRunner):
    """Measures a cell. The result of an evaluation is its mean return."""

    @property
    def name(self) -> str:
        return self.cell.task.split("/")[1]

    def find_task(self) -> tuple[Any, Any, Any, tuple[Path, ...]]:
        transcripts = tuple(sorted((TRANSCRIPTS / self.name).glob("[0-9]*.jsonl")))
        if self.name == KITCHEN:
            return *kitchen(), transcripts
        return *CASES[self.name].find(), transcripts

    def measure(self) -> dict[str, Any]:
        own = {"random": self.random, "sb3": self.sb3}
        return own[self.cell.row]() if self.cell.row in own else super().measure()

    def random(self) -> dict[str, Any]:
        """Play the report's episodes with uniformly random actions."""
        env = self.plugin.make_env(self.task, seed=0)
        env.action_space.seed(self.cell.seed)
        return self._play(env, lambda _: env.action_space.sample())

    def sb3(self) -> dict[str, Any]:
        """Train SAC of Stable-Baselines3 for the whole budget, and play the report's episodes with greedy actions."""
        import stable_baselines3 as sb3
        from gymnasium.wrappers import FlattenObservation

        env = FlattenObservation(self.plugin.make_env(self.task, seed=self.seeds.training(0)))
        model = sb3.SAC("MlpPolicy", env, seed=self.seeds.training(0), device="cpu")
        model.learn(self.settings.budget)
        return {
            **self._play(env, lambda seen: model.predict(seen, deterministic=True)[0]),
            "primitive_steps": self.settings.budget,
        }

    def _play(self, env: Any, choose: Callable[[Any], Any]) -> dict[str, Any]:
        """Play the episodes of the report with a function that returns an action for each observation."""
        returns, steps = [], 0
        for seed in self._report_seeds():
            observation, _ = env.reset(seed=seed)
            total, over = 0.0, False
            while not over:
                observation, reward, terminated, truncated, _ = env.step(choose(observation))
                total, steps, over = total + float(reward), steps + 1, terminated or truncated
            returns.append(total)
        env.close()
        mean_steps = round(steps / len(returns), 1)
        shown = [round(value, 3) for value in returns]
        return {"sampled": float(np.mean(returns)), "greedy": None, "returns": shown, "mean_steps": mean_steps}

    def result(self, evaluation: Any) -> float:
        return float(evaluation.mean_score) if evaluation.episodes else 0.0

    def figures(self, evaluation: Any) -> dict[str, Any]:
        """Return the returns of the episodes, and their mean length."""
        episodes = evaluation.episodes
        return {
            "returns": [round(e.score, 3) for e in episodes if e.score is not None],
            "mean_steps": round(float(np.mean([e.primitive_steps for e in episodes])), 1) if episodes else None,
        }


def kitchen() -> tuple[Any, Any, Any]:
    """Return the kitchen's plugin, and the task with all seven elements in one episode of 280 steps. The score of this
    task is the return, which is the number of completed elements.
    """
    from rlgpt.config.prepare import ConstantPluginFactory
    from rlgpt.domain import Score, Task
    from rlgpt.plugin.manager import PluginManager

    manager = PluginManager()
    plugin, one = manager.task("kitchen/microwave")
    elements = [t.settings["elements"][0] for t in plugin.tasks().values() if t.horizon == KITCHEN_HORIZON]
    names = tuple(dict.fromkeys(elements))
    goals = [plugin.tasks()[f"kitchen/{name}"] for name in names]
    task = Task(
        id="kitchen/seven",
        goal=f"As many of these seven goals as possible, in any order: {' '.join(t.goal for t in goals)}",
        horizon=KITCHEN_HORIZON,
        success="",
        score=Score(),
        settings={**one.settings, "elements": names},
    )
    return episodes_only(plugin), task, ConstantPluginFactory(plugin)


class EvoComparison(MeansComparison):
    """Prints the results of each environment beside its best published result."""

    def value(self, cell: Cell, result: Mapping[str, Any]) -> float:
        """Return the value of a cell. The value of ``rl`` is the better one of sampled and greedy actions, and that of
        ``untrained`` has sampled actions.
        """
        value = super().value(cell, result)
        return max(value, result["greedy"]) if cell.row == "rl" else value

    def _settings(self, cell: Cell, arguments: argparse.Namespace) -> dict[str, Any]:
        case = CASES.get(cell.task.split("/")[1])
        found = super()._settings(cell, arguments)
        return found if case is None or arguments.trainer != self.trainer else {**found, "trainer": case.trainer}

    def report_lines(self, results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]) -> Iterator[str]:
        for task in dict.fromkeys(c.task for c in cells):
            yield from self.task_lines(task, results, cells, name=task)
            best = published(task.split("/")[1])
            yield line(f"{task}/published", best.value, UNIT, model=best.model, board=best.board, commit=COMMIT[:12])

    def print_table(self, results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]) -> None:
        rows = (*self.rows, *self.variants)
        print("Mean return of 256 fresh episodes; mean over seeds with its range, or 95 % bootstrap interval.\n")
        print(f"| environment | steps | {' | '.join(f'`{row}`' for row in rows)} | seeds | published (model) |")
        print("|---|---|" + "---|" * (len(rows) + 2))
        for task in dict.fromkeys(c.task for c in cells):
            values = self.values(task, results, cells)
            shown = [str(mean_of(values[row])) if values.get(row) else "" for row in rows]
            best, seeds = published(task.split("/")[1]), max(map(len, values.values()), default=0)
            ends = f"{seeds or ''} | {best.value:.4g} ({best.model})"
            print(f"| {task.split('/')[1]} | {BUDGETS[task]:,} | {' | '.join(shown)} | {ends} |")


EVO = EvoComparison(
    name="evopolicygym",
    tasks=tuple(BUDGETS),
    budget=BUDGETS,
    rows=("rlgpt", "code", "rl", "untrained"),
    variants={"sb3": CONTINUOUS, "random": tuple(BUDGETS)},
    episodes=256,
    iterations=2,
    trainer="sac",
    runner=EvoRunner,
    first_seed=40,
)

if __name__ == "__main__":
    sys.exit(EVO.main(__file__))
