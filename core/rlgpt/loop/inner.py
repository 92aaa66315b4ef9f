"""The inner loop, which writes, rehearses and repairs the code of a plan until the code works or no repairs are
left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rlgpt.agents.base import Brief, History
from rlgpt.agents.history_text import kept_action
from rlgpt.domain import ActionPlan, CodedAction, Finding, Rehearsal, Review, SubAction
from rlgpt.errors import TranscriptEnded
from rlgpt.loop.candidates import CandidateJob, best_candidate
from rlgpt.loop.code import Code, Tried
from rlgpt.loop.context import LoopContext
from rlgpt.loop.frames import shots
from rlgpt.loop.inner_functions import AFTER_ACTIONS, BEFORE_ACTIONS, FunctionLoop
from rlgpt.loop.rehearse import rehearse
from rlgpt.options import OnStep
from rlgpt.plugin.defaults import reward_terms_of
from rlgpt.rl.base import EnvSpec

if TYPE_CHECKING:
    import gymnasium

NOT_EXERCISED = Review(
    works=False,
    findings=(
        Finding(
            problem="it never ran: its can_start was False at every moment that its rehearsals reached",
            suggestion="leave it, or loosen can_start if it should have run there",
        ),
    ),
)
"""The review of an action that could not start in any rehearsal. The critic is not asked, and no repair follows."""


def write_code(ctx: LoopContext, brief: Brief, plan: ActionPlan, history: History) -> tuple[Code, Tried]:
    """Write, rehearse and repair the code of ``plan``. Features and predicates are written first, then coded actions,
    then reward terms.

    :returns: the code that works, and all attempts at code.
    """
    functions = FunctionLoop(ctx, brief, plan, history)
    functions.write(BEFORE_ACTIONS)
    briefed = brief.model_copy(update={"functions": functions.kept})
    actions, tried = _write_actions(ctx, briefed, plan, history)
    functions.write(AFTER_ACTIONS, Code(actions, functions.kept))
    return Code(actions, functions.kept), Tried(tried, functions.tried)


def _write_actions(
    ctx: LoopContext, brief: Brief, plan: ActionPlan, history: History
) -> tuple[tuple[CodedAction, ...], dict[str, tuple[Rehearsal, ...]]]:
    """Write and rehearse every coded sub-action of ``plan``, in the plan's order. A sub-action that the plan keeps is
    neither written nor rehearsed.

    A team of agents without rehearsals writes each action once, and every action is kept.

    :returns: the kept actions, and for the name of each sub-action, the attempts at its code.
    """
    kept: list[CodedAction] = []
    attempts: dict[str, tuple[Rehearsal, ...]] = {}
    for sub_action in plan.coded:
        earlier = kept_action(history, sub_action.name, brief.skills) if sub_action.keep else None
        if earlier is not None:
            kept.append(earlier)
        elif not ctx.agents.rehearse:
            kept.append(ctx.agents.fast.write(brief, plan, sub_action, written=(), attempts=(), history=history))
        else:
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
            ctx.observer.message(f"the recording has no further repair of {sub_action.name}: its last attempt is final")
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
    brief = brief.model_copy(update={"repairs": ctx.settings.repairs - len(tried)})
    written = _one if ctx.settings.candidates == 1 else _best_of_several
    rehearsal = written(ctx, brief, plan, sub_action, kept, tried, history)
    ctx.book.tell()
    if rehearsal.failed:
        return rehearsal
    if not rehearsal.exercised:
        ctx.observer.message(f"{sub_action.name} could not start in its rehearsal, so its code has not run")
        return rehearsal.model_copy(update={"review": NOT_EXERCISED})
    if rehearsal.succeeded:
        return rehearsal  # Every episode of the rehearsal was a success, so no review is needed.
    ctx.observer.stage("review", sub_action=sub_action.name)
    try:
        before = ctx.book.total
        review = _review(ctx, brief, sub_action, kept, rehearsal, history)
        steps = rehearsal.steps + ctx.book.total - before
    except TranscriptEnded:  # The recorded run ended before the review of this attempt.
        ctx.observer.message(
            f"the recording has no review of {sub_action.name}: the action is accepted, because it ran without an error"
        )
        return rehearsal
    return rehearsal.model_copy(update={"review": review, "steps": steps})


def _one(
    ctx: LoopContext,
    brief: Brief,
    plan: ActionPlan,
    sub_action: SubAction,
    kept: Sequence[CodedAction],
    tried: tuple[Rehearsal, ...],
    history: History,
) -> Rehearsal:
    """Write one version of the coded action, and rehearse it."""
    action = ctx.agents.fast.write(brief, plan, sub_action, written=kept, attempts=tried, history=history)
    ctx.observer.stage("rehearse", sub_action=sub_action.name)
    trace, steps, verdict, others = rehearse(
        ctx.plugin,
        ctx.task,
        kept,
        action,
        seeds=ctx.seeds.rehearsals(len(history), ctx.settings.rehearsal_episodes),
        sandbox=ctx.sandbox,
        library=ctx.library,
        functions=brief.functions,
        reward_weights=_weights(ctx, brief, history),
        on_step=ctx.book.counting("rehearsal"),
    )
    return Rehearsal(attempt=len(tried), action=action, steps=steps, trace=trace, verdict=verdict, others=others)


def _best_of_several(
    ctx: LoopContext,
    brief: Brief,
    plan: ActionPlan,
    sub_action: SubAction,
    kept: Sequence[CodedAction],
    tried: tuple[Rehearsal, ...],
    history: History,
) -> Rehearsal:
    """Write and rehearse several versions of the coded action, and return the best version with its rehearsal."""
    seeds = ctx.seeds.rehearsals(len(history), ctx.settings.rehearsal_episodes)
    limits, weights = ctx.sandbox_limits.model_dump(), _weights(ctx, brief, history)

    def write(number: int) -> CodedAction:
        asked = brief.model_copy(update={"candidate": number})
        return ctx.agents.fast.write(asked, plan, sub_action, written=kept, attempts=tried, history=history)

    def job(number: int, action: CodedAction) -> CandidateJob:
        actions = (*kept, action)
        spec = EnvSpec(ctx.task, brief.default_setup, actions, ctx.factory, limits, functions=brief.functions)
        return CandidateJob(number, action.name, spec=spec, seeds=seeds, reward_weights=weights)

    stage = f"iterations/{len(history)}/candidates/{sub_action.name}/{len(tried)}-"
    ctx.observer.stage("rehearse", sub_action=sub_action.name)
    return best_candidate(ctx, stage, len(tried), write, job)


def _review(
    ctx: LoopContext,
    brief: Brief,
    sub_action: SubAction,
    kept: Sequence[CodedAction],
    rehearsal: Rehearsal,
    history: History,
) -> Review:
    """Ask the critic for a review of ``rehearsal``. If the critic needs frames, the rehearsal is played again, and its
    primitive steps are counted again.
    """
    critic, evidence = ctx.agents.critic, ctx.settings.evidence
    if evidence == "text" or not critic.supports_vision or rehearsal.trace is None:
        return critic.review(brief, sub_action, rehearsal, iteration=len(history))
    trace, count = rehearsal.trace, ctx.book.counting("rehearsal")

    def play(on_step: OnStep) -> None:
        def step(env: gymnasium.Env[Any, Any], number: int) -> None:
            count(env, number)
            on_step(env, number)

        rehearse(
            ctx.plugin,
            ctx.task,
            kept,
            rehearsal.action,
            seeds=(trace.seed,),
            sandbox=ctx.sandbox,
            library=ctx.library,
            functions=brief.functions,
            on_step=step,
            render_mode="rgb_array",
        )

    frames, why_none = shots(play, trace)
    if why_none:
        ctx.observer.message(why_none)
    return critic.review(brief, sub_action, rehearsal, iteration=len(history), evidence=evidence, frames=frames)


def _weights(ctx: LoopContext, brief: Brief, history: History) -> dict[str, float]:
    """The weights of the plugin's reward terms in a rehearsal, from the newest setup, or from the default setup in the
    first iteration.
    """
    setup = history[-1].setup if history else brief.default_setup
    known = [term.name for term in reward_terms_of(ctx.plugin, ctx.task)]
    return {name: weight for name, weight in setup.reward_weights.items() if name in known}


def _best(tried: Sequence[Rehearsal]) -> CodedAction | None:
    """The coded action of the newest attempt that no verdict stopped in any episode. If a verdict stopped every attempt
    in some episode, the action of the newest attempt whose trace has no verdict is used.

    The policy may use the coded action even if the critic's review is negative.
    """
    sound = [r for r in tried if r.stopped_by is None] or [r for r in tried if r.verdict is None]
    return sound[-1].action if sound else None
