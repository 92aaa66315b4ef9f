"""The records that a run with a planner stores, in addition to the runs of its sub-goals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from rlgpt.domain import GoalGraph, GraphEvaluation, GraphEvidence, Name, Steps, Value
from rlgpt.plugin.states import EpisodeState

NODES = "nodes"
"""The subfolder that contains the runs of the sub-goals."""
KEPT = "graph"
"""The name of the stage that stores the graph that the run keeps."""
REPORTED = "graph-report"
"""The name of the stage that stores the episodes of this graph on the seeds of the report."""


class Learnt(Value):
    """The result of the work on a sub-goal so far.

    :ivar success: success rate of the best iteration, in episodes of this sub-goal alone; None if no iteration is
        finished.
    :ivar mode: how the best iteration acts: by code, or by a policy.
    :ivar iterations: number of finished iterations.
    :ivar steps: primitive steps that the work has taken.
    """

    success: float | None = None
    mode: str = ""
    iterations: int = Field(default=0, ge=0)
    steps: Steps = Steps()


class Starts(Value):
    """The states in which a sub-goal is first called, found by playing the sub-goals before it.

    :ivar own: number of episodes in which the sub-goal is called at the start of the episode.
    :ivar later: number of episodes in which it is first called after the start.
    :ivar states: the states in those later episodes; empty if the environment cannot save states.
    :ivar failed: sub-goal -> number of episodes that ended in a call of that sub-goal, before this one was called.
    :ivar steps: primitive steps of all these episodes.
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
    """What the run does in one round.

    :ivar kind: ``work``: both loops work on the sub-goal ``node``; ``play``: the whole graph is played; ``revise``: the
        planner changes the graph; ``stop``: the run ends.
    :ivar steps: maximal number of primitive steps: for ``work``, of the sub-goal over all rounds; for ``play``, of
        this round.
    :ivar iterations: maximal number of iterations of the sub-goal over all rounds.
    :ivar reason: why the round does this, in words.
    """

    kind: Literal["work", "play", "revise", "stop"]
    node: Name | None = None
    steps: int = Field(default=0, ge=0)
    iterations: int = Field(default=0, ge=0)
    reason: str = ""


class Playing(Value):
    """The result of playing the whole graph on the selection seeds or on the seeds of the report.

    :ivar revision: the graph's number: 0 for the first graph, n after the n-th revision.
    :ivar actors: sub-goal -> index of the iteration that plays it.
    """

    revision: int
    actors: Mapping[str, int]
    played: GraphEvaluation
    steps: int = Field(default=0, ge=0, description="primitive steps of the run so far, these episodes included")


class KeptGraph(Value):
    """The graph that a run keeps.

    :ivar revision: the graph's number, as in :class:`Playing`.
    :ivar actors: sub-goal -> index of the iteration that plays it.
    :ivar evidence: what the episodes of the report show; before the report, what those on the selection seeds show.
    """

    revision: int
    graph: GoalGraph
    actors: Mapping[str, int]
    evidence: GraphEvidence
