"""Stores the best graph of a run, and makes the executor that plays this graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlgpt.loop import LoopContext
from rlgpt.planner.context import PlannedContext, actor_of, part_context
from rlgpt.planner.evidence import evidence_of
from rlgpt.planner.player import GraphPlayer
from rlgpt.planner.records import KEPT, KeptGraph, Starts

if TYPE_CHECKING:
    from rlgpt.planner.rounds import Rounds


def keep(ctx: PlannedContext, rounds: Rounds) -> KeptGraph | None:
    """Store the graph with the best result on the selection seeds. Of graphs with equal results on the selection seeds,
    the newest graph is stored.

    :returns: the stored graph; None if no graph of the run was played.
    """
    if not rounds.playings:
        return None
    ranked = list(enumerate(rounds.playings))
    _, best = max(ranked, key=lambda pair: (pair[1].played.evaluation.cautious_rank, pair[0]))
    graph = rounds.graph_of(best.revision)
    evidence = evidence_of(graph, best.played.episodes, rounds.learnt(graph))
    kept = KeptGraph(revision=best.revision, graph=graph, actors=best.actors, evidence=evidence)
    ctx.run.rewrite(KEPT, kept)
    return kept


def player_of(ctx: PlannedContext, kept: KeptGraph, **arguments: Any) -> GraphPlayer:
    """The executor that plays a kept graph.

    :param arguments: arguments of :class:`~rlgpt.planner.player.GraphPlayer`, such as ``on_frame``.
    """
    actors = {}
    for name, index in kept.actors.items():
        found = actor_of(part_of(ctx, kept, name), index)
        if found is not None:
            actors[name] = found[1]
    return GraphPlayer(ctx.plugin, ctx.task, kept.graph, actors, limits=ctx.sandbox_limits, **arguments)


def part_of(ctx: PlannedContext, kept: KeptGraph, name: str) -> LoopContext:
    """The context of a sub-goal in a kept graph, only for reading the finished iterations of the sub-goal. No episode
    can begin in this context.
    """
    return part_context(ctx, kept.graph, kept.graph[name], Starts(own=1), None)
