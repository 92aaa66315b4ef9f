"""Measures the effect of changes to the learning algorithm. Each variant of the learning algorithm trains policies with
the same recorded coded actions.

    nice python benchmarks/learning.py                  # every cell without a result, one at a time, then the figures
    python benchmarks/learning.py --report              # only prints the results
    python benchmarks/learning.py --rows guided --seeds 10 11 12 --out runs/try.jsonl

A *cell* is a task, a variant (``row``) and a seed. The policy of a cell is trained for the whole budget and then plays
fresh episodes with sampled actions. All cells of a task use the same coded actions and the same setup. The coded
actions and the setup come from a shipped recording, whose rehearsals are replayed once; those of the grid task are in
benchmarks/learning.py. Settings of the training are chosen on seeds 10 to 12 and reported on seeds 5 to 9. Each printed
line has the IQM over seeds with its 95 % bootstrap interval. In a printed line, ``minus_first`` is the difference from
the first variant, with seeds resampled in pairs.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from falls_short import CaseRunner
from filelock import FileLock
from reporting import commit, emit
from result_table import Cell, ResultTable
from rows import TRAINERS
from scheduler import measure_cells

SEEDS = range(5, 10)
RECORDINGS = {"falls_short/hinge_cabinet": 2, "falls_short/wet_road": 1, "falls_short/lunar_lander": 0}
"""Task of the suite ``falls_short`` -> the recording whose code alone has the lowest success in docs/benchmarks.md."""
GRID = "grid/door_slippery"
"""A task that takes little time: a key and a door in a grid of 7 x 7, in which three of ten moves fail. The coded
actions of this task count their moves. With a tenth of the steps, the task has as many decisions as the noisy kitchen.
"""
TASKS = (*RECORDINGS, GRID)
BUDGETS = {GRID: 5_000}
"""Task -> its budget of primitive steps, if it differs from the default."""
THIRDS = 3
"""Number of equal parts of the budget for which the success of training episodes is reported."""


@dataclass(frozen=True)
class Variant:
    """One variant of learning.

    :ivar setup: the fields of the setup in which the variant differs from the defaults of a run.
    :ivar changes: the hyperparameters in which the variant differs from the task's own hyperparameters.
    :ivar fitted: whether rollouts are shortened for the expected number of decisions, as in a run
        (:meth:`rlgpt.rl.base.Hyperparameters.fitted`).
    :ivar sharpness: the sharpness of the policy's probabilities in the evaluation, as in
        :meth:`rlgpt.rl.base.Policy.act`.
    :ivar policy_of: the name of the variant whose trained policy this variant evaluates; with None, this variant trains
        its own policy.
    :ivar coded: whether the policy has the coded actions and their setup. Otherwise, it has the base actions and the
        plugin's default setup.
    """

    setup: dict[str, Any] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)
    fitted: bool = False
    sharpness: float = 1.0
    policy_of: str | None = None
    coded: bool = True


OPTIONS = {"interrupt_every": None, "residual": 0.0, "plan_prior": 0.0}
"""The paper's learning: the policy decides when an action ends, and begins without knowledge of the plan."""
VARIANTS = {
    "options": Variant(OPTIONS),
    "rl": Variant(coded=False),
    "prior": Variant({"interrupt_every": None, "residual": 0.0}),
    "interrupt": Variant({"residual": 0.0}),
    "guided": Variant(),
    "sharp_4": Variant(sharpness=4.0, policy_of="guided"),
    "num_steps_128": Variant(changes={"num_steps": 128}),
    "num_steps_128_fitted": Variant(changes={"num_steps": 128}, fitted=True),
}
"""The variants of learning. ``guided`` has the defaults of a run. ``prior`` and ``interrupt`` lack a part of these
defaults, and ``rl`` is learning without code. The variants after ``guided`` change the evaluation or the length of a
rollout."""
ROWS = ("code", "untrained", *VARIANTS)


