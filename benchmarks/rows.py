"""Measures the cells of each compared method, or *row* (see comparison.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from reporting import commit
from result_table import Cell, ResultTable
from run_settings import read_settings, require_settings, start_or_resume

DERIVED = ("rl_setup", "code", "untrained")
"""Methods whose results are derived from the run of ``rlgpt`` with the same seed."""


def _ppo() -> Any:
    from rlgpt.rl.ppo import PPO

    return PPO()


def _sample_factory() -> Any:
    from rlgpt.rl.sample_factory import SampleFactory

    return SampleFactory()


def _sac() -> Any:
    from rlgpt.rl.sac import SAC

    return SAC()


TRAINERS = {"sac": _sac, "sample_factory": _sample_factory, "ppo": _ppo}


def recordings(plugin: Any, task: Any) -> tuple[Path, ...]:
    """The plugin's recordings of a slow and a fast agent for ``task``. Recordings of other teams of agents, which the
    plugin may have too, are left out.
    """
    from rlgpt.config.recordings import Need, fits

    return tuple(path for path in plugin.transcripts(task) if fits(path, Need("slow", images=False)))


class RowRunner:
    """Measures one cell.

    :param table: the table of results, which also determines the folders of the runs.
    :param settings: the budget, the iterations, the episodes and the trainer of the cell.
    """

    def __init__(self, cell: Cell, table: ResultTable, settings: Mapping[str, Any]) -> None:
        from rlgpt.llm.build import LLMSettings
        from rlgpt.loop import LoopSettings, Seeds
        from rlgpt.rl.base import Hyperparameters

        self.cell, self.table, self.cell_settings = cell, table, dict(settings)
        self.plugin, self.task, self.factory, self.transcripts = self.find_task()
        self.settings = LoopSettings(
            budget=settings["budget"],
            iterations=settings["iterations"],
            report_episodes=settings["episodes"],
            seed=cell.seed,
        )
        self.seeds = Seeds(cell.seed)
        self.llm = LLMSettings()
        self.hyperparameters = Hyperparameters(**self.plugin.trainer_defaults(self.task))
        self.trainer = TRAINERS[settings["trainer"]]()

    def find_task(self) -> tuple[Any, Any, Any, tuple[Path, ...]]:
        """Return the plugin and the task of the cell, the factory with which an environment's recipe makes the plugin,
        and the recordings to replay.
        """
        from rlgpt.plugin.manager import PluginManager

        plugin, task = PluginManager().task(self.cell.task)
        return plugin, task, plugin.name, recordings(plugin, task)

    def measure(self) -> dict[str, Any]:
        """The figures of the cell."""
        row = self.cell.row
        if row == "rlgpt":
            return self.run_loops()
        measure = {
            "rl": lambda: self.train(self.plugin.default_setup(self.task)),
            "primitives": self.primitives,
            "rl_setup": self.rl_setup,
            "code": self.code,
            "untrained": self.untrained,
        }
        figures = measure[row]()
        if row in DERIVED and (started_with := read_settings(self.folder("rlgpt"))):
            figures = {**figures, "run_commit": started_with["commit"]}
        return figures

    def folder(self, row: str) -> Path:
        """Return the run folder of a compared method (``row``) with this cell's task and seed."""
        return self.table.run_folder(replace(self.cell, row=row))

    def run_loops(self, kind: str = "slow_fast_critic") -> dict[str, Any]:
        """Run the outer and the inner loop, from the plan to the report.

        :param kind: the name of the agents.
        """
        from rlgpt.agents.build import build_agents
        from rlgpt.llm.build import LLMContext, build_llm
        from rlgpt.loop import LoopContext
        from rlgpt.loop import run as run_loops
        from rlgpt.plugin import library_of
        from rlgpt.runs import Run

        folder = self.folder(self.cell.row)
        start_or_resume(folder, {**self.cell_settings, "commit": commit()})
        exists = (folder / "run.json").exists()
        record = Run.open(folder) if exists else Run.create(folder, task=self.task.id, seed=self.cell.seed, config={})
        llm = build_llm(self.llm, LLMContext(folder, self.cell.seed, self.transcripts, self.task.id))
        count = self.settings.iterations
        library = library_of(self.plugin, self.task)
        agents = build_agents(kind, llm, self.plugin, self.task, library=library, iterations=count)
        context = LoopContext(
            settings=self.settings,
            task=self.task,
            plugin=self.plugin,
            factory=self.factory,
            agents=agents,
            trainer=self.trainer,
            hyperparameters=self.hyperparameters,
            run=record,
            library=library,
        )
        result = run_loops(context)
        if result.report is None:
            raise SystemExit(f"no iteration was finished: {result.stopped}")
        report = result.report
        return {
            **self.figures(report.evaluation),
            "kept": self.result(report.evaluation),
            "acting": report.evaluation.mode,
            "primitive_steps": record.record.steps.total,
            "steps": record.record.steps.model_dump(),
            "selection": [round(self.result(i.kept), 3) for i in result.history],
            "candidates": [self.candidates(i) for i in result.history],
            "best": report.iteration,
            "tokens": llm.spending.tokens + llm.spending.replayed_tokens,
            "dead_loop_rate": report.dead_loop_rate,
            "stopped": type(result.stopped).__name__ if result.stopped else "",
        }

    def candidates(self, iteration: Any) -> dict[str, tuple[float, int]]:
        """Return the result and the number of episodes of each candidate of an iteration's selection. The candidates
        are code, tuned code, and the policy in each mode. The figure ``acting`` of the cell is the kept candidate.
        """
        return {e.mode: (round(self.result(e), 3), len(e.episodes)) for e in iteration.evaluations}

    def result(self, evaluation: Any) -> float:
        """Return the result of an evaluation for the table of results, which is the success rate."""
        return float(evaluation.success_rate)

    def figures(self, evaluation: Any) -> dict[str, Any]:
        """Return further figures of an evaluation. The result of the evaluation is not among them."""
        return {"steps_per_success": evaluation.steps_per_success}

    def train(self, setup: Any, actions: tuple[Any, ...] = (), functions: tuple[Any, ...] = ()) -> dict[str, Any]:
        """Train PPO for the whole budget."""
        from rlgpt.rl.base import EnvSpec

        spec = EnvSpec(self.task, setup, actions, self.factory, functions=functions)
        folder = self.folder(self.cell.row)
        start_or_resume(folder, {**self.cell_settings, "commit": commit()})
        record = self.trainer.train(
            spec,
            budget=self.settings.budget,
            seed=self.seeds.training(0),
            folder=folder,
            hyperparameters=self.hyperparameters.fitted(self.settings.budget),
        )
        curve = [[p.primitive_steps, round(p.success, 3), p.episodes] for p in record.curve]
        policy = self.trainer.load(folder, spec)
        found = {**self._evaluate(policy, spec), "primitive_steps": record.primitive_steps, "curve": curve}
        return {**found, **self.learned(record)}

    def learned(self, record: Any) -> dict[str, Any]:
        """Return further figures of a training without a language model."""
        return {}

    def primitives(self) -> dict[str, Any]:
        from rlgpt.agents.fixed import primitive_actions

        actions = primitive_actions(self.plugin.primitives(self.task), self.plugin.labels(self.task).actions)
        names = tuple(a.name for a in actions)
        setup = self.plugin.default_setup(self.task).model_copy(update={"coded_actions": names})
        return self.train(setup, tuple(actions))

    def rl_setup(self) -> dict[str, Any]:
        best = self._best_iteration()
        setup = best.setup.model_copy(update={"coded_actions": (), "base_actions": None})
        return self.train(setup, functions=best.functions)

    def code(self) -> dict[str, Any]:
        from rlgpt.domain import Evaluation
        from rlgpt.rl.evaluation import evaluate_code

        best, report = self._best_code(), self._run().report()
        if report is not None and (report.evaluation.mode, report.iteration) == ("code", best.index):
            evaluation = report.evaluation  # The run kept this code, so its report has the episodes of this method.
        elif best.actions:
            evaluation = evaluate_code(self._spec(best), best.actions, seeds=self._report_seeds())
        else:
            evaluation = Evaluation(mode="code", episodes=())
        return {
            "sampled": self.result(evaluation),
            "greedy": None,
            **self.figures(evaluation),
            "primitive_steps": self._design_steps(best),
        }

    def untrained(self) -> dict[str, Any]:
        best = self._best_iteration()
        spec = self._spec(best)
        # The network is untrained and has no warm start, because this method does not count the steps of earlier
        # iterations.
        seed = self.seeds.training(best.index)
        policy = self.trainer.untrained(spec, seed=seed, hyperparameters=self.hyperparameters)
        return {**self._evaluate(policy, spec), "primitive_steps": self._design_steps(best)}

    def _best_iteration(self) -> Any:
        """Return the best iteration of RL-GPT's run with the cell's task and seed."""
        from rlgpt.domain import best_of

        return best_of(self._run().iterations())

    def _best_code(self) -> Any:
        """Return the iteration of RL-GPT's run whose code alone has the best result on the selection seeds. The run may
        have kept something else.
        """
        from rlgpt.domain import best_of

        found = self._run().iterations()
        played = {i.index: i for i in found if i.code_evaluation is not None and i.actions}
        if not played:
            return best_of(found)
        # Only the result of the code is compared, so the other results are left out.
        alone = [
            i.model_copy(update={"evaluation": i.code_evaluation, "tuned_evaluation": None}) for i in played.values()
        ]
        return played[best_of(alone).index]

    def _run(self) -> Any:
        """Open RL-GPT's run with the cell's task and seed."""
        from rlgpt.runs import Run

        require_settings(self.folder("rlgpt"), self.cell_settings)
        return Run.open(self.folder("rlgpt"))

    def _spec(self, iteration: Any) -> Any:
        from rlgpt.rl.base import EnvSpec

        return EnvSpec(self.task, iteration.setup, iteration.actions, self.factory, functions=iteration.functions)

    def _design_steps(self, last: Any) -> int:
        """Return the primitive steps that RL-GPT spent on rehearsals and evaluations of code alone, up to the iteration
        ``last``.
        """
        iterations = [i for i in self._run().iterations() if i.index <= last.index]
        return sum(i.steps.rehearsal + i.steps.code for i in iterations)

    def _evaluate(self, policy: Any, spec: Any) -> dict[str, Any]:
        from rlgpt.rl.evaluation import evaluate

        sampled, greedy = (evaluate(policy, spec, seeds=self._report_seeds(), greedy=way) for way in (False, True))
        return {"sampled": self.result(sampled), "greedy": self.result(greedy), **self.figures(sampled)}

    def _report_seeds(self) -> Any:
        return self.seeds.report(self.settings.report_episodes)
