"""RL-GPT beside its baselines on the Franka kitchen, every row at the same total of primitive steps.

    python benchmarks/kitchen.py                      # all cells, two at a time; start it again to go on
    python benchmarks/kitchen.py --report             # only the summary of what is there

Rows, for each task and seed:

==================  =================================================================================================
``rlgpt``           the whole method; rehearsals, code trials, every iteration and selection count
``rl``              PPO on base actions, the plugin's default setup
``rl_setup``        PPO on base actions, with the reward, observation and horizon of RL-GPT's final RLSetup
``code``            the coded actions of RL-GPT's best iteration, in the plan's order, again and again
``untrained``       the policy of RL-GPT's best iteration before it learnt anything
``primitives``      PPO over the plugin's primitives as parameterised actions, without a language model
``rlgpt_gamma``     RL-GPT with one gamma a decision (ablation, on one task)
``rlgpt_heads``     RL-GPT with independent heads (ablation, on one task)
==================  =================================================================================================

The outer loop turns once, so that a policy is trained with all that rehearsal, code alone and selection leave of the
budget; ``--iterations`` changes that. Replies are replayed from the plugin's transcripts: seed s plays recording s
modulo their number. Evaluation is on seeds that nothing was selected on, sampled and greedy. Ends with lines of JSON.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cells import Cell, emit, load, run, save

HERE = Path(__file__).parent
TASKS = ("kitchen/kettle", "kitchen/hinge_cabinet", "kitchen/microwave_noisy", "kitchen/sequence_a")
FIRST = ("rlgpt", "rl", "primitives")
AFTER = ("rl_setup", "code", "untrained")
ABLATIONS = {"rlgpt_gamma": {"semi_markov": False}, "rlgpt_heads": {"branch_masking": False}}
ABLATED = "kitchen/microwave_noisy"
SEEDS = 5


def main() -> int:
    arguments = _arguments()
    folder = arguments.out
    if arguments.cell:
        task, row, seed = arguments.cell
        _do(Cell(task, row, int(seed)), arguments)
        return 0
    waves = _waves(arguments.tasks, arguments.rows, arguments.seeds)
    if arguments.table:
        table(folder, [c for wave in waves for c in wave])
        return 0
    whole = True
    if not arguments.report:
        passed = ("out", "budget", "iterations", "episodes", "trainer")
        extra = [f"--{name}={getattr(arguments, name)}" for name in passed]
        whole = run(__file__, waves, folder, jobs=arguments.jobs, extra=extra)
    summary(folder, [c for wave in waves for c in wave])
    return 0 if whole else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    every = (*FIRST, *AFTER, *ABLATIONS)
    parser.add_argument("--tasks", nargs="+", default=TASKS)
    parser.add_argument("--rows", nargs="+", default=every, choices=every)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds 0 to N - 1")
    parser.add_argument("--budget", type=int, default=60_000, help="primitive steps of each cell")
    parser.add_argument("--iterations", type=int, default=1, help="of the outer loop, among which the budget is shared")
    parser.add_argument("--episodes", type=int, default=50, help="of the evaluation, sampled and greedy each")
    parser.add_argument("--trainer", default="sample_factory", choices=("sample_factory", "ppo"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "kitchen")
    parser.add_argument("--report", action="store_true", help="measure nothing, summarise what is there")
    parser.add_argument("--table", action="store_true", help="measure nothing, print a table in Markdown")
    parser.add_argument("--cell", nargs=3, metavar=("TASK", "ROW", "SEED"), help=argparse.SUPPRESS)
    return parser.parse_args()


def _waves(tasks: Sequence[str], rows: Sequence[str], seeds: int) -> list[list[Cell]]:
    """Rows that are made of RL-GPT's outcome come after it."""

    def cells(names: Sequence[str], among: Sequence[str]) -> list[Cell]:
        return [Cell(t, r, s) for s in range(seeds) for t in among for r in names if r in rows]

    ablated = [t for t in tasks if t == ABLATED]
    return [cells(FIRST, tasks), [*cells(AFTER, tasks), *cells(tuple(ABLATIONS), ablated)]]


# -- one cell ---------------------------------------------------------------------------------------------------------


def _do(cell: Cell, arguments: argparse.Namespace) -> None:
    began = time.monotonic()
    kind = cell.row.removeprefix("rlgpt")
    bench = _Bench(cell, arguments)
    if cell.row.startswith("rlgpt"):
        result = bench.loop("slow_fast_critic", ABLATIONS[cell.row] if kind else {})
    elif cell.row == "rl":
        result = bench.train(bench.plugin.default_setup(bench.task))
    elif cell.row == "primitives":
        result = bench.primitives()
    else:
        result = getattr(bench, cell.row)()
    save(cell, arguments.out, {**result, "trainer": arguments.trainer, "seconds": round(time.monotonic() - began, 1)})


