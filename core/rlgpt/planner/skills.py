"""Adds the sub-goals of a kept graph to the skill library."""

from __future__ import annotations

from rlgpt.domain import Bundle, CodedFeatures, CodedPredicate, SubGoal
from rlgpt.errors import RlgptError
from rlgpt.llm.exchange import read_exchanges
from rlgpt.loop import LoopContext
from rlgpt.loop.run import brief_of, tested_on
from rlgpt.loop.skills import PROVED, Proved, add_proved, skill_name, with_skills
from rlgpt.planner.context import PlannedContext
from rlgpt.planner.records import KeptGraph
from rlgpt.planner.rounds import Rounds
from rlgpt.planner.sub_task import Part
from rlgpt.skills.record import Result
from rlgpt.skills.testing import starts_of

_LONGEST = 40
"""Maximal length of the name of a skill."""


def add_sub_goals(ctx: PlannedContext, kept: KeptGraph, rounds: Rounds) -> None:
    """Add each sub-goal of the kept graph to the skill library whose code alone is good enough. The selection episodes
    of the sub-goal become the recorded episodes of the skill, with the states in which they began.

    A sub-goal is not added if it acts by a policy, if its start states cannot be saved, or if the run has worked on it
    more than once, because each time its episodes begin in other states.
    """
    if ctx.skills is None:
        return
    for node in kept.graph.in_order:
        part, index = rounds.parts.get(node.label), kept.actors.get(node.name)
        if part is None or index is None:
            continue
        try:
            why = _add(ctx, kept, node, part, index, visits=rounds.visits(node))
        except (RlgptError, ValueError) as fault:  # A name that occurs twice in a bundle is a ValueError.
            why = str(fault)
        if why:
            ctx.observer.message(f"{node.name}: no skill is added, because {why}")


def _add(ctx: PlannedContext, kept: KeptGraph, node: SubGoal, part: LoopContext, index: int, *, visits: int) -> str:
    """Add the code of a sub-goal to the skill library.

    :returns: the reason why it is not added; empty if it is added.
    """
    start, best = part.plugin.sub_task(part.task), part.run.iterations()[index]
    evaluation, last = best.kept, node.name == kept.graph.last.name
    if not evaluation.is_code:
        return "it acts by a policy"
    if not isinstance(start, Part) or start.way is not None:
        return "its start states cannot be saved"
    if visits > 1:
        return f"the run has worked on it {visits} times"
    starts = tuple(s.model_copy(update={"state": start.start_of(s.seed)}) for s in starts_of(evaluation))
    result = Result(has_success=True, starts=starts)
    if result.success is None or result.success.low < PROVED:
        return "its result is not good enough"
    exchanges = [e for e in read_exchanges(ctx.run.folder / "llm.jsonl") if e.request.key.task == part.task.id]
    features = tuple(f for f in best.functions if isinstance(f, CodedFeatures))
    taken = any(f.name == node.name for f in features)
    predicate = CodedPredicate(name=f"{node.name[:34]}_holds" if taken else node.name, doc="", source=node.done)
    bundle = Bundle(
        actions=best.kept_actions,
        functions=features if last else (*features, predicate),
        setup=best.setup,
        plan=best.plan,
        world=ctx.world,
        tested_on=tested_on(ctx, evaluation, part.run.record.steps, exchanges),
    )
    proved = Proved(
        name=_name(ctx.task.id, node.name),
        goal=node.goal,
        best=best,
        kept=evaluation,
        bundle=bundle,
        result=result,
        steps=part.run.record.steps,
        exchanges=exchanges,
        predicate="" if last else predicate.name,
        horizon=part.task.horizon,
    )
    add_proved(ctx, with_skills(part, brief_of(part)), proved)
    return ""


def _name(task: str, node: str) -> str:
    """The name of a sub-goal's skill. If it is too long, the task's part is shortened."""
    room = _LONGEST - len(node) - 1
    return skill_name(f"{skill_name(task)[:room].strip('_')}_{node}" if room > 0 else node)