class Measurement:
    """The measurement of one cell."""

    def __init__(self, cell: Cell, table: ResultTable, settings: Mapping[str, Any]) -> None:
        from rlgpt.loop import Seeds

        self.cell, self.table, self.settings = cell, table, settings
        self.seeds = Seeds(cell.seed)
        self.trainer = TRAINERS[settings["trainer"]]()
        self.spec, self.hyperparameters = grid_door() if cell.task == GRID else self._recorded()

    def measure(self) -> dict[str, Any]:
        """Measure the figures of the cell."""
        from rlgpt.plugin.defaults import GUIDED, default_setup_of
        from rlgpt.rl.evaluation import evaluate, evaluate_code
        from rlgpt.rl.policy_env import plugin_of

        row, fresh = self.cell.row, self.seeds.report(self.settings["episodes"])
        seed = self.seeds.training(0)
        if row == "code":
            return _figures(evaluate_code(self.spec, self.spec.actions, seeds=fresh))
        if row in VARIANTS:
            default = default_setup_of(plugin_of(self.spec), self.spec.task)
            fields = {name: getattr(default, name) for name in GUIDED} | VARIANTS[VARIANTS[row].policy_of or row].setup
            setup = self.spec.setup.model_copy(update=fields)
            if not VARIANTS[row].coded:
                self.spec = dataclasses.replace(self.spec, actions=(), functions=())
                setup = plugin_of(self.spec).default_setup(self.spec.task)
            self.spec = dataclasses.replace(self.spec, setup=setup)
        if row == "untrained":
            policy = self.trainer.untrained(self.spec, seed=seed, hyperparameters=self.hyperparameters)
            return _figures(evaluate(policy, self.spec, seeds=fresh, greedy=False))
        variant, figures = VARIANTS[row], dict[str, Any]()
        folder = self.table.run_folder(Cell(self.cell.task, variant.policy_of or row, self.cell.seed))
        if variant.policy_of is None:
            record = self.trainer.train(
                self.spec,
                budget=self.settings["budget"],
                seed=seed,
                folder=folder,
                hyperparameters=self._hyperparameters(variant),
            )
            figures["decisions"] = record.decisions
            figures["curve"] = [[p.primitive_steps, round(p.success, 3), p.episodes] for p in record.curve]
        policy = self.trainer.load(folder, self.spec)
        evaluation = evaluate(policy, self.spec, seeds=fresh, greedy=False, sharpness=variant.sharpness)
        return {**_figures(evaluation), **figures}

    def _hyperparameters(self, variant: Variant) -> Any:
        """Return the task's hyperparameters with the changes of ``variant``. The expected number of decisions of the
        training comes from ten episodes of code alone.
        """
        from rlgpt.rl.evaluation import evaluate_code

        changed = self.hyperparameters.model_copy(update=dict(variant.changes))
        if not variant.fitted:
            return changed
        code = evaluate_code(self.spec, self.spec.actions, seeds=self.seeds.selection(10))
        each = sum(e.decisions for e in code.episodes) / max(1, code.primitive_steps)
        every = self.spec.setup.interrupt_every
        return changed.fitted(round(self.settings["budget"] * max(each, 1 / every if every else 0.0)))

    def _recorded(self) -> tuple[Any, Any]:
        """Return the recipe of an environment with the recording's coded actions and setup, and the task's
        hyperparameters.
        """
        from rlgpt.rl.base import EnvSpec
        from rlgpt.runs import Run

        task, recording = self.cell.task, RECORDINGS[self.cell.task]
        runner = CaseRunner(Cell(task, "recorded", recording), self.table, {**self.settings, "episodes": 1})
        runner.settings = runner.settings.model_copy(update={"selection_episodes": 1})
        folder = runner.folder("recorded")
        self.table.runs.mkdir(parents=True, exist_ok=True)
        with FileLock(self.table.runs / "recorded.lock"):
            if not (folder / "run.json").exists() or not Run.open(folder).iterations():
                runner.run_loops("untrained")
        last = Run.open(folder).iterations()[-1]
        spec = EnvSpec(runner.task, last.setup, last.actions, runner.factory, functions=last.functions)
        return spec, runner.hyperparameters


def grid_door() -> tuple[Any, Any]:
    """Return the recipe of the slippery grid. Its coded actions walk along the rows of the grid, then along the
    columns, first to the key, then to the door.
    """
    from rlgpt.domain import CodedAction
    from rlgpt.rl.base import EnvSpec, Hyperparameters
    from rlgpt.testing.grid import TASKS as GRIDS
    from rlgpt.testing.grid import GridPlugin, grid_plugin

    def walk(name: str, target: str, axis: int, back: str, on: str) -> CodedAction:
        source = (
            "def run():\n"
            "    view = yield observe()\n"
            f"    away = view['{target}'][{axis}] - view['agent'][{axis}]\n"
            "    if away:\n"
            f"        yield go(direction='{on}' if away > 0 else '{back}', cells=abs(away))\n"
        )
        return CodedAction(name=name, doc=f"Walk towards the {target}.", source=source)

    take, leave = (CodedAction(name=n, doc="Use.", source="def run():\n    yield use()\n") for n in ("take", "open"))
    actions = (
        *(walk("key_row", "key", 0, "up", "down"), walk("key_column", "key", 1, "left", "right"), take),
        *(walk("door_row", "door", 0, "up", "down"), walk("door_column", "door", 1, "left", "right"), leave),
    )
    task = GRIDS["grid/door"].model_copy(update={"horizon": 30, "settings": {"slip": 0.3}})
    names = tuple(a.name for a in actions)
    setup = GridPlugin().default_setup(task).model_copy(update={"coded_actions": names, "base_actions": ("use",)})
    small = Hyperparameters(num_envs=4, num_steps=32, learning_rate=1e-3)  # for a few thousand decisions
    return EnvSpec(task, setup, actions, grid_plugin), small