class _Bench:
    """The rows of one task and seed."""

    def __init__(self, cell: Cell, arguments: argparse.Namespace) -> None:
        from rlgpt.loop import LoopSettings, Seeds
        from rlgpt.plugin.manager import PluginManager
        from rlgpt.rl.base import Hyperparameters

        self.cell, self.out = cell, arguments.out
        self.plugin, self.task = PluginManager().task(cell.task)
        self.settings = LoopSettings(
            budget=arguments.budget,
            iterations=arguments.iterations,
            report_episodes=arguments.episodes,
            seed=cell.seed,
        )
        self.seeds = Seeds(cell.seed)
        self.hyperparameters = Hyperparameters(**self.plugin.trainer_defaults(self.task))
        self.trainer = _trainer(arguments.trainer)

    def folder(self, row: str) -> Path:
        return self.out.parent / "kitchen_runs" / self.task.id.replace("/", "__") / row / str(self.cell.seed)

    def loop(self, kind: str, changes: dict[str, Any]) -> dict[str, Any]:
        """The two loops, from plan to report."""
        from rlgpt.agents.build import build_agents
        from rlgpt.llm.build import LLMSettings, build_llm
        from rlgpt.loop import LoopContext
        from rlgpt.loop import run as run_loops
        from rlgpt.runs import Run

        folder = self.folder(self.cell.row)
        there = (folder / "run.json").exists()
        record = Run.open(folder) if there else Run.create(folder, task=self.task.id, seed=self.cell.seed, config={})
        transcripts = tuple(self.plugin.transcripts(self.task))
        llm = build_llm(LLMSettings(), folder=folder, transcripts=transcripts, seed=self.cell.seed, task=self.task.id)
        steps, turns = self.settings.budget // self.settings.iterations, self.settings.iterations
        agents = build_agents(kind, llm, self.plugin, self.task, training_steps=steps, iterations=turns)
        result = run_loops(
            LoopContext(
                settings=self.settings,
                task=self.task,
                plugin=self.plugin,
                factory=self.plugin.name,
                agents=agents,
                trainer=self.trainer,
                hyperparameters=self.hyperparameters.model_copy(update=changes),
                run=record,
            )
        )
        if result.report is None:
            raise SystemExit(f"no iteration was finished: {result.stopped}")
        report = result.report
        return {
            **_figures(report.sampled, report.greedy),
            "mode": report.mode,
            "primitive_steps": record.record.steps.total,
            "steps": record.record.steps.model_dump(),
            "selection": [round(i.success_rate, 3) for i in result.history],
            "best": report.iteration,
            "tokens": llm.spending.tokens + llm.spending.replayed_tokens,
            "dead_loop_rate": report.dead_loop_rate,
            "stopped": type(result.stopped).__name__ if result.stopped else "",
        }

    def train(self, setup: Any, actions: tuple[Any, ...] = ()) -> dict[str, Any]:
        """PPO for the whole budget."""
        from rlgpt.rl.base import EnvSpec

        spec = EnvSpec(self.task, setup, actions, self.plugin.name)
        folder = self.folder(self.cell.row)
        record = self.trainer.train(
            spec,
            budget=self.settings.budget,
            seed=self.seeds.training(0),
            folder=folder,
            hyperparameters=self.hyperparameters,
        )
        curve = [[p.primitive_steps, round(p.success, 3), p.episodes] for p in record.curve]
        policy = self.trainer.load(folder, spec)
        return {**self._judge(policy, spec), "primitive_steps": record.primitive_steps, "curve": curve}

    def primitives(self) -> dict[str, Any]:
        from rlgpt.agents.fixed import primitive_actions

        actions = primitive_actions(self.plugin.primitives(self.task), self.plugin.labels(self.task).actions)
        names = tuple(a.name for a in actions)
        setup = self.plugin.default_setup(self.task).model_copy(update={"coded_actions": names})
        return self.train(setup, tuple(actions))

    def rl_setup(self) -> dict[str, Any]:
        best = self._best()
        return self.train(best.setup.model_copy(update={"coded_actions": (), "base_actions": None}))

    def code(self) -> dict[str, Any]:
        from rlgpt.domain import Evaluation
        from rlgpt.rl.base import EnvSpec
        from rlgpt.rl.evaluate import evaluate_code

        best = self._best()
        spec = EnvSpec(self.task, best.setup, best.actions, self.plugin.name)
        seeds = self.seeds.report(self.settings.report_episodes)
        none = Evaluation(mode="code", episodes=())
        judged = evaluate_code(spec, best.actions, seeds=seeds) if best.actions else none
        return {**_figures(judged, None), "primitive_steps": self._design()}

    def untrained(self) -> dict[str, Any]:
        from rlgpt.rl.base import EnvSpec

        best = self._best()
        spec = EnvSpec(self.task, best.setup, best.actions, self.plugin.name)
        policy = self.trainer.untrained(spec, seed=self.seeds.training(0), hyperparameters=self.hyperparameters)
        return {**self._judge(policy, spec), "primitive_steps": self._design()}

    def _best(self) -> Any:
        from rlgpt.loop.outer import best_of
        from rlgpt.runs import Run

        return best_of(Run.open(self.folder("rlgpt")).iterations())

    def _design(self) -> int:
        """Primitive steps RL-GPT spent on code until it had these actions: rehearsals and trials of code alone."""
        from rlgpt.runs import Run

        past = [i for i in Run.open(self.folder("rlgpt")).iterations() if i.index <= self._best().index]
        return sum(i.steps.rehearsal + i.steps.code for i in past)

    def _judge(self, policy: Any, spec: Any) -> dict[str, Any]:
        from rlgpt.rl.evaluate import evaluate

        seeds = self.seeds.report(self.settings.report_episodes)
        return _figures(*(evaluate(policy, spec, seeds=seeds, greedy=greedy) for greedy in (False, True)))


