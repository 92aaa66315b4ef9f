"""The stages of one iteration. Each is stored when it is finished; a stored stage is read, not repeated."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from rlgpt.agents.base import Brief, History
from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    CurvePoint,
    Evaluation,
    Mode,
    Rehearsal,
    RLSetup,
    Steps,
    TrainingRecord,
)
from rlgpt.errors import UnknownNameError
from rlgpt.loop.context import LoopContext, acting
from rlgpt.loop.inner import write_actions
from rlgpt.loop.observer import outcome
from rlgpt.loop.selection import Block, Selection
from rlgpt.rl.evaluation import Acting, Judge, by_code, code_spec, together
from rlgpt.rl.starts import Reached, reach

Actions = tuple[CodedAction, ...]
Rehearsals = Mapping[str, tuple[Rehearsal, ...]]

MAX_STARTS = 16
"""States that a training begins from, at most."""
STARTS_SHARE = 0.05
"""Share of a run's budget after which no further episode is played to reach them."""


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

    def _briefed(self, here: Steps) -> Brief:
        """The brief with the number of training steps of this iteration, as if its training began now."""
        ctx = self.ctx
        if not ctx.agents.train:
            return self.brief
        last, here = ctx.allotment.is_last(self.history), self.steps_so_far(here)
        steps = self.training_steps(here, with_code=ctx.agents.rehearse, last=last)
        return self.brief.model_copy(update={"training_steps": steps})

    def plan(self) -> ActionPlan:
        """The slow agent's plan.

        :raises LLMError: the language model gave no usable plan.
        """
        self.ctx.observer.stage("plan", iteration=self.index)
        return self.ctx.run.once(
            f"{self._folder}/plan", ActionPlan, lambda: self.ctx.agents.slow.plan(self._briefed(Steps()), self.history)
        )

    def write(self, plan: ActionPlan) -> tuple[Actions, Rehearsals]:
        """The coded actions of ``plan`` that work, and all attempts at each sub-action (:mod:`rlgpt.loop.inner`)."""
        return write_actions(self.ctx, self._briefed(Steps()), plan, self.history)

    def set_up(self, plan: ActionPlan, actions: Actions, rehearsals: Rehearsals) -> RLSetup:
        """The fast agent's setup of the reinforcement learning.

        :raises LLMError: the language model gave no usable setup.
        """
        self.ctx.observer.stage("setup", iteration=self.index)

        def set_up() -> RLSetup:
            return self.ctx.agents.fast.setup(
                self._briefed(steps_of(rehearsals)),
                plan,
                actions=actions,
                history=self.history,
                rehearsals=rehearsals,
            )

        return self.ctx.run.once(f"{self._folder}/setup", RLSetup, set_up)

    def evaluate_code(self, setup: RLSetup, actions: Actions, rehearsals: Rehearsals) -> Evaluation | None:
        """Evaluate the coded actions alone, in the plan's order, on the selection seeds.

        If they reach the target there, they play the confirmation episodes as well.

        None where there are no actions, where no agent repairs them, or where the policy stays untrained: that
        ablation measures what the extended action space is worth without learning.
        """
        ctx = self.ctx
        untrained = ctx.agents.evaluate == "policy" and not ctx.agents.train
        if not actions or not ctx.agents.rehearse or untrained:
            return None
        ctx.observer.stage("code", iteration=self.index)
        wanted, more = ctx.settings.selection_episodes, ctx.settings.confirmation_episodes
        steps = ctx.allotment.code_first(self.history)
        code = first = self._code("code", setup, actions, range(wanted), steps=steps)
        if ctx.is_solved(code, episodes=1):
            allowed = math.floor((1 - ctx.settings.target_success) * (wanted + more) + 1e-9)
            failures = allowed if ctx.task.success else None
            here, total = steps_of(rehearsals, code), wanted + more
            code = self._more(code, "confirmation", setup, actions, total, here=here, failures=failures)
        ctx.observer.finished("code", **outcome(code))
        if len(first.episodes) < wanted:
            ctx.observer.message(f"code was judged in {len(code.episodes)} episodes: the budget pays for no more now")
        if stuck := sum(e.cut == "stuck" for e in code.episodes):
            ctx.observer.message(
                f"code was stuck in {stuck} of {len(code.episodes)} episodes: whole rounds of the plan were masked or "
                "changed nothing, so they were ended early"
            )
        return code

    def complete(self, code: Evaluation, setup: RLSetup, actions: Actions, rehearsals: Rehearsals) -> Evaluation:
        """``code`` with the episodes that its first evaluation left out to save steps for a policy."""
        wanted, here = self.ctx.settings.selection_episodes, steps_of(rehearsals, code)
        return self._more(code, "remaining", setup, actions, wanted, here=here)

    def _more(
        self,
        code: Evaluation,
        stage: str,
        setup: RLSetup,
        actions: Actions,
        total: int,
        *,
        here: Steps,
        failures: int | None = None,
    ) -> Evaluation:
        """``code`` with further episodes, ``total`` in all; fewer if no steps for judging are left."""
        seeds, steps = range(len(code.episodes), total), self._judging_left(here)
        if not seeds or not steps:
            return code
        more = self._code(stage, setup, actions, seeds, steps=steps, failures=failures)
        return together((code, more), self.ctx.settings.traces)

    def _code(
        self, stage: str, setup: RLSetup, actions: Actions, seeds: range, *, steps: int, failures: int | None = None
    ) -> Evaluation:
        """Episodes of code on the selection seeds with these indices.

        :param steps: primitive steps after which no further episode begins.
        :param failures: most episodes without success; after more no further episode begins.
        """
        ctx = self.ctx

        def judge() -> Evaluation:
            chosen = ctx.seeds.selection(seeds.stop)[seeds.start :]
            with self._code_judge(setup, actions) as judge:
                return judge.play(self._by_code(actions), chosen, steps=steps, failures=failures)

        return ctx.run.once(f"{self._folder}/{stage}", Evaluation, judge)

    def _by_code(self, actions: Actions) -> Acting:
        """Acting by code. A stuck episode ends early, unless the task has a score, which would then be incomplete."""
        return by_code(actions, may_stop=self.ctx.task.score is None)

    def _code_judge(self, setup: RLSetup, actions: Actions) -> Judge:
        ctx = self.ctx
        spec, count = code_spec(ctx.spec(setup, actions), actions), ctx.book.counting("code")
        return Judge(spec, traces=ctx.settings.traces, limit=ctx.allotment.limit, on_step=count)

    def is_solved_by(self, code: Evaluation | None) -> bool:
        """Whether the coded actions alone reach the target success, confirmation episodes included."""
        if code is None or not self.ctx.is_solved(code):
            return False
        self.ctx.observer.message("the plan's code alone reaches the target: no steps are spent on learning")
        return True

    def reach_starts(self, setup: RLSetup, actions: Actions) -> Reached:
        """The states that training begins from: those that the setup's ``after:ACTION`` led to, on separate seeds.

        No episode of an evaluation has such a seed. None where the setup names no action, or the action never returned.

        :raises StateError: the plugin cannot save this task.
        """
        after = setup.start_after
        if after is None:
            return Reached()
        ctx, names = self.ctx, [action.name for action in actions]
        if after not in names:
            raise UnknownNameError("coded action", after, names, "reset_option=after:ACTION names one of the plan's.")

        def play() -> Reached:
            return reach(
                ctx.spec(setup, actions),
                actions[: names.index(after) + 1],
                seeds=ctx.seeds.starts(self.index, MAX_STARTS),
                most_steps=int(STARTS_SHARE * ctx.settings.budget),
                on_step=ctx.book.counting("rehearsal"),
            )

        reached = ctx.run.once(f"{self._folder}/starts", Reached, play)
        share = f"{setup.reset_share:.0%} of training episodes begin there"
        begin = share if reached.states else "training begins at the task's own start"
        ctx.observer.message(f"{len(reached.states)} states after {after} in {reached.steps:,} steps: {begin}")
        return reached

    def training_steps(self, here: Steps, *, with_code: bool = True, last: bool = False) -> int:
        """Primitive steps of a training that would begin now.

        :param here: this iteration's so far.
        :param last: no iteration comes after this one.
        """
        return self.ctx.allotment.training(
            self.history, here, with_code=with_code, modes=len(self._modes(trained=True)), last=last
        )

    def is_worth_training(self, code: Evaluation | None, here: Steps, *, last: bool) -> bool:
        """Whether a training has enough decisions to learn from. Without code there is nothing else to keep."""
        ctx = self.ctx
        if code is None or not ctx.agents.train:
            return True
        if ctx.run.stage(f"{self._folder}/training", TrainingRecord) is not None:
            return True  # it is paid; a race that a kill cut short has taken steps since this was decided
        steps = self.training_steps(here, last=last)
        enough, decisions = ctx.allotment.enough(steps, code, self.history, last=last)
        if not enough:
            where = "there is nothing else to spend them on" if last else "they go to the next iteration"
            ctx.observer.message(
                f"no training: {steps:,} steps are about {decisions:,.0f} decisions, of min_decisions="
                f"{ctx.settings.min_decisions:,}; {where}"
            )
        return enough

    def train(self, setup: RLSetup, actions: Actions, starts: Reached, budget: int) -> TrainingRecord:
        """Train the policy that may choose base actions and ``actions``.

        :param starts: from :meth:`reach_starts`.
        :param budget: primitive steps.
        :raises TrainerError: the training crashed or could not be resumed.
        """
        ctx = self.ctx
        ctx.observer.stage("train", iteration=self.index, budget=budget)

        before = ctx.trainer.spent(ctx.train_folder(self.index))

        def progress(point: CurvePoint) -> None:
            ctx.observer.training(point, budget)
            ctx.book.trained(ctx.trainer.spent(ctx.train_folder(self.index)) - before)

        record = ctx.run.once(
            f"{self._folder}/training",
            TrainingRecord,
            lambda: ctx.trainer.train(
                replace(ctx.spec(setup, actions), starts=starts.states),
                budget=budget,
                seed=ctx.seeds.training(self.index),
                folder=ctx.train_folder(self.index),
                hyperparameters=ctx.hyperparameters_of(setup),
                progress=progress,
                warm_start=self._warm_start(setup),
            ),
        )
        ctx.book.trained(ctx.trainer.spent(ctx.train_folder(self.index)) - before)
        return record

    def select(
        self,
        setup: RLSetup,
        actions: Actions,
        training: TrainingRecord | None,
        code: Evaluation | None,
        here: Steps,
    ) -> Selected:
        """Race the policy (the untrained one where ``training`` is None) against code, on the selection seeds.

        :param here: the steps of this iteration so far.
        """
        ctx = self.ctx
        if (old := ctx.run.stage(f"{self._folder}/evaluation", Evaluation)) is not None:
            return Selected(code, old, ())  # of a run that an earlier version began
        spec = ctx.spec(setup, actions, training)
        ctx.observer.stage("select", episodes=ctx.settings.selection_episodes)
        policy, count = ctx.policy(spec, self.index, trained=training is not None), ctx.book.counting("selection")
        modes = self._modes(trained=training is not None)
        wanted, more = ctx.settings.selection_episodes, ctx.settings.confirmation_episodes if code is not None else 0
        with contextlib.ExitStack() as judges:
            limit, traces = ctx.allotment.limit, ctx.settings.traces
            judge = judges.enter_context(Judge(spec, traces=traces, limit=limit, on_step=count))
            players: dict[str, tuple[Judge, Acting]] = {
                mode: (judge, acting(policy, mode, ctx.settings.sharpness)) for mode in modes
            }
            if code is not None:
                players["code"] = (judges.enter_context(self._code_judge(setup, actions)), self._by_code(actions))
            seeds, steps = ctx.seeds.selection(wanted + more), self._judging_left(here)
            race = Selection(players, seeds, code=code, least=wanted, steps=steps, traces=traces)
            name = f"{self._folder}/race/{{}}".format
            race.run(lambda n: ctx.run.stage(name(n), Block), lambda n, block: ctx.run.rewrite(name(n), block))
        ctx.observer.finished("select", **outcome(race.policy))
        if race.cut_short:
            ctx.observer.message("the budget for judging ended the selection early")
        return Selected(race.code, race.policy, race.rivals)

    def _modes(self, *, trained: bool) -> tuple[Mode, ...]:
        """The ways in which the policy may act. An untrained one only samples: its most likely choice is arbitrary."""
        if not trained:
            return ("sampled",)
        return ("sampled", "greedy") if self.ctx.settings.sharpness is None else ("sampled", "sharpened", "greedy")

    def _judging_left(self, here: Steps) -> int:
        return self.ctx.allotment.judging(self.history, here)

    def steps_so_far(self, finished: Steps) -> Steps:
        """The steps of this iteration: those of ``finished`` stages, and those lost in stages that were cut short."""
        return self.ctx.book.bill(self.history, finished)

    def _warm_start(self, setup: RLSetup) -> Path | None:
        """The newest trained policy with the same observation and the same base actions."""
        wanted = (setup.observation_keys, setup.base_actions)
        for past in reversed(self.history):
            if past.training is not None and (past.setup.observation_keys, past.setup.base_actions) == wanted:
                return self.ctx.train_folder(past.index)
        return None


class Selected(NamedTuple):
    """What a selection found.

    :ivar code: all episodes of code.
    :ivar policy: in its best way to act.
    :ivar rivals: the policy's other ways to act.
    """

    code: Evaluation | None
    policy: Evaluation
    rivals: tuple[Evaluation, ...]


def steps_of(
    rehearsals: Rehearsals,
    code: Evaluation | None = None,
    training: TrainingRecord | None = None,
    evaluations: Iterable[Evaluation] = (),
    starts: Reached | None = None,
) -> Steps:
    """The primitive steps of finished stages.

    :param evaluations: of the policy. An evaluation of code among them is counted once, as code.
    """
    return Steps(
        rehearsal=sum(r.steps for tried in rehearsals.values() for r in tried) + (starts.steps if starts else 0),
        code=code.primitive_steps if code else 0,
        training=training.primitive_steps if training else 0,
        selection=sum(e.primitive_steps for e in evaluations if e is not code),
    )
