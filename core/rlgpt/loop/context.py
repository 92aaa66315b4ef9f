"""The context that every part of the loop receives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rlgpt.agents.build import Agents
from rlgpt.domain import CodedReward, Evaluation, Iteration, Mode, RLSetup, Task, TrainingRecord, World
from rlgpt.loop.allotment import Allotment
from rlgpt.loop.code import Code
from rlgpt.loop.observer import Observer
from rlgpt.loop.settings import LoopSettings, Seeds
from rlgpt.loop.spending import RunStepCounter
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.rl.acting import by_policy
from rlgpt.rl.base import EnvSpec, Hyperparameters, Policy, Trainer
from rlgpt.rl.evaluation import Judge, evaluate_code
from rlgpt.rl.play import Acting, OnFrame
from rlgpt.runs import Run
from rlgpt.sandbox import Library, Sandbox, SandboxLimits
from rlgpt.skills import SkillLibrary


@dataclass(frozen=True)
class LoopContext:
    """The values and the objects of one run. None of its fields changes during the run.

    :ivar factory: how a worker process finds the plugin (see :class:`~rlgpt.rl.base.EnvSpec`).
    :ivar library: the primitives that coded actions of the task may call, and the keys of their view. The agents use
        the same library.
    :ivar skills: the library from which agents are offered skills, and to which the run adds what it proves.
    :ivar fixed_hyperparameters: names of the hyperparameters that the user chose; an RLSetup does not change them.
    :ivar world: only for an environment without a plugin: the names and spaces that the bundle needs on another
        machine.
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
    skills: SkillLibrary | None = None

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
        """Whether ``evaluation`` reaches the target success rate, or the target score if the task has no success.

        :param episodes: minimal number of episodes for the answer True; None: ``selection_episodes``.
        """
        if len(evaluation.episodes) < (self.settings.selection_episodes if episodes is None else episodes):
            return False
        if self.task.success:
            return evaluation.success_rate >= self.settings.target_success
        score = self.task.score
        assert score is not None, "a task has a success or a score"
        return score.model_copy(update={"target": self.target}).reached(evaluation.mean_score)

    @property
    def target(self) -> float | None:
        """The success rate that ends the run, or the mean score if the task has no success; None: no target ends the
        run.
        """
        if self.task.success or self.task.score is None:
            return self.settings.target_success
        return self.task.score.target if self.settings.target_score is None else self.settings.target_score

    def unplayed(self) -> Evaluation:
        """An evaluation of code without episodes, because there is no code to play."""
        return Evaluation(mode="code", episodes=(), has_success=bool(self.task.success), score=self.task.score)

    def spec(self, setup: RLSetup, code: Code, training: TrainingRecord | None = None) -> EnvSpec:
        """The specification of the environment for training and evaluation. Actions that ``training`` quarantined stay
        quarantined.

        Coded reward terms that ``setup`` does not name are left out, because no part of the run reads them.
        """
        return EnvSpec(
            self.task,
            setup,
            code.actions,
            self.factory,
            self.sandbox_limits.model_dump(),
            training.quarantined if training else (),
            tuple(f for f in code.functions if not isinstance(f, CodedReward) or f.name in setup.reward_weights),
        )

    def kept_spec(self, best: Iteration) -> EnvSpec:
        """The specification of the environment in which the result of ``best`` plays: its policy, or its code alone.

        Code plays under the same conditions as in the selection: actions that were quarantined in the policy's training
        are not masked.
        """
        code = Code(best.actions, best.functions)
        return self.spec(best.setup, code, None if best.kept.mode == "code" else best.training)

    def evaluate_kept(
        self, best: Iteration, *, seeds: Sequence[int], mode: Mode | None = None, on_frame: OnFrame | None = None
    ) -> Evaluation:
        """Evaluate the result of ``best`` on ``seeds``: its policy, or the plan's code alone if the code did better.

        :param mode: how the policy acts; None: in the mode that was selected. Code ignores it.
        :param on_frame: receives each rendered frame and the active action.
        :returns: an evaluation without episodes if the iteration keeps code but has no coded action.
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
        """The folder in which the trainer stores the training of ``iteration``.

        :raises RunError: the folder contains a link, which the trainer's library could follow out of the run.
        """
        return self.run.files.subfolder(f"iterations/{iteration}/train")

    def policy(self, spec: EnvSpec, iteration: int, *, trained: bool) -> Policy:
        """The trained policy of an iteration, or the policy that training would start from if none was trained."""
        if trained:
            return self.trainer.load(self.train_folder(iteration), spec)
        seed = self.seeds.training(iteration)
        return self.trainer.untrained(spec, seed=seed, hyperparameters=self.hyperparameters_of(spec.setup))

    def hyperparameters_of(self, setup: RLSetup) -> Hyperparameters:
        """The hyperparameters of a training with ``setup``."""
        return self.hyperparameters.with_setup(setup, self.fixed_hyperparameters)


def acting(policy: Policy, mode: Mode, sharpness: float | None) -> Acting:
    """How ``policy`` acts in ``mode``. ``sharpness`` applies to the mode ``sharpened`` only."""
    return by_policy(policy, greedy=mode == "greedy", sharpness=(sharpness or 1.0) if mode == "sharpened" else 1.0)