def _figures(evaluation: Any) -> dict[str, Any]:
    return {"sampled": evaluation.success_rate, "steps_per_success": evaluation.steps_per_success}


def measure(cell: Cell, table: ResultTable, settings: Mapping[str, Any]) -> None:
    """Measure a cell and add its result to the table."""
    start, before = time.process_time(), commit()
    figures = Measurement(cell, table, settings).measure()
    seconds = round(time.process_time() - start, 1)
    table.add(cell, {"commit": before, **settings, **figures, "cpu_seconds": seconds})


def thirds(result: Mapping[str, Any]) -> list[float]:
    """Return the success rate of the training episodes in each third of the budget, pooled over the points of the
    learning curve.
    """
    found = []
    for part in range(THIRDS):
        low, high = (result["budget"] * (part + i) / THIRDS for i in (0, 1))
        points = [(success, n) for steps, success, n in result["curve"] if low < min(steps, result["budget"]) <= high]
        episodes = sum(n for _, n in points)
        found.append(sum(success * n for success, n in points) / episodes if episodes else 0.0)
    return found


def report(results: Mapping[Cell, dict[str, Any]], cells: Sequence[Cell]) -> None:
    """Print the results of each task and variant, and the difference of each variant from the first variant."""
    from rlgpt.report.stats import FEW, difference, spread

    for task in dict.fromkeys(c.task for c in cells):
        by_row = {
            row: {c.seed: results[c] for c in cells if (c.task, c.row) == (task, row) and c in results}
            for row in dict.fromkeys(c.row for c in cells)
        }
        first: dict[int, dict[str, Any]] = next((by_row[row] for row in VARIANTS if by_row.get(row)), {})
        for row, by_seed in by_row.items():
            if not by_seed:
                continue
            sampled = spread([r["sampled"] for r in by_seed.values()])
            more: dict[str, Any] = {"by_seed": {seed: r["sampled"] for seed, r in sorted(by_seed.items())}}
            if any("curve" in r for r in by_seed.values()):
                parts = zip(*(thirds(r) for r in by_seed.values()), strict=True)
                more["training_thirds"] = [round(sum(p) / len(p), 3) for p in parts]
                more["decisions"] = round(sum(r["decisions"] for r in by_seed.values()) / len(by_seed))
            if steps := [r["steps_per_success"] for r in by_seed.values() if r["steps_per_success"]]:
                more["steps_per_success"] = round(sum(steps) / len(steps), 1)
            both = sorted(by_seed.keys() & first.keys())
            if row in VARIANTS and by_seed is not first and len(both) >= FEW:
                ours, theirs = ([side[seed]["sampled"] for seed in both] for side in (by_seed, first))
                minus = difference(ours, theirs, paired=True)
                more["minus_first"] = [round(v, 3) for v in (minus.point, minus.low, minus.high)]
            interval = [round(sampled.low, 3), round(sampled.high, 3)]
            emit(f"learning/{task}/{row}", round(sampled.point, 3), "success rate, sampled", interval=interval, **more)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=ROWS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--budget", type=int, help=f"primitive steps of each training; default: 60,000; {BUDGETS}")
    parser.add_argument("--episodes", type=int, default=50, help="fresh episodes that evaluate the policy of a cell")
    parser.add_argument("--trainer", default="ppo", choices=TRAINERS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--ray", metavar="ADDRESS", help="measure on the cluster of Ray at this address")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "learning.jsonl")
    parser.add_argument("--report", action="store_true", help="measure nothing, print the figures of the table")
    parser.add_argument("--iterations", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    table = ResultTable(given.out)

    def settings(cell: Cell) -> dict[str, Any]:
        budget = given.budget or BUDGETS.get(cell.task, 60_000)
        return {"budget": budget, "iterations": 1, "episodes": given.episodes, "trainer": given.trainer}

    if given.cell:
        task, row, seed = given.cell
        measure(Cell(task, row, int(seed)), table, settings(Cell(task, row, int(seed))))
        return 0
    cells = [Cell(task, row, seed) for seed in given.seeds for task in given.tasks for row in given.rows]
    trained = {row: v.policy_of for row, v in VARIANTS.items() if v.policy_of}
    needs = {c: Cell(c.task, trained[c.row], c.seed) for c in cells if c.row in trained}
    complete = given.report or measure_cells(
        __file__, cells, table, jobs=given.jobs, needs=needs, settings=settings, ray=given.ray
    )
    report(table.load(), cells)
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
