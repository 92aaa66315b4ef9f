"""Adds the sub-goals of a kept graph to the skill library."""

from __future__ import annotations

from collections.abc import Mapping

from rlgpt.domain import Bundle, CodedFeatures, Provenance
from rlgpt.llm.exchange import read_exchanges
from rlgpt.loop import LoopContext
from rlgpt.loop.run import brief_of
from rlgpt.loop.skills import PROVED, Proved, add_proved, skill_name, with_skills
from rlgpt.planner.context import PlannedContext
from rlgpt.planner.records import KeptGraph
from rlgpt.planner.sub_task import Part
from rlgpt.skills.record import Result
from rlgpt.skills.testing import starts_of


def add_sub_goals(ctx: PlannedContext, kept: KeptGraph, parts: Mapping[str, LoopContext]) -> None:
    """Add each sub-goal of the kept graph to the skill library whose code alone is good enough. The selection episodes
    of the sub-goal become the recorded episodes of the skill, with the states in which they began.

    A sub-goal that acts by a policy, or whose start states cannot be saved, is not added.

    :param parts: for labels of sub-goals, the contexts in which the run worked on them.
    """
    if ctx.skills is None:
        return
    for node in kept.graph.in_order:
        part, index = parts.get(node.label), kept.actors.get(node.name)
        if part is None or index is None:
            continue
        start, best = part.plugin.sub_task(part.task), part.run.iterations()[index]
        evaluation = best.kept
        if not evaluation.is_code or not isinstance(start, Part) or start.way is not None:
            why = "its policy is not stored" if not evaluation.is_code else "its start states cannot be saved"
            ctx.observer.message(f"{node.name}: no skill is added, because {why}")
            continue
        starts = tuple(s.model_copy(update={"state": start.start_of(s.seed)}) for s in starts_of(evaluation))
        result = Result(has_success=True, starts=starts)
        if result.success is None or result.success.low < PROVED:
            ctx.observer.message(f"{node.name}: no skill is added, because its result is not good enough")
            continue
        exchanges = [e for e in read_exchanges(ctx.run.folder / "llm.jsonl") if e.request.key.task == part.task.id]
        last = node.name == kept.graph.last.name
        features = tuple(f for f in best.functions if isinstance(f, CodedFeatures))
        bundle = Bundle(
            actions=best.kept_actions,
            functions=features if last else (*features, node.predicate),
            setup=best.setup,
            plan=best.plan,
            world=ctx.world,
            tested_on=Provenance(
                task=ctx.task.id,
                versions=ctx.run.record.versions,
                success_rate=evaluation.success_rate,
                episodes=len(evaluation.episodes),
                primitive_steps=part.run.record.steps.total,
                model=", ".join(sorted({e.reply.model for e in exchanges})),
            ),
        )
        proved = Proved(
            name=skill_name(f"{ctx.task.id}_{node.name}"),
            goal=node.goal,
            best=best,
            kept=evaluation,
            bundle=bundle,
            result=result,
            steps=part.run.record.steps,
            exchanges=exchanges,
            predicate="" if last else node.name,
        )
        add_proved(ctx, with_skills(part, brief_of(part)), proved)
