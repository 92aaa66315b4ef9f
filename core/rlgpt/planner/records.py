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
"""The name of the stage that stores the kept graph: the graph with the best result on the selection seeds."""
REPORTED = "graph-report"
"""The name of the stage that stores the kept graph's episodes on the seeds of the report."""


class Learnt(Value):
    """The result of the work on a sub-goal so far.

    :ivar success: success rate of the best iteration, in episodes of this sub-goal alone; None if no iteration is
        finished.
    :ivar mode: whether the best iteration acts by code or by a policy.
    :ivar iterations: number of finished iterations.
    :ivar steps: primitive steps that the work on the sub-goal has taken.
    """

    success: float | None = None
    mode: str = ""
    iterations: int = Field(default=0, ge=0)
    steps: Steps = Steps()


class Starts(Value):
    """The states in which a sub-goal is first called. The states are found by playing episodes with the earlier
    sub-goals.

    :ivar own: number of episodes in which the sub-goal is called at the start of the episode.
    :ivar later: number of episodes in which the sub-goal is first called after the start of the episode.
    :ivar states: the states of the ``later`` episodes at the first call of the sub-goal; empty if the environment
        cannot save states.
    :ivar failed: earlier sub-goal -> number of episodes that ended while this earlier sub-goal was called.
    :ivar steps: primitive steps of all the episodes.
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
    """The decision about what the run does in one round.

    :ivar kind: in a round ``work``, both loops work on the sub-goal ``node``. In a round ``play``, the whole graph is
        played. In a round ``revise``, the planner changes the graph. With ``stop``, the run ends.
    :ivar steps: maximal number of primitive steps. For ``work``, the number limits the steps of the sub-goal over all
        rounds; for ``play``, the number limits the steps of this round.
    :ivar iterations: maximal number of iterations of the sub-goal over all rounds.
    :ivar reason: the reason for the decision, in words.
    """

    kind: Literal["work", "play", "revise", "stop"]
    node: Name | None = None
    steps: int = Field(default=0, ge=0)
    iterations: int = Field(default=0, ge=0)
    reason: str = ""


class Playing(Value):
    """The result of playing the whole graph on the selection seeds or on the seeds of the report.

    :ivar revision: the number of the graph. The first graph has the number 0; the n-th revision has the number n.
    :ivar actors: sub-goal -> index of the iteration whose code or policy plays this sub-goal.
    """

    revision: int
    actors: Mapping[str, int]
    played: GraphEvaluation
    steps: int = Field(default=0, ge=0, description="primitive steps of the run so far, these episodes included")


class KeptGraph(Value):
    """The graph that a run keeps.

    :ivar revision: the number of the graph, as in :class:`Playing`.
    :ivar actors: sub-goal -> index of the iteration whose code or policy plays this sub-goal.
    :ivar evidence: the figures about the graph from the episodes of the report. Before the report, the figures come
        from the episodes on the selection seeds.
    """

    revision: int
    graph: GoalGraph
    actors: Mapping[str, int]
    evidence: GraphEvidence
