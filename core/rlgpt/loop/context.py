"""The context that every part of the loop receives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rlgpt.agents.build import Agents
from rlgpt.domain import CodedAction, Evaluation, Iteration, Mode, RLSetup, Task, TrainingRecord, World
from rlgpt.loop.allotment import Allotment
from rlgpt.loop.observer import Observer
from rlgpt.loop.settings import LoopSettings, Seeds
from rlgpt.loop.spending import RunStepCounter
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.rl.base import EnvSpec, Hyperparameters, Policy, Trainer
from rlgpt.rl.evaluation import Acting, Judge, OnFrame, by_policy, evaluate_code
from rlgpt.runs import Run
from rlgpt.sandbox import Library, Sandbox, SandboxLimits


@dataclass(frozen=True)
class LoopContext:
    """The values and the objects of one run. Nothing here changes during the run.

    :ivar factory: how a spawned worker finds the plugin (see :class:`~rlgpt.rl.base.EnvSpec`).
    :ivar library: what coded actions of the task may call and see. The agents have the same one.
    :ivar fixed_hyperparameters: names of those that the user chose; no RLSetup changes them.
    :ivar world: of an environment without a plugin: what the bundle needs to run elsewhere.
    """

    settings: LoopSettings
    task: Task
    plugin: EnvironmentPlugin
    factory: Any
    agents: Agents
    trainer: Trainer
    hyperparameters: Hyperparameters
    run: Run
    library: Library
    sandbox_limits: SandboxLimits = field(default_factory=SandboxLimits)
    observer: Observer = field(default_factory=Observer)
    world: World | None = None
    fixed_hyperparameters: frozenset[str] = frozenset()

    @cached_property
    def sandbox(self) -> Sandbox:
        return Sandbox(self.sandbox_limits)

    @cached_property
    def book(self) -> RunStepCounter:
        return RunStepCounter(self.run)

    @cached_property
    def allotment(self) -> Allotment:
        return Allotment(self.settings, self.task, self.agents)

    @property
    def seeds(self) -> Seeds:
        return Seeds(self.settings.seed)

    def is_solved(self, evaluation: Evaluation, *, episodes: int | None = None) -> bool:
        """Whether ``evaluation`` reaches the target: of success, or of the score where the task has no success.

        :param episodes: fewer show nothing; None: ``selection_episodes``.
        """
        if len(evaluation.episodes) < (self.settings.selection_episodes if episodes is None else episodes):
            return False
        if self.task.success:
            return evaluation.success_rate >= self.settings.target_success
        score = self.task.score
        assert score is not None, "a task has a success or a score"
        if (target := self.settings.target_score) is not None:
            score = score.model_copy(update={"target": target})
        return score.reached(evaluation.mean_score)

    def unplayed(self) -> Evaluation:
        """An evaluation of code without episodes: there is none to play."""
        return Evaluation(mode="code", episodes=(), has_success=bool(self.task.success), score=self.task.score)

    def spec(self, setup: RLSetup, actions: tuple[CodedAction, ...], training: TrainingRecord | None = None) -> EnvSpec:
        """The environment of training and evaluation. Actions that ``training`` quarantined stay masked."""
        quarantined = training.quarantined if training else ()
        return EnvSpec(self.task, setup, actions, self.factory, self.sandbox_limits.model_dump(), quarantined)

    def kept_spec(self, best: Iteration) -> EnvSpec:
        """The environment for what ``best`` keeps: its policy, or its code alone.

        Code plays as it was selected: actions that the training of the policy quarantined are not masked.
        """
        return self.spec(best.setup, best.actions, None if best.kept.mode == "code" else best.training)

    def evaluate_kept(
        self, best: Iteration, *, seeds: Sequence[int], mode: Mode | None = None, on_frame: OnFrame | None = None
    ) -> Evaluation:
        """Evaluate what ``best`` keeps on ``seeds``: its policy, or the plan's code alone where that did better.

        :param mode: how the policy acts; None: as it was selected. Code has no choices.
        :param on_frame: receives each rendered frame and the active action.
        :returns: an evaluation without episodes where the iteration keeps code and has no coded action.
        """
        spec, kept = self.kept_spec(best), best.kept
        if kept.mode == "code":
            if not best.actions:
                return self.unplayed()
            return evaluate_code(spec, best.actions, seeds=seeds, on_frame=on_frame)
        policy = self.policy(spec, best.index, trained=best.training is not None)
        sharpness = kept.sharpness if kept.mode == "sharpened" else self.settings.sharpness
        with Judge(spec, on_frame=on_frame) as judge:
            return judge.play(acting(policy, mode or kept.mode, sharpness), seeds)

    def train_folder(self, iteration: int) -> Path:
        """Where the trainer keeps the training of an iteration.

        :raises RunError: it holds a link, which a trainer's library could follow out of the run.
        """
        return self.run.files.subfolder(f"iterations/{iteration}/train")

    def policy(self, spec: EnvSpec, iteration: int, *, trained: bool) -> Policy:
        """The policy of an iteration. Where no policy was trained: the one that training would start from."""
        if trained:
            return self.trainer.load(self.train_folder(iteration), spec)
        seed = self.seeds.training(iteration)
        return self.trainer.untrained(spec, seed=seed, hyperparameters=self.hyperparameters_of(spec.setup))

    def hyperparameters_of(self, setup: RLSetup) -> Hyperparameters:
        """The hyperparameters of a training with ``setup``."""
        return self.hyperparameters.with_setup(setup, self.fixed_hyperparameters)


def acting(policy: Policy, mode: Mode, sharpness: float | None) -> Acting:
    """How ``policy`` acts in a mode; ``sharpness`` is that of mode ``sharpened``."""
    return by_policy(policy, greedy=mode == "greedy", sharpness=(sharpness or 1.0) if mode == "sharpened" else 1.0)
