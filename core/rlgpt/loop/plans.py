"""Finds the plan of an iteration. If the slow agent writes several plans, the fast agent writes the code of each plan,
and the code plays against the code of the other plans. The plan with the best result goes on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rlgpt.domain import ActionPlan, ComparedPlan, Evaluation, Steps
from rlgpt.errors import TranscriptEnded, UnusableReplyError
from rlgpt.executors import Executor, Job
from rlgpt.loop.code import Code, Tried
from rlgpt.loop.halving import Schedule, better_half
from rlgpt.loop.observer import outcome
from rlgpt.loop.spending import spent
from rlgpt.loop.stages import Stages
from rlgpt.rl.acting import by_code, code_spec
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.evaluation import Judge


class Planned(NamedTuple):
    """The plan of an iteration with its code.

    :ivar stages: the stages of the iteration with this plan.
    :ivar tried: all attempts at the code of the plan, and the primitive steps of the other plans.
    :ivar plans: all plans of the iteration; empty if the slow agent writes only one plan in each iteration.
    """

    stages: Stages
    plan: ActionPlan
    code: Code
    tried: Tried
    plans: tuple[ComparedPlan, ...] = ()


def planned(stages: Stages) -> Planned:
    """Ask for the plan of the iteration ``stages`` and write its code. If the run has several plans in each iteration,
    the best plan goes on.

    :raises LLMError: the language model gave no usable plan, or no usable code for any plan.
    :raises RunError: the process in which a plan played was lost.
    """
    if stages.ctx.settings.plans == 1:
        plan = stages.plan()
        return Planned(stages, plan, *stages.write(plan))
    comparison = Comparison(stages)
    plans: tuple[ComparedPlan, ...] = stages.ctx.run.once(comparison.folder, tuple[ComparedPlan, ...], comparison.plans)
    best = next(p for p in plans if p.kept)
    mine = stages.of_plan(best.number)
    code, tried = comparison.written.get(best.number) or mine.write(best.plan)
    others = Steps(rehearsal=sum(p.rehearsal for p in plans if not p.kept), code=sum(p.played for p in plans))
    return Planned(mine, best.plan, code, tried._replace(others=others), plans)


@dataclass(frozen=True)
class PlanJob(Job):
    """The job that plays episodes with the code of the plan ``number``.

    :ivar seeds: seeds of the episodes.
    :ivar limit: maximal number of primitive steps of an episode.
    """

    spec: EnvSpec = field(kw_only=True)
    seeds: tuple[int, ...] = field(kw_only=True)
    limit: int = field(kw_only=True)


def play_plan(job: PlanJob) -> Evaluation:
    """Execute the job ``job``. A stuck episode ends early, unless the task has a score."""
    spec = job.spec
    with Judge(code_spec(spec, spec.actions), limit=job.limit) as judge:
        return judge.play(by_code(spec.actions, may_stop=spec.task.score is None), job.seeds)


@dataclass(frozen=True)
class Comparison:
    """The comparison of several plans by successive halving (:mod:`rlgpt.loop.halving`). Each plan has a folder with
    its stages, so a resumed run repeats no finished request, rehearsal or evaluation.

    :ivar written: for the number of each plan whose code this process wrote, the code and all attempts at it.
    """

    stages: Stages
    written: dict[int, tuple[Code, Tried]] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The part of the run's folder that has the folders of the plans."""
        return f"iterations/{self.stages.index}/plans"

    def plans(self) -> tuple[ComparedPlan, ...]:
        """Ask for all plans, write their code and compare them. Exactly one of the returned plans is kept."""
        plans = self._ask()
        self._write(plans)
        sound = [number for number, plan in plans.items() if plan.actions]
        best = self._halve(plans, sound) if sound else min(self.written)
        plans[best] = plans[best].model_copy(update={"kept": True})
        self.stages.ctx.observer.message(
            f"plan {best} goes on; {len(sound)} of {len(plans)} plans have code that works"
        )
        return tuple(plans.values())

    def _ask(self) -> dict[int, ComparedPlan]:
        """Ask for the plans. If the recording ends at a later plan, or if the language model gives no usable reply for
        a later plan, there are fewer plans.
        """
        ctx, plans = self.stages.ctx, dict[int, ComparedPlan]()
        for number in range(ctx.settings.plans):
            try:
                plan = self.stages.of_plan(number).plan()
            except (TranscriptEnded, UnusableReplyError) as fault:
                if not plans:
                    raise
                ctx.observer.message(f"there are {len(plans)} of {ctx.settings.plans} plans: {fault}")
                break
            same = next((n for n, p in plans.items() if p.equals is None and _alike(p.plan, plan)), None)
            if same is not None:
                ctx.observer.message(f"plan {number} is dropped, because it equals plan {same}")
            plans[number] = ComparedPlan(number=number, plan=plan, equals=same)
        return plans

    def _write(self, plans: dict[int, ComparedPlan]) -> None:
        """Write the code of each plan that differs from the earlier plans. A plan is dropped if the language model
        gives no usable reply for its code, or if the rehearsals of the earlier plans have spent the budget of primitive
        steps.
        """
        ctx, last = self.stages.ctx, None
        for number in [n for n, p in plans.items() if p.equals is None]:
            rehearsed = sum(tried.steps for _, tried in self.written.values())
            if self.written and spent(self.stages.history).total + rehearsed >= ctx.settings.budget:
                ctx.observer.message(f"plan {number} is dropped, because the budget of primitive steps is spent")
                continue
            try:
                code, tried = self.written[number] = self.stages.of_plan(number).write(plans[number].plan)
            except (TranscriptEnded, UnusableReplyError) as fault:
                ctx.observer.message(f"plan {number} is dropped: {fault}")
                last = fault
                continue
            names = tuple(action.name for action in code.actions)
            plans[number] = plans[number].model_copy(update={"actions": names, "rehearsal": tried.steps})
        if not self.written:
            assert last is not None, "the code of the first plan is always asked for"
            raise last

    def _halve(self, plans: dict[int, ComparedPlan], remaining: Sequence[int]) -> int:
        """Find the best of the plans with the numbers ``remaining``, at least one, and enter the results of all rounds
        into ``plans``.
        """
        if len(remaining) == 1:
            return remaining[0]
        ctx, index, number = self.stages.ctx, self.stages.index, 0
        schedule = Schedule.fitting(
            len(remaining),
            most=ctx.settings.selection_episodes,
            steps=ctx.allotment.halving(self.stages.history),
            limit=ctx.allotment.limit,
        )
        with ctx.executor(play_plan) as executor:
            while len(remaining) > 1:
                played = schedule.of_round(number)
                ctx.observer.stage("halving", iteration=index, round=number, plans=len(remaining), episodes=len(played))
                seeds = ctx.seeds.halving(index, played.stop)[played.start :]
                for plan, evaluation in self._round(executor, remaining, number, seeds, schedule.limit).items():
                    plans[plan] = plans[plan].model_copy(update={"rounds": (*plans[plan].rounds, evaluation)})
                remaining, number = better_half({plan: merit(plans[plan].result) for plan in remaining}), number + 1
        return remaining[0]

    def _round(
        self,
        executor: Executor[PlanJob, Evaluation],
        remaining: Sequence[int],
        number: int,
        seeds: tuple[int, ...],
        limit: int,
    ) -> dict[int, Evaluation]:
        """Play the round ``number``. A stored evaluation with other seeds, for example after a change of settings, is
        played again.
        """
        ctx, results = self.stages.ctx, dict[int, Evaluation]()
        name = f"{self.folder}/{{}}/rounds/{number}".format
        for plan in remaining:
            stored = ctx.run.stage(name(plan), Evaluation)
            if stored is not None and tuple(e.seed for e in stored.episodes) == seeds:
                results[plan] = stored
                continue
            spec = ctx.spec(self.stages.default_setup(self.written[plan][0]), self.written[plan][0])
            executor.submit(PlanJob(plan, f"plan {plan}", spec=spec, seeds=seeds, limit=limit))
        for job, evaluation in executor.results():
            ctx.book.add("code", evaluation.primitive_steps)
            ctx.run.rewrite(name(job.number), evaluation)
            results[job.number] = evaluation
            ctx.book.update()
        for plan in remaining:
            ctx.observer.finished("halving", plan=plan, **outcome(results[plan]))
        ctx.book.tell()
        return results


def _alike(one: ActionPlan, other: ActionPlan) -> bool:
    """Whether two plans are equal. Their thoughts may differ, because the fast agent does not read them."""
    return one.model_copy(update={"thoughts": ""}) == other.model_copy(update={"thoughts": ""})


def merit(result: Evaluation | None) -> tuple[float, ...]:
    """The numbers by which the code of plans is compared, one after another: the success rate, the mean score (negated
    if the task minimises it) and the mean return. Greater numbers are better.
    """
    assert result is not None, "each plan of the round has played"
    reward = result.mean_reward
    return *result.rank, reward if math.isfinite(reward) else -math.inf
