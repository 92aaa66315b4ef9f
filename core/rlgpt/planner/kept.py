"""The graph that a run keeps, and its player."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlgpt.domain import GoalGraph, SubGoal
from rlgpt.loop import LoopContext
from rlgpt.planner.context import PlannedContext, actor_of, learnt_in, part_context
from rlgpt.planner.evidence import evidence_of
from rlgpt.planner.player import GraphPlayer
from rlgpt.planner.records import KEPT, NODES, Decision, KeptGraph, Playing, Starts
from rlgpt.runs import Run

if TYPE_CHECKING:
    from rlgpt.planner.rounds import Rounds


def keep(ctx: PlannedContext, rounds: Rounds) -> KeptGraph | None:
    """Store the best graph on the selection seeds; of equal ones the newest. None if no graph was played."""
    if not rounds.playings:
        return None
    ranked = list(enumerate(rounds.playings))
    _, best = max(ranked, key=lambda pair: (pair[1].played.evaluation.rank, pair[0]))
    graph = rounds.graph_of(best.revision)
    evidence = evidence_of(graph, best.played.episodes, rounds.learnt(graph))
    kept = KeptGraph(revision=best.revision, graph=graph, actors=best.actors, evidence=evidence)
    ctx.run.rewrite(KEPT, kept)
    return kept


def kept_of(run: Run) -> KeptGraph | None:
    """The graph that ``run`` keeps; None if it has none.

    :raises RunError: its file cannot be read.
    """
    return run.stage(KEPT, KeptGraph)


def newest(run: Run) -> KeptGraph | None:
    """The graph that the run keeps; before its end, the newest graph with what is known of it so far. None if the task
    is not divided.

    :raises RunError: a file of the run cannot be read.
    """
    if (kept := kept_of(run)) is not None:
        return kept
    graphs = [g for number in range(len(run.files.names("plan"))) if (g := run.stage(f"plan/{number}", GoalGraph))]
    if not graphs or len(graphs[-1].nodes) == 1:
        return None
    graph, revision = graphs[-1], len(graphs) - 1
    played = [p for p in playings_of(run) if p.revision == revision]
    episodes = played[-1].played.episodes if played else ()
    learnt = {n.name: learnt_in(part) for n in graph.nodes if (part := part_run(run, n)) is not None}
    evidence = evidence_of(graph, episodes, learnt)
    return KeptGraph(revision=revision, graph=graph, actors=played[-1].actors if played else {}, evidence=evidence)


def part_run(run: Run, node: SubGoal) -> Run | None:
    """The run of a sub-goal; None if it has not begun."""
    folder = run.files.subfolder(f"{NODES}/{node.label}")
    return Run.open(folder) if Run.exists(folder) else None


def playings_of(run: Run) -> Iterator[Playing]:
    """The episodes of the whole graph on the selection seeds, oldest first."""
    for number in itertools.count():
        if run.stage(f"rounds/{number}/decision", Decision) is None:
            return
        if (playing := run.stage(f"rounds/{number}/playing", Playing)) is not None:
            yield playing


def player_of(ctx: PlannedContext, kept: KeptGraph, **arguments: Any) -> GraphPlayer:
    """The player of a kept graph.

    :param arguments: arguments of :class:`~rlgpt.planner.player.GraphPlayer`, such as ``on_frame``.
    """
    actors = {}
    for name, index in kept.actors.items():
        found = actor_of(part_of(ctx, kept, name), index)
        if found is not None:
            actors[name] = found[1]
    return GraphPlayer(ctx.plugin, ctx.task, kept.graph, actors, limits=ctx.sandbox_limits, **arguments)


def part_of(ctx: PlannedContext, kept: KeptGraph, name: str) -> LoopContext:
    """The context in which the finished iterations of a sub-goal can be read."""
    return part_context(ctx, kept.graph, kept.graph[name], Starts(own=1), None)
