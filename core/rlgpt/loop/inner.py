"""The inner loop: write, rehearse and repair each coded action until it works or no repairs are left."""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.agents.base import Brief, History
from rlgpt.domain import ActionPlan, CodedAction, Finding, Rehearsal, Review, SubAction
from rlgpt.errors import TranscriptEnded
from rlgpt.loop.context import LoopContext
from rlgpt.loop.rehearse import rehearse

NOT_EXERCISED = Review(
    works=False,
    findings=(
        Finding(
            problem="not exercised: its can_start was False where the rehearsal came to it",
            suggestion="leave it, or loosen can_start if it should have run there",
        ),
    ),
)
"""The review of an action that did not run from any start: no model is asked, and none is asked to repair it."""


def write_actions(
    ctx: LoopContext, brief: Brief, plan: ActionPlan, history: History
) -> tuple[tuple[CodedAction, ...], dict[str, tuple[Rehearsal, ...]]]:
    """Write, rehearse and repair every coded sub-action of ``plan``, in its order.

    Agents that do not rehearse write each action once, and it is kept.

    :returns: the kept actions, and the attempts of each sub-action by name.
    """
    if not ctx.agents.rehearse:
        write = ctx.agents.fast.write
        return tuple(write(brief, plan, s, written=(), attempts=(), history=history) for s in plan.coded), {}
    kept: list[CodedAction] = []
    attempts: dict[str, tuple[Rehearsal, ...]] = {}
    for sub_action in plan.coded:
        tried = _until_it_works(ctx, brief, plan, sub_action, tuple(kept), history)
        attempts[sub_action.name] = tried
        best = _best(tried)
        if best is not None:
            kept.append(best)
    return tuple(kept), attempts


def _until_it_works(
    ctx: LoopContext,
    brief: Brief,
    plan: ActionPlan,
    sub_action: SubAction,
    kept: Sequence[CodedAction],
    history: History,
) -> tuple[Rehearsal, ...]:
    tried: tuple[Rehearsal, ...] = ()
    for attempt in range(1 + ctx.settings.repairs):
        name = f"iterations/{len(history)}/actions/{sub_action.name}/{attempt}"
        ctx.observer.stage("write", sub_action=sub_action.name, attempt=attempt)
        try:
            rehearsal = ctx.run.once(
                name,
                Rehearsal,
                lambda: _attempt(ctx, brief, plan, sub_action, kept, tried, history),  # noqa: B023
            )
        except TranscriptEnded:
            if not tried:
                raise
            ctx.observer.message(f"no further repair of {sub_action.name} was recorded: the last attempt stands")
            break
        tried = (*tried, rehearsal)
        ctx.observer.finished("write", sub_action=sub_action.name, attempt=attempt, works=rehearsal.works)
        if not rehearsal.failed:
            break
    return tried


def _attempt(
    ctx: LoopContext,
    brief: Brief,
    plan: ActionPlan,
    sub_action: SubAction,
    kept: Sequence[CodedAction],
    tried: tuple[Rehearsal, ...],
    history: History,
) -> Rehearsal:
    action = ctx.agents.fast.write(brief, plan, sub_action, written=kept, attempts=tried, history=history)
    ctx.observer.stage("rehearse", sub_action=sub_action.name)
    count = ctx.settings.rehearsal_episodes
    trace, steps, verdict, others = rehearse(
        ctx.plugin,
        ctx.task,
        kept,
        action,
        seeds=ctx.seeds.rehearsals(len(history), count),
        sandbox=ctx.sandbox,
        library=ctx.library,
        on_step=ctx.book.counting("rehearsal"),
    )
    rehearsal = Rehearsal(attempt=len(tried), action=action, steps=steps, trace=trace, verdict=verdict, others=others)
    ctx.book.tell()
    if rehearsal.failed:
        return rehearsal
    if not rehearsal.exercised:
        ctx.observer.message(f"{sub_action.name} could not start in its rehearsal: its code has not run")
        return rehearsal.model_copy(update={"review": NOT_EXERCISED})
    ctx.observer.stage("review", sub_action=sub_action.name)
    try:
        review = ctx.agents.critic.review(brief, sub_action, rehearsal, iteration=len(history))
    except TranscriptEnded:  # the recorded run stopped this attempt before its review
        ctx.observer.message(f"no review of {sub_action.name} was recorded: it passes, as it ran without an error")
        return rehearsal
    return rehearsal.model_copy(update={"review": review})


def _best(tried: Sequence[Rehearsal]) -> CodedAction | None:
    """The newest attempt without a verdict from any start; if there is none, without a verdict in its trace.

    The policy may use it even if the critic's review is negative.
    """
    sound = [r for r in tried if r.stopped_by is None] or [r for r in tried if r.verdict is None]
    return sound[-1].action if sound else None
