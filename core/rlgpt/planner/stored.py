"""Reads what a run with a planner has stored. This module does not import the loops, so reading the results of a run
takes little time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from rlgpt.domain import GoalGraph, SubGoal, best_of, part_prefix
from rlgpt.planner.evidence import evidence_of
from rlgpt.planner.records import KEPT, NODES, Decision, KeptGraph, Learnt, Playing
from rlgpt.runs import Run


def kept_of(run: Run) -> KeptGraph | None:
    """The graph that ``run`` keeps; None if ``run`` keeps no graph.

    :raises RunError: the file of the graph cannot be read.
    """
    return run.stage(KEPT, KeptGraph)


def newest(run: Run) -> KeptGraph | None:
    """The graph that a run keeps or, while the run has not ended, the newest graph with the evidence so far.

    :returns: the graph with its evidence; None if the run does not divide its task into sub-goals.
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
    """The run of a sub-goal; None if the run of this sub-goal has not begun."""
    folder = run.files.subfolder(f"{NODES}/{node.label}")
    return Run.open(folder) if Run.exists(folder) else None


def playings_of(run: Run) -> Iterator[Playing]:
    """All records of episodes in which the run played the whole graph on the selection seeds, oldest first."""
    for number in itertools.count():
        if run.stage(f"rounds/{number}/decision", Decision) is None:
            return
        if (playing := run.stage(f"rounds/{number}/playing", Playing)) is not None:
            yield playing


def graph_curve(run: Run) -> list[tuple[float, float]]:
    """The points of a learning curve of the whole graph of a run. Each evaluation of the graph on the selection seeds
    gives one point of the learning curve, with the number of primitive steps of the run so far and the success rate.
    """
    return [(p.steps, p.played.evaluation.success_rate) for p in playings_of(run)]


def learnt_in(run: Run) -> Learnt:
    """The result of the work on a sub-goal so far.

    :param run: the run of the sub-goal.
    """
    history = run.iterations()
    if not history:
        return Learnt(steps=run.record.steps)
    kept = best_of(history).kept
    mode = "code" if kept.is_code else kept.mode
    return Learnt(success=kept.success_rate, mode=mode, iterations=len(history), steps=run.record.steps)


def part_id(whole: str, node: SubGoal) -> str:
    """The task id of a sub-goal.

    :param whole: the id of the whole task, which the graph divides.
    """
    return f"{part_prefix(whole)}{node.label}"
