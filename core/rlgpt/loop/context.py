"""The context of a run, which all functions of the inner and the outer loop get."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from rlgpt.agents.build import Agents
from rlgpt.domain import CodedReward, Evaluation, Iteration, Mode, RLSetup, Task, World
from rlgpt.executors import MakeExecutor
from rlgpt.executors.local import InProcess
from rlgpt.loop.allotment import Allotment
from rlgpt.loop.code import Code
from rlgpt.loop.kept import KeptJob, play_kept, play_on
from rlgpt.loop.observer import Observer
from rlgpt.loop.settings import LoopSettings, Seeds
from rlgpt.loop.spending import RunStepCounter
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.rl.base import EnvSpec, Hyperparameters, Policy, Trainer
from rlgpt.rl.play import OnFrame
from rlgpt.runs import Run
from rlgpt.sandbox import Library, Sandbox, SandboxLimits
from rlgpt.skills import SkillLibrary


@dataclass(frozen=True)
class LoopContext:
    """The values and the objects of one run. No field of a ``LoopContext`` changes during the run.

    :ivar factory: the value from which a worker process gets the plugin (see :class:`~rlgpt.rl.base.EnvSpec`).
    :ivar library: the primitives that coded actions of the task may call, and the keys of the view. The agents use the
        same library.
    :ivar skills: the skill library that the run offers to its agents and to which the run adds its result; None if the
        run uses no skill library.
    :ivar fixed_hyperparameters: names of the hyperparameters that the user chose. An RLSetup cannot change the
        hyperparameters that the user chose.
    :ivar executor: a function that makes the executor for the rehearsals of candidates, the rollouts of trainings, and
        the episodes of plans and reports.
    :ivar world: the names of actions and observations for the bundle, if the environment has no plugin; else None.
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
    executor: MakeExecutor = InProcess

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

        :param episodes: number of episodes; if ``evaluation`` has fewer episodes, the result is False. If ``episodes``
            is None, the setting ``selection_episodes`` is used.
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
        """The success rate at which the run ends, or the mean score if the task has no success; None if the run has no
        such target.
        """
        if self.task.success or self.task.score is None:
            return self.settings.target_success
        return self.task.score.target if self.settings.target_score is None else self.settings.target_score

    def unplayed(self) -> Evaluation:
        """An evaluation without episodes, for an iteration that has no code to play."""
        return Evaluation(mode="code", episodes=(), has_success=bool(self.task.success), score=self.task.score)

    def spec(self, setup: RLSetup, code: Code, masked: tuple[str, ...] = ()) -> EnvSpec:
        """The recipe of the environment for the training and the evaluation of an iteration.

        :param masked: names of coded actions that are masked, and of coded functions that are not called.

        Coded reward terms that ``setup`` does not name are left out of the recipe, because nothing uses their values.
        """
        return EnvSpec(
            self.task,
            setup,
            code.actions,
            self.factory,
            self.sandbox_limits.model_dump(),
            masked,
            tuple(f for f in code.functions if not isinstance(f, CodedReward) or f.name in setup.reward_weights),
        )

    def kept_spec(self, best: Iteration) -> EnvSpec:
        """The recipe of the environment in which the kept policy, or the kept code, of the iteration ``best`` plays.

        Kept code plays under the same conditions as in the selection. In the environment of kept code, actions that
        were quarantined in the policy's training are not masked.
        """
        code = Code(best.kept_actions, best.functions)
        return self.spec(best.setup, code, () if best.kept.is_code else best.masked)

    def evaluate_kept(
        self, best: Iteration, *, seeds: Sequence[int], mode: Mode | None = None, on_frame: OnFrame | None = None
    ) -> Evaluation:
        """Evaluate what the iteration ``best`` keeps (the policy, code or tuned code) on ``seeds``.

        :param mode: the mode in which the policy acts. If ``mode`` is None, the policy acts in the mode that the
            selection chose. If code was kept, ``mode`` is ignored.
        :param on_frame: a function that is called with each rendered frame and the name of the action in progress.
        :returns: the evaluation. The evaluation has no episodes if the iteration keeps code but has no coded action.
        """
        spec, kept = self.kept_spec(best), best.kept
        if kept.is_code and not best.actions:
            return self.unplayed()
        job = KeptJob(
            0,
            f"evaluation of iteration {best.index}",
            spec=spec,
            seeds=tuple(seeds),
            mode=kept.mode if kept.is_code else mode or kept.mode,
            policy=None if kept.is_code else self._policy_source(spec, best.index, trained=best.training is not None),
            sharpness=kept.sharpness if kept.mode == "sharpened" else self.settings.sharpness,
        )
        return play_on(self.executor, job) if on_frame is None else play_kept(job, on_frame)

    def train_folder(self, iteration: int) -> Path:
        """The folder in which the trainer stores the training of ``iteration``.

        :raises RunError: the training's folder contains a link, which the trainer's library could follow out of the run
            folder.
        """
        return self.run.files.subfolder(f"iterations/{iteration}/train")

    def policy(self, spec: EnvSpec, iteration: int, *, trained: bool) -> Policy:
        """The policy of an iteration.

        :param trained: whether a policy was trained in the iteration. If ``trained`` is False, the result is the policy
            with which a training would begin.
        """
        return self._policy_source(spec, iteration, trained=trained)()

    def _policy_source(self, spec: EnvSpec, iteration: int, *, trained: bool) -> Callable[[], Policy]:
        """A function that loads or makes the policy of an iteration. The function can be sent to another process."""
        if trained:
            return partial(self.trainer.load, self.train_folder(iteration), spec)
        seed, hyperparameters = self.seeds.training(iteration), self.hyperparameters_of(spec.setup)
        return partial(self.trainer.untrained, spec, seed=seed, hyperparameters=hyperparameters)

    def hyperparameters_of(self, setup: RLSetup) -> Hyperparameters:
        """The hyperparameters of a training with ``setup``."""
        return self.hyperparameters.with_setup(setup, self.fixed_hyperparameters)
