"""The inner loop, which writes, rehearses and repairs the code of a plan until the code works or no repairs are
left.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.agents.base import Brief, History
from rlgpt.agents.history_text import kept_action
from rlgpt.domain import ActionPlan, CodedAction, Rehearsal, Score
from rlgpt.loop.candidates import outcome
from rlgpt.loop.code import Code, Tried
from rlgpt.loop.context import LoopContext
from rlgpt.loop.inner_actions import ActionLoop
from rlgpt.loop.inner_functions import AFTER_ACTIONS, BEFORE_ACTIONS, FunctionLoop


def write_code(ctx: LoopContext, brief: Brief, plan: ActionPlan, history: History, folder: str) -> tuple[Code, Tried]:
    """Write, rehearse and repair the code of ``plan``. Features and predicates are written first, then coded actions,
    then reward terms.

    :param folder: the part of the run's folder that has the stages of ``plan``.
    :returns: the code that works, and all attempts at code.
    """
    functions = FunctionLoop(ctx, brief, plan, history, folder)
    functions.write(BEFORE_ACTIONS)
    briefed = brief.model_copy(update={"functions": functions.kept})
    actions, tried = _write_actions(ctx, briefed, plan, history, folder)
    functions.write(AFTER_ACTIONS, Code(actions, functions.kept))
    return Code(actions, functions.kept), Tried(tried, functions.tried)


def _write_actions(
    ctx: LoopContext, brief: Brief, plan: ActionPlan, history: History, folder: str
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
            tried = ActionLoop(ctx, brief, plan, sub_action, tuple(kept), history, folder).write()
            attempts[sub_action.name] = tried
            best = _best(tried, ctx.task.score)
            if best is None:
                ctx.observer.message(f"{sub_action.name} is left out: a rehearsal of each attempt ended with an error")
            else:
                kept.append(best)
                if best != tried[-1].action:
                    ctx.observer.message(
                        f"{sub_action.name}: an earlier attempt is used, because the last one is not better"
                    )
    return tuple(kept), attempts


def _best(tried: Sequence[Rehearsal], score: Score | None) -> CodedAction | None:
    """The coded action of the newest attempt that no verdict stopped in any episode. If a verdict stopped every attempt
    in some episode, the action of the newest attempt whose trace has no verdict is used.

    A repair can make an action worse. If the newest attempt does not work, an attempt that ran is preferred to one that
    could not start. If the newest attempt that ran was still running when each episode ended, all attempts of this kind
    are compared by their successes, and then by their mean score. The best one is used; of equal ones, the newest.

    The policy may use the coded action even if the critic's review is negative.
    """
    sound = [r for r in tried if r.stopped_by is None] or [r for r in tried if r.verdict is None]
    if not sound:
        return None
    if sound[-1].works:
        return sound[-1].action
    ran = [r for r in sound if r.exercised] or sound
    whole = [r for r in ran if r.ran_to_the_end]
    best = max(whole, key=lambda r: (outcome(r, score), r.attempt)) if ran[-1] in whole else ran[-1]
    return best.action
