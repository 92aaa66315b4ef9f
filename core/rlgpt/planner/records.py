"""What a run with a planner stores, besides the runs of its sub-goals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from rlgpt.domain import GoalGraph, GraphEvaluation, GraphEvidence, Name, Steps, Value
from rlgpt.plugin.states import EpisodeState

NODES = "nodes"
"""Subfolder of the runs of the sub-goals."""
KEPT = "graph"
"""Stage with the graph that the run keeps."""
REPORTED = "graph-report"
"""Stage with the episodes of this graph on the seeds of the report."""


class Learnt(Value):
    """What was learnt for a sub-goal so far.

    :ivar success: success rate of its best iteration in episodes of its own; None if no iteration is finished.
    :ivar mode: how the best iteration acts.
    """

    success: float | None = None
    mode: str = ""
    iterations: int = Field(default=0, ge=0)
    steps: Steps = Steps()


class Starts(Value):
    """Where calls of a sub-goal began, in episodes that the sub-goals before it played.

    :ivar own: number of episodes in which it is called at the start of the task.
    :ivar later: number of episodes in which it is called later.
    :ivar states: the states of those, where the environment can save them.
    :ivar failed: sub-goal -> number of episodes that ended in a call of it.
    """

    own: int = Field(default=0, ge=0)
    later: int = Field(default=0, ge=0)
    states: tuple[EpisodeState, ...] = ()
    failed: Mapping[str, int] = Field(default_factory=dict)
    steps: int = Field(default=0, ge=0)

    @property
    def reached(self) -> int:
        return self.own + self.later


class Decision(Value):
    """What a round does.

    :ivar kind: ``work``: the two loops of ``node``; ``play``: episodes of the whole graph; ``revise``: the planner
        changes the graph; ``stop``: the run ends.
    :ivar steps: primitive steps that the round may take.
    :ivar iterations: of the sub-goal, in all.
    :ivar reason: in words.
    """

    kind: Literal["work", "play", "revise", "stop"]
    node: Name | None = None
    steps: int = Field(default=0, ge=0)
    iterations: int = Field(default=0, ge=0)
    reason: str = ""


class Playing(Value):
    """Episodes of the whole graph on the selection seeds.

    :ivar revision: number of the graph.
    :ivar actors: sub-goal -> index of the iteration that plays it.
    """

    revision: int
    actors: Mapping[str, int]
    played: GraphEvaluation
    steps: int = Field(default=0, ge=0, description="primitive steps of the run so far, these episodes included")


class KeptGraph(Value):
    """The graph that a run keeps, with the iterations that play its sub-goals.

    :ivar evidence: of the episodes of the report; before the report, of those on the selection seeds.
    """

    revision: int
    graph: GoalGraph
    actors: Mapping[str, int]
    evidence: GraphEvidence
