"""The stages of an iteration that plan, write code and learn. The result of each finished stage is stored, so that the
stage is never repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rlgpt.agents.base import Brief, History, Training
from rlgpt.domain import (
    ActionPlan,
    CodedFeatures,
    CodedFunction,
    CurvePoint,
    Evaluation,
    RLSetup,
    Steps,
    TrainingRecord,
)
from rlgpt.errors import UnknownNameError
from rlgpt.executors.local import InProcess
from rlgpt.loop.code import Code, Tried
from rlgpt.loop.context import LoopContext
from rlgpt.loop.inner import write_code
from rlgpt.loop.spending import spent, steps_of
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.reach import reach
from rlgpt.rl.starts import Reached

MAX_STARTS = 16
"""Maximal number of saved states from which training episodes may begin."""
STARTS_SHARE = 0.05
"""Share of a run's budget after which an iteration begins no further episode to reach these saved states."""


@dataclass(frozen=True)
class Stages:
    """The stages of the iteration that follows ``history``."""

    ctx: LoopContext
    brief: Brief
    history: History

    @property
    def index(self) -> int:
        return len(self.history)

    @property
    def _folder(self) -> str:
        return f"iterations/{self.index}"

    @property
    def _plan_folder(self) -> str:
        """The part of the run's folder that has the stages of the plan and its code. If there are several plans, each
        plan has a folder.
        """
        return f"{self._folder}/plans/{self.brief.plan}" if self.ctx.settings.plans > 1 else self._folder

    def of_plan(self, number: int) -> Stages:
        """The stages of the iteration with the plan ``number``, if the slow agent writes several plans."""
        return replace(self, brief=self.brief.model_copy(update={"plan": number}))

    def _briefed(self, here: Steps, code: Evaluation | None = None) -> Brief:
        """The brief, completed by the number of steps that a training of the current iteration would have if it began
        now.

        :param here: the primitive steps of the finished stages of the current iteration.
        :param code: the evaluation of the current iteration's code; None if the code was not played.
        """
        ctx = self.ctx
        if not ctx.agents.train:
            return self.brief
        last, here = ctx.allotment.is_last(self.history), self.steps_so_far(here)
        steps = self.training_steps(here, with_code=ctx.agents.rehearse, last=last)
        training = Training(
            steps=steps,
            decisions=ctx.allotment.decisions(steps, self.history, self.brief.default_setup, code),
            least=ctx.allotment.least(last=last) if ctx.agents.rehearse else 0,
            least_at_last=ctx.allotment.least(last=True) if ctx.agents.rehearse else 0,
            target=ctx.target,
            episodes=ctx.settings.selection_episodes,
            hyperparameters={
                name: getattr(ctx.hyperparameters, name)
                for name in self.brief.trainer_bounds
                if name not in ctx.fixed_hyperparameters
            },
        )
        return self.brief.model_copy(update={"training": training, "code": code})

    def plan(self) -> ActionPlan:
        """Ask the slow agent for the plan.

        :raises LLMError: the language model gave no usable plan.
        """
        which = {"plan": self.brief.plan} if self.ctx.settings.plans > 1 else {}
        self.ctx.observer.stage("plan", iteration=self.index, **which)
        return self.ctx.run.once(
            f"{self._plan_folder}/plan",
            ActionPlan,
            lambda: self.ctx.agents.slow.plan(self._briefed(Steps()), self.history),
        )

    def write(self, plan: ActionPlan) -> tuple[Code, Tried]:
        """Write the code of ``plan`` (:mod:`rlgpt.loop.inner`). Return the working code, and all attempts at code."""
        return write_code(self.ctx, self._briefed(Steps()), plan, self.history, self._plan_folder)

    def default_setup(self, code: Code) -> RLSetup:
        """The plugin's default setup with all coded actions."""
        names = tuple(a.name for a in code.actions)
        return self.brief.default_setup.model_copy(update={"coded_actions": names, "reason": "the plugin's defaults"})

    def set_up(self, plan: ActionPlan, code: Code, tried: Tried, alone: Evaluation | None) -> RLSetup:
        """Ask the fast agent for the setup of the reinforcement learning.

        :param alone: the evaluation of the coded actions alone; None if code alone was not played.
        :raises LLMError: the language model gave no usable setup.
        """
        self.ctx.observer.stage("setup", iteration=self.index)

        def set_up() -> RLSetup:
            return self.ctx.agents.fast.setup(
                self._briefed(steps_of(tried, alone), alone).model_copy(
                    update={"functions": code.functions, "remarks": tried.remarks}
                ),
                plan,
                actions=code.actions,
                history=self.history,
                rehearsals=tried.actions,
            )

        return self.ctx.run.once(f"{self._folder}/setup", RLSetup, set_up)

    def reach_starts(self, spec: EnvSpec) -> Reached:
        """Find the states in which training episodes begin. If the setup has ``after:ACTION``, training episodes begin
        in states in which this coded action returned; the states are found in episodes with seeds that no evaluation
        uses. Returns no start states if the setup names no action, or if the action never returned.

        :raises StateError: the plugin cannot save the states of this task.
        """
        after = spec.setup.start_after
        if after is None:
            return Reached()
        ctx, names = self.ctx, [action.name for action in spec.actions]
        if after not in names:
            raise UnknownNameError(
                "coded action", after, names, "reset_option=after:ACTION must name a coded action of the plan."
            )

        def play() -> Reached:
            return reach(
                spec,
                spec.actions[: names.index(after) + 1],
                seeds=ctx.seeds.starts(self.index, MAX_STARTS),
                most_steps=int(STARTS_SHARE * ctx.settings.budget),
                on_step=ctx.book.counting("rehearsal"),
            )

        reached = ctx.run.once(f"{self._folder}/starts", Reached, play)
        share = f"{spec.setup.reset_share:.0%} of training episodes begin there"
        begin = share if reached.states else "training begins at the task's own start until it reaches one"
        ctx.observer.message(f"{len(reached.states)} states after {after} in {reached.steps:,} steps: {begin}")
        return reached

    def searches(self, spec: EnvSpec) -> bool:
        """Whether a training with ``spec`` may begin with a parameter search (:meth:`Trainer.searches`)."""
        return self._warm_start(spec) is None and self.ctx.trainer.searches(spec)

    def training_steps(
        self, here: Steps, *, with_code: bool = True, tuned: bool = False, base_only: bool = False, last: bool = False
    ) -> int:
        """Number of primitive steps of a training that would begin now.

        :param here: the primitive steps of the current iteration so far.
        :param tuned: whether tuned code may be a candidate of the race after this training.
        :param base_only: whether the policy may also be judged in the mode ``base_only``.
        :param last: whether the current iteration is the last iteration.
        """
        modes = len(self.ctx.settings.modes(trained=True)) + base_only
        return self.ctx.allotment.training(self.history, here, with_code=with_code, tuned=tuned, modes=modes, last=last)

    def is_worth_training(self, code: Evaluation | None, setup: RLSetup, here: Steps, *, last: bool) -> bool:
        """Whether a training would have enough decisions to be worth its primitive steps. If there is no code, a policy
        is always trained, because the iteration has nothing else to keep.
        """
        ctx = self.ctx
        if code is None or not ctx.agents.train:
            return True
        if ctx.run.stage(f"{self._folder}/setup", RLSetup) is not None:
            return True  # An interrupted call has decided to train, when fewer steps of this iteration were spent.
        steps = self.training_steps(here, last=last)
        enough, decisions = ctx.allotment.enough(steps, code, setup, self.history, last=last)
        if not enough and spent(self.history).total + here.total >= ctx.settings.budget:
            ctx.observer.message(f"no training: the budget={ctx.settings.budget:,} of primitive steps is spent")
        elif not enough:
            where = "nothing else can use the steps" if last else "the next iteration, if there is one, gets the steps"
            ctx.observer.message(
                f"no training: {steps:,} steps are enough for about {decisions:,.0f} decisions, and a training needs "
                f"min_decisions={ctx.settings.min_decisions:,}; {where}"
            )
        return enough

    def train(self, spec: EnvSpec, starts: Reached, budget: int, code: Evaluation | None) -> TrainingRecord:
        """Train the policy that may choose base actions and the coded actions of ``spec``.

        :param starts: the start states that :meth:`reach_starts` found.
        :param budget: number of primitive steps of the training.
        :param code: evaluation of the coded actions alone; None if the coded actions were not played alone.
        :raises TrainerError: the training crashed or could not be resumed.
        """
        ctx = self.ctx
        before = ctx.trainer.spent(ctx.train_folder(self.index))
        ctx.book.tell()
        start = ctx.run.record.steps.total - before
        ctx.observer.stage("train", iteration=self.index, budget=budget, start=start)

        trainer = ctx.trainer if ctx.executor is InProcess else ctx.trainer.on(ctx.executor)

        def progress(point: CurvePoint) -> None:
            ctx.observer.training(point, budget)
            ctx.book.trained(ctx.trainer.spent(ctx.train_folder(self.index)) - before)

        record = ctx.run.once(
            f"{self._folder}/training",
            TrainingRecord,
            lambda: trainer.train(
                replace(spec, starts=starts.states),
                budget=budget,
                seed=ctx.seeds.training(self.index),
                folder=ctx.train_folder(self.index),
                hyperparameters=self._hyperparameters(spec.setup, budget, code),
                progress=progress,
                warm_start=self._warm_start(spec),
            ),
        )
        ctx.book.trained(ctx.trainer.spent(ctx.train_folder(self.index)) - before)
        return record

    def steps_so_far(self, finished: Steps) -> Steps:
        """The primitive steps of the current iteration so far, including steps in stages that a kill or an error ended.

        :param finished: the primitive steps of the finished stages of the current iteration.
        """
        return self.ctx.book.bill(self.history, finished)

    def _hyperparameters(self, setup: RLSetup, budget: int, code: Evaluation | None) -> Hyperparameters:
        """The hyperparameters of a training of ``budget`` primitive steps. The length of a rollout is chosen to fit the
        expected number of decisions of the training, if the trainer uses this length.
        """
        decisions = self.ctx.allotment.decisions(budget, self.history, setup, code)
        chosen = self.ctx.hyperparameters_of(setup)
        if not self.ctx.trainer.uses_num_steps:
            return chosen
        fitted = chosen.fitted(decisions, self.ctx.fixed_hyperparameters)
        if fitted.num_steps < chosen.num_steps:
            self.ctx.observer.message(
                f"num_steps={fitted.num_steps} instead of {chosen.num_steps}: the training has about {decisions:,} "
                "decisions, and longer rollouts leave too few updates"
            )
        return fitted

    def _warm_start(self, spec: EnvSpec) -> Path | None:
        """The folder of the newest training whose policy has the same observation and base actions, for a warm start
        with this policy. None if there is no such training.
        """
        wanted = _seen(spec.setup, spec.functions)
        for past in reversed(self.history):
            if past.training is not None and _seen(past.setup, past.functions) == wanted:
                return self.ctx.train_folder(past.index)
        return None


def _seen(setup: RLSetup, functions: Sequence[CodedFunction]) -> tuple[object, ...]:
    """The properties of ``setup`` on which a policy network depends, which are the observation keys, the features among
    them, and the base actions.
    """
    features = [
        f
        for f in functions
        if isinstance(f, CodedFeatures) and any(o.name in setup.observation_keys for o in f.outputs)
    ]
    return setup.observation_keys, setup.base_actions, sorted(features, key=lambda f: f.name)
