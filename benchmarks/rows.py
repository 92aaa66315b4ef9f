"""What each row of a contest measures (see contest.py)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cells import Cell, begin, begun, commit, same

ABLATIONS = {"rlgpt_gamma": {"semi_markov": False}, "rlgpt_heads": {"branch_masking": False}}
TURNS = 4
DERIVED = ("rl_setup", "code", "untrained")
"""Rows that are made of the outcome of ``rlgpt`` with the same seed."""


def _ppo() -> Any:
    from rlgpt.rl.ppo import PPO

    return PPO()


def _sample_factory() -> Any:
    from rlgpt.rl.sample_factory import SampleFactory

    return SampleFactory()


TRAINERS = {"sample_factory": _sample_factory, "ppo": _ppo}


class Rows:
    """The rows of one task and seed."""

    def __init__(self, cell: Cell, arguments: argparse.Namespace) -> None:
        from rlgpt.loop import LoopSettings, Seeds
        from rlgpt.rl.base import Hyperparameters

        self.cell, self.out = cell, arguments.out
        self.plugin, self.task, self.factory, self.transcripts = self.known()
        self.settings = LoopSettings(
            budget=arguments.budget,
            iterations=arguments.iterations,
            report_episodes=arguments.episodes,
            seed=cell.seed,
        )
        self.seeds = Seeds(cell.seed)
        self.hyperparameters = Hyperparameters(**self.plugin.trainer_defaults(self.task))
        self.trainer_name = arguments.trainer
        self.trainer = TRAINERS[arguments.trainer]()

    def known(self) -> tuple[Any, Any, Any, tuple[Path, ...]]:
        """Plugin and task of the cell, how a spec finds the plugin, and the transcripts that are replayed."""
        from rlgpt.plugin.manager import PluginManager

        plugin, task = PluginManager().task(self.cell.task)
        return plugin, task, plugin.name, tuple(plugin.transcripts(task))

    def measure(self) -> dict[str, Any]:
        """The figures of the cell's row."""
        row = self.cell.row
        if row == "rlgpt" or row in ABLATIONS:
            return self.loop("slow_fast_critic", ABLATIONS.get(row, {}))
        if row == "rlgpt_turns":
            # 1.0: every turn is taken unless one leaves nothing to better
            self.settings = self.settings.model_copy(update={"iterations": TURNS, "target_success": 1.0})
            return self.loop("slow_fast_critic", {})
        rows = {
            "rl": lambda: self.train(self.plugin.default_setup(self.task)),
            "primitives": self.primitives,
            "rl_setup": self.rl_setup,
            "code": self.code,
            "untrained": self.untrained,
        }
        figures = rows[row]()
        if row in DERIVED and (of := begun(self.folder("rlgpt"))):
            figures = {**figures, "run_commit": of["commit"]}
        return figures

    def asked(self) -> dict[str, Any]:
        """The settings a run is known by."""
        return {
            "budget": self.settings.budget,
            "iterations": self.settings.iterations,
            "episodes": self.settings.report_episodes,
            "trainer": self.trainer_name,
        }

    def folder(self, row: str) -> Path:
        return self.out.with_name(f"{self.out.name}_runs") / self.task.id.replace("/", "__") / row / str(self.cell.seed)

    def loop(self, kind: str, changes: dict[str, Any]) -> dict[str, Any]:
        """The two loops, from plan to report."""
        from rlgpt.agents.build import build_agents
        from rlgpt.llm.build import LLMSettings, build_llm
        from rlgpt.loop import LoopContext
        from rlgpt.loop import run as run_loops
        from rlgpt.runs import Run

        folder = self.folder(self.cell.row)
        begin(folder, {**self.asked(), "commit": commit()})
        there = (folder / "run.json").exists()
        record = Run.open(folder) if there else Run.create(folder, task=self.task.id, seed=self.cell.seed, config={})
        told = {"folder": folder, "transcripts": self.transcripts, "seed": self.cell.seed, "task": self.task.id}
        llm = build_llm(LLMSettings(), **told)
        count = self.settings.iterations
        steps = self.settings.budget // count
        agents = build_agents(kind, llm, self.plugin, self.task, training_steps=steps, iterations=count)
        context = LoopContext(
            settings=self.settings,
            task=self.task,
            plugin=self.plugin,
            factory=self.factory,
            agents=agents,
            trainer=self.trainer,
            hyperparameters=self.hyperparameters.model_copy(update=changes),
            run=record,
        )
        result = run_loops(context)
        if result.report is None:
            raise SystemExit(f"no iteration was finished: {result.stopped}")
        report = result.report
        turns = {"turns": [self._kept(context, i) for i in result.history]} if self.cell.row == "rlgpt_turns" else {}
        return {
            **_figures(report.sampled, report.greedy),
            **turns,
            "mode": report.mode,
            "primitive_steps": record.record.steps.total,
            "steps": record.record.steps.model_dump(),
            "selection": [round(i.success_rate, 3) for i in result.history],
            "best": report.iteration,
            "tokens": llm.spending.tokens + llm.spending.replayed_tokens,
            "dead_loop_rate": report.dead_loop_rate,
            "stopped": type(result.stopped).__name__ if result.stopped else "",
        }

    def _kept(self, context: Any, iteration: Any) -> float:
        """The success of what an iteration keeps, code or policy, on the seeds of the report."""
        from rlgpt.rl.evaluation import evaluate, evaluate_code

        spec, seeds = context.kept_spec(iteration), self.seeds.report(self.settings.report_episodes)
        if iteration.kept.mode == "code":
            judged = evaluate_code(spec, iteration.actions, seeds=seeds)
        else:
            policy = context.policy(spec, iteration.index, trained=iteration.training is not None)
            judged = evaluate(policy, spec, seeds=seeds, greedy=False)
        return round(float(judged.success_rate), 3)

    def train(self, setup: Any, actions: tuple[Any, ...] = ()) -> dict[str, Any]:
        """PPO for the whole budget."""
        from rlgpt.rl.base import EnvSpec

        spec = EnvSpec(self.task, setup, actions, self.factory)
        folder = self.folder(self.cell.row)
        begin(folder, {**self.asked(), "commit": commit()})
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
        from rlgpt.rl.evaluation import evaluate_code

        best = self._best()
        spec = EnvSpec(self.task, best.setup, best.actions, self.factory)
        seeds = self.seeds.report(self.settings.report_episodes)
        none = Evaluation(mode="code", episodes=())
        judged = evaluate_code(spec, best.actions, seeds=seeds) if best.actions else none
        return {**_figures(judged, None), "primitive_steps": self._design()}

    def untrained(self) -> dict[str, Any]:
        from rlgpt.rl.base import EnvSpec

        best = self._best()
        spec = EnvSpec(self.task, best.setup, best.actions, self.factory)
        # never warm: what earlier turns taught is learnt too, and its steps are not in this row's
        seed = self.seeds.training(best.index)
        policy = self.trainer.untrained(spec, seed=seed, hyperparameters=self.hyperparameters)
        return {**self._judge(policy, spec), "primitive_steps": self._design()}

    def _best(self) -> Any:
        from rlgpt.domain import best_of
        from rlgpt.runs import Run

        same(self.folder("rlgpt"), self.asked())
        return best_of(Run.open(self.folder("rlgpt")).iterations())

    def _design(self) -> int:
        """Primitive steps RL-GPT spent on code until it had these actions: rehearsals and trials of code alone."""
        from rlgpt.runs import Run

        past = [i for i in Run.open(self.folder("rlgpt")).iterations() if i.index <= self._best().index]
        return sum(i.steps.rehearsal + i.steps.code for i in past)

    def _judge(self, policy: Any, spec: Any) -> dict[str, Any]:
        from rlgpt.rl.evaluation import evaluate

        seeds = self.seeds.report(self.settings.report_episodes)
        return _figures(*(evaluate(policy, spec, seeds=seeds, greedy=greedy) for greedy in (False, True)))


def _figures(sampled: Any, greedy: Any) -> dict[str, Any]:
    return {
        "sampled": sampled.success_rate,
        "greedy": greedy.success_rate if greedy is not None else None,
        "steps_per_success": sampled.steps_per_success,
        "episodes": len(sampled.episodes),
    }
