"""The stages of one iteration. Each is stored when it is finished, and read where it is stored already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rlgpt.agents.base import Brief, History
from rlgpt.domain import ActionPlan, CodedAction, Evaluation, Rehearsal, RLSetup, Steps, TrainingRecord
from rlgpt.loop.context import LoopContext
from rlgpt.loop.inner import write_actions
from rlgpt.loop.observer import outcome
from rlgpt.loop.reserve import max_iterations, reserve
from rlgpt.rl.evaluation import evaluate, evaluate_code

Actions = tuple[CodedAction, ...]
Rehearsals = Mapping[str, tuple[Rehearsal, ...]]


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

    def plan(self) -> ActionPlan:
        """The slow agent's plan.

        :raises LLMError: the language model gave no usable plan.
        """
        self.ctx.observer.stage("plan", iteration=self.index)
        return self.ctx.run.once(
            f"{self._folder}/plan", ActionPlan, lambda: self.ctx.agents.slow.plan(self.brief, self.history)
        )

    def write(self, plan: ActionPlan) -> tuple[Actions, Rehearsals]:
        """The coded actions of ``plan`` that work, and all attempts at each sub-action (:mod:`rlgpt.loop.inner`)."""
        return write_actions(self.ctx, self.brief, plan, self.history)

    def set_up(self, plan: ActionPlan, actions: Actions, rehearsals: Rehearsals) -> RLSetup:
        """The fast agent's setup of the reinforcement learning.

        :raises LLMError: the language model gave no usable setup.
        """
        self.ctx.observer.stage("setup", iteration=self.index)

        def set_up() -> RLSetup:
            return self.ctx.agents.fast.setup(
                self.brief, plan, actions=actions, history=self.history, rehearsals=rehearsals
            )

        return self.ctx.run.once(f"{self._folder}/setup", RLSetup, set_up)

    def evaluate_code(self, setup: RLSetup, actions: Actions) -> Evaluation | None:
        """The coded actions alone, in the plan's order, on the selection seeds.

        None where there are no actions, where no agent repairs them, or where the policy stays untrained: that
        ablation measures what the extended action space is worth without learning.
        """
        ctx = self.ctx
        untrained = ctx.agents.evaluate == "policy" and not ctx.agents.train
        if not actions or not ctx.agents.rehearse or untrained:
            return None
        ctx.observer.stage("code", iteration=self.index)
        seeds = ctx.seeds.selection(ctx.settings.selection_episodes)

        def judge() -> Evaluation:
            spec, count = ctx.spec(setup, actions), ctx.book.counting("code")
            return evaluate_code(spec, actions, seeds=seeds, traces=ctx.settings.traces, on_step=count)

        evaluation = ctx.run.once(f"{self._folder}/code", Evaluation, judge)
        ctx.observer.finished("code", **outcome(evaluation))
        return evaluation

    def is_solved_by(self, code: Evaluation | None) -> bool:
        """Whether the coded actions alone reach the target success."""
        if code is None or not self.ctx.is_solved(code):
            return False
        self.ctx.observer.message("the plan's code alone reaches the target: no steps are spent on learning")
        return True

    def train(self, setup: RLSetup, actions: Actions, steps: Steps) -> TrainingRecord:
        """Train the policy that may choose base actions and ``actions``.

        :param steps: what the run has spent so far.
        :raises TrainerError: the training crashed or could not be resumed.
        """
        ctx = self.ctx
        budget = self._training_budget(steps)
        ctx.observer.stage("train", iteration=self.index, budget=budget)
        return ctx.run.once(
            f"{self._folder}/training",
            TrainingRecord,
            lambda: ctx.trainer.train(
                ctx.spec(setup, actions),
                budget=budget,
                seed=ctx.seeds.training(self.index),
                folder=ctx.train_folder(self.index),
                hyperparameters=ctx.hyperparameters,
                progress=lambda point: ctx.observer.training(point, budget),
                warm_start=self._warm_start(setup),
            ),
        )

    def evaluate_policy(self, setup: RLSetup, actions: Actions, training: TrainingRecord | None) -> Evaluation:
        """The policy (the untrained one where ``training`` is None) on the selection seeds, with sampled actions."""
        ctx = self.ctx
        spec = ctx.spec(setup, actions, training)
        ctx.observer.stage("select", episodes=ctx.settings.selection_episodes)

        def judge() -> Evaluation:
            policy = ctx.policy(spec, self.index, trained=training is not None)
            seeds = ctx.seeds.selection(ctx.settings.selection_episodes)
            count = ctx.book.counting("selection")
            return evaluate(policy, spec, seeds=seeds, greedy=False, traces=ctx.settings.traces, on_step=count)

        evaluation = ctx.run.once(f"{self._folder}/evaluation", Evaluation, judge)
        ctx.observer.finished("select", **outcome(evaluation))
        return evaluation

    def steps_so_far(self, finished: Steps) -> Steps:
        """The steps of this iteration: those of ``finished`` stages, and those lost in stages that were cut short."""
        return self.ctx.book.bill(self.history, finished)

    def _training_budget(self, steps: Steps) -> int:
        """Primitive steps of this training: an equal share of what remains after the reserve for evaluations."""
        ctx = self.ctx
        iterations_left = max_iterations(ctx.settings, ctx.agents) - self.index
        reserved_steps = reserve(ctx.settings, ctx.task, ctx.agents, iterations_left)
        return max(1, (ctx.settings.budget - steps.total - reserved_steps) // iterations_left)

    def _warm_start(self, setup: RLSetup) -> Path | None:
        """The newest trained policy with the same observation and the same base actions."""
        wanted = (setup.observation_keys, setup.base_actions)
        for past in reversed(self.history):
            if past.training is not None and (past.setup.observation_keys, past.setup.base_actions) == wanted:
                return self.ctx.train_folder(past.index)
        return None


def steps_of(
    rehearsals: Rehearsals,
    code: Evaluation | None = None,
    training: TrainingRecord | None = None,
    evaluation: Evaluation | None = None,
) -> Steps:
    """The primitive steps of finished stages. An evaluation that is the code's own counts once, as code."""
    return Steps(
        rehearsal=sum(r.steps for attempts in rehearsals.values() for r in attempts),
        code=code.primitive_steps if code else 0,
        training=training.primitive_steps if training else 0,
        selection=evaluation.primitive_steps if evaluation is not None and evaluation is not code else 0,
    )
