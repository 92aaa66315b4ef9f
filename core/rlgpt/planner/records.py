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

    :ivar success: success rate of the best iteration for the sub-goal, in episodes that play this sub-goal alone; None
        if no iteration is finished.
    :ivar mode: whether the best iteration for the sub-goal acts by code or by a policy.
    :ivar iterations: number of finished iterations for the sub-goal.
    :ivar steps: number of primitive steps that the work on the sub-goal has taken.
    """

    success: float | None = None
    mode: str = ""
    iterations: int = Field(default=0, ge=0)
    steps: Steps = Steps()


class Starts(Value):
    """The states of the environment in which a sub-goal is first called. The start states of a sub-goal are found by
    playing episodes with the other sub-goals of the graph.

    :ivar own: number of episodes in which the sub-goal is called at the start of the episode.
    :ivar later: number of episodes in which the sub-goal is first called after the start of the episode.
    :ivar states: the saved states of the ``later`` episodes at the first call of the sub-goal; empty if the environment
        cannot save states.
    :ivar failed: for each other sub-goal, the number of failed episodes whose last call was a call of this other
        sub-goal.
    :ivar steps: number of primitive steps of the episodes that were played to find the start states.
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
    """The decision about what a run with a planner does in one of its rounds.

    :ivar kind: in a round of kind ``work``, both loops work on the sub-goal ``node``. In a round of kind ``play``, the
        whole graph is played. In a round of kind ``revise``, the planner changes the graph. The kind ``stop`` ends the
        run.
    :ivar steps: maximal number of primitive steps of the round. In a round of kind ``work``, ``steps`` limits the steps
        of the sub-goal over all rounds; in a round of kind ``play``, it limits the steps of this round alone.
    :ivar iterations: maximal number of iterations of the sub-goal over all rounds.
    :ivar reason: the reason for the decision, as a text.
    """

    kind: Literal["work", "play", "revise", "stop"]
    node: Name | None = None
    steps: int = Field(default=0, ge=0)
    iterations: int = Field(default=0, ge=0)
    reason: str = ""


class Playing(Value):
    """The result of playing the whole graph on the selection seeds or on the seeds of the report.

    :ivar revision: the number of the revision of the graph that was played. The first graph has the number 0; the n-th
        revision has the number n.
    :ivar actors: for each sub-goal, the index of the iteration whose code or policy plays this sub-goal.
    """

    revision: int
    actors: Mapping[str, int]
    played: GraphEvaluation
    steps: int = Field(default=0, ge=0, description="primitive steps of the run so far, these episodes included")


class KeptGraph(Value):
    """The graph that a run keeps.

    :ivar revision: the number of the revision of the kept graph, as in :class:`Playing`.
    :ivar actors: for each sub-goal, the index of the iteration whose code or policy plays this sub-goal.
    :ivar evidence: the evidence about the graph from the episodes of the report; before the report, from the episodes
        on the selection seeds.
    """

    revision: int
    graph: GoalGraph
    actors: Mapping[str, int]
    evidence: GraphEvidence
