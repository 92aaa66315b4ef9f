"""The values that a report shows, computed from the records of runs."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from rlgpt.domain import Evaluation, GraphEvidence, Iteration, Value
from rlgpt.report.stats import Interval


class MethodRow(Value):
    """One line of the table of methods: the results of a method. Steps, tokens and dollars of a method are means over
    its runs.
    """

    method: str
    runs: int
    success: Interval | None = Field(
        description="success rate over runs, each on fresh seeds; None: the task has no success"
    )
    score: Interval | None = Field(default=None, description="mean score over runs; None: the task has no score")
    primitive_steps: float = Field(description="all primitive steps since a run began")
    steps_per_success: float | None = None
    tokens: float = 0
    dollars: float | None = Field(default=None, description="cost in dollars; None if any price is unknown")


class Clip(Value):
    """A video of the run.

    :ivar mp4: the video, which is embedded in the page; empty if the page has only the caption.
    """

    caption: str
    mp4: bytes = b""


class PartStory(Value):
    """PartStory is the work of a run on one sub-goal, as the report shows it."""

    name: str
    goal: str
    facts: str
    done: str
    iterations: tuple[Iteration, ...]
    best: int | None = None
    steps: int = 0
    tokens: int = 0


class GraphStory(Value):
    """A graph of sub-goals in the report.

    :ivar drawing: the drawing as a trusted ``<svg>`` element of :func:`rlgpt.report.graph.markup`.
    """

    thoughts: str = ""
    drawing: str
    evidence: GraphEvidence
    parts: tuple[PartStory, ...]


class Story(Value):
    """One run in the report, in order of time: plan, code, learning and result."""

    title: str
    task: str
    goal: str = ""
    rule: str = Field(default="", description="the rule of success of an environment without a plugin")
    tried: str = Field(default="", description="successes in the trial of this rule")
    seed: int
    status: str
    reason: str = ""
    model: str = ""
    iterations: tuple[Iteration, ...]
    best: int | None = None
    outcome: Evaluation | None = Field(default=None, description="the reported evaluation, on fresh seeds")
    dead_loop_rate: float | None = None
    tokens: int = 0
    dollars: float | None = None
    clips: tuple[Clip, ...] = ()
    versions: Mapping[str, str] = Field(default_factory=dict)
    steps: int = 0
    graph: GraphStory | None = Field(default=None, description="the sub-goals, if a planner divided the task")


class Comparison(Value):
    """The comparison of methods on one task.

    :ivar curves: the learning curves as a trusted ``<svg>`` element that :func:`rlgpt.report.curves.svg` made; empty if
        no run has a curve.
    """

    title: str
    rows: tuple[MethodRow, ...]
    curves: str = ""
    score_name: str = Field(default="", description="name of the score; empty: the task has no score")
    has_success: bool = True


class Page(Value):
    """Page holds all values that the page of a report shows."""

    title: str
    note: str = ""
    comparisons: tuple[Comparison, ...] = ()
    stories: tuple[Story, ...] = ()