def _trainer(name: str) -> Any:
    if name == "ppo":
        from rlgpt.rl.ppo import PPO

        return PPO()
    from rlgpt.rl.sample_factory import SampleFactory

    return SampleFactory()


def _figures(sampled: Any, greedy: Any) -> dict[str, Any]:
    return {
        "sampled": sampled.success_rate,
        "greedy": greedy.success_rate if greedy is not None else None,
        "steps_per_success": sampled.steps_per_success,
        "episodes": len(sampled.episodes),
    }


# -- all cells --------------------------------------------------------------------------------------------------------


def summary(folder: Path, cells: Sequence[Cell]) -> None:
    """Lines of JSON: IQM and interval of each row, then RL-GPT less the best other row."""
    from rlgpt.report.stats import difference, interval

    found = load(cells, folder)
    for task in dict.fromkeys(c.task for c in cells):
        scores: dict[str, list[float]] = {}
        for row in dict.fromkeys(c.row for c in cells):
            results = [r for r in found if (r["task"], r["row"]) == (task, row)]
            if not results:
                continue
            scores[row] = [r["sampled"] for r in results]
            seen = interval(scores[row])
            emit(
                f"kitchen/{task.split('/')[1]}/{row}",
                round(seen.point, 3),
                "success rate, sampled, IQM over seeds",
                interval=[round(seen.low, 3), round(seen.high, 3)],
                rows=[
                    {
                        k: r.get(k)
                        for k in ("seed", "sampled", "greedy", "steps_per_success", "primitive_steps", "commit")
                    }
                    for r in results
                ],
            )
        others = {row: s for row, s in scores.items() if not row.startswith("rlgpt")}
        if "rlgpt" in scores and others:
            strongest = max(others, key=lambda row: interval(others[row]).point)
            margin = difference(scores["rlgpt"], others[strongest])
            emit(
                f"kitchen/{task.split('/')[1]}/margin",
                round(margin.point, 3),
                f"success rate, rlgpt minus {strongest}",
                interval=[round(margin.low, 3), round(margin.high, 3)],
            )


def table(folder: Path, cells: Sequence[Cell]) -> None:
    """Each task and row: success sampled and greedy, steps in all and for each success, seeds."""
    from itertools import product
    from statistics import median

    from rlgpt.report.stats import interval

    print("| task | row | sampled | greedy | steps in all | steps per success | seeds |")
    print("|---|---|---|---|---|---|---|")
    found = load(cells, folder)
    tasks, rows = (list(dict.fromkeys(getattr(c, name) for c in cells)) for name in ("task", "row"))
    for task, row in product(tasks, rows):
        results = [r for r in found if (r["task"], r["row"]) == (task, row)]
        if not results:
            continue
        greedy = [r["greedy"] for r in results if r["greedy"] is not None]
        each = [r["steps_per_success"] for r in results if r["steps_per_success"] is not None]
        figures = (
            task.split("/")[1],
            f"`{row}`",
            str(interval([r["sampled"] for r in results])),
            str(interval(greedy)) if greedy else "",
            f"{median(r['primitive_steps'] for r in results):,.0f}",
            f"{median(each):,.0f}" if each else "none",
            str(len(results)),
        )
        print(f"| {' | '.join(figures)} |")


if __name__ == "__main__":
    sys.exit(main())
