"""Derives from played episodes how well each sub-goal works, and which needs of a graph are superfluous or missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rlgpt.domain import Edge, GoalGraph, GraphEpisode, GraphEvidence, SubGoalFigures
from rlgpt.planner.records import Learnt

MISSING_CALLS = 2
"""Minimal number of calls for a missing need. A sub-goal A counts as a missing need of a sub-goal B if every successful
call of B began while A held, and every failed call of B began while A did not hold. There must be at least this number
of successful calls and of failed calls.
"""


def evidence_of(graph: GoalGraph, episodes: Sequence[GraphEpisode], learnt: Mapping[str, Learnt]) -> GraphEvidence:
    """Compute the evidence for a revision of a graph from the episodes in which the graph was played.

    :param learnt: for each sub-goal, the result of the work on this sub-goal.
    """
    last = {}
    for episode in episodes:
        if not episode.success and episode.calls:
            last[episode.calls[-1].node] = episode.view
    return GraphEvidence(
        episodes=len(episodes),
        successes=sum(e.success for e in episodes),
        figures=tuple(_figures(graph, episodes, learnt)),
        edges=(*_unneeded(graph, episodes), *_missing(graph, episodes)),
        furthest=last,
        disagreements=sum(not e.agrees for e in episodes),
    )


def failures(episodes: Sequence[GraphEpisode]) -> dict[str, int]:
    """Count the failed episodes by the sub-goal of their last call. Failed episodes without a call are left out.

    :returns: for each sub-goal, its number of failed episodes; the sub-goal with the most failed episodes comes first.
    """
    return dict(Counter(e.calls[-1].node for e in episodes if not e.success and e.calls).most_common())


def _figures(
    graph: GoalGraph, episodes: Sequence[GraphEpisode], learnt: Mapping[str, Learnt]
) -> Iterator[SubGoalFigures]:
    for node in graph.in_order:
        calls = [call for e in episodes for call in e.calls if call.node == node.name]
        known = learnt.get(node.name, Learnt())
        called = [any(c.node == node.name for c in e.calls) for e in episodes]
        blocked = [not (was or e.success or node.standing) for was, e in zip(called, episodes, strict=True)]
        yield SubGoalFigures(
            name=node.name,
            calls=len(calls),
            done=sum(c.ended == "done" for c in calls),
            steps=sum(c.steps for c in calls),
            ended=Counter(c.ended for c in calls),
            alone=known.success,
            mode=known.mode,
            iterations=known.iterations,
            worked=known.steps.total,
            blocked=sum(b and node.name not in e.reached for b, e in zip(blocked, episodes, strict=True)),
        )


def _unneeded(graph: GoalGraph, episodes: Sequence[GraphEpisode]) -> Iterator[Edge]:
    for node in graph.nodes:
        for need in node.needs:
            times = [(e.reached.get(need), e.reached[node.name]) for e in episodes if node.name in e.reached]
            if count := sum(before is None or before > held for before, held in times):
                yield Edge(kind="unneeded", need=need, node=node.name, count=count)


def _missing(graph: GoalGraph, episodes: Sequence[GraphEpisode]) -> Iterator[Edge]:
    for node in graph.nodes:
        calls = [c for e in episodes for c in e.calls if c.node == node.name and c.ended != "interrupted"]
        done, failed = [c for c in calls if c.ended == "done"], [c for c in calls if c.ended != "done"]
        if len(done) < MISSING_CALLS or len(failed) < MISSING_CALLS:
            continue
        for other in graph.nodes:
            if other.name in (node.name, graph.last.name, *node.needs) or other.standing:
                continue
            if all(other.name in c.holding for c in done) and not any(other.name in c.holding for c in failed):
                yield Edge(kind="missing", need=other.name, node=node.name, count=len(done))
