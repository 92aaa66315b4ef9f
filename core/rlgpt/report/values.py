"""What a report shows, as values. They are made from run records, or by hand."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from rlgpt.domain import Evaluation, Iteration, Value
from rlgpt.report.stats import Interval


class MethodRow(Value):
    """One line of the table: a method over its runs. Step, token and dollar figures are means over runs."""

    method: str
    runs: int
    success: Interval | None = Field(description="over runs, each on fresh seeds; None: the task has no success")
    score: Interval | None = Field(default=None, description="of the mean score, over runs; None: the task has none")
    primitive_steps: float = Field(description="every step since a run began")
    steps_per_success: float | None = None
    tokens: float = 0
    dollars: float | None = Field(default=None, description="None if any price is unknown")


class Clip(Value):
    """A video inside the page."""

    caption: str
    mp4: bytes


class Story(Value):
    """One run, from its plan to its outcome."""

    title: str
    task: str
    goal: str = ""
    seed: int
    status: str
    reason: str = ""
    model: str = ""
    iterations: tuple[Iteration, ...]
    best: int | None = None
    outcome: Evaluation | None = Field(default=None, description="reported, on fresh seeds")
    greedy: Evaluation | None = None
    dead_loop_rate: float | None = None
    tokens: int = 0
    dollars: float | None = None
    clips: tuple[Clip, ...] = ()
    versions: Mapping[str, str] = Field(default_factory=dict)


class Comparison(Value):
    """Methods on one task.

    :ivar curves: an ``<svg>`` element made by :func:`rlgpt.report.curves.svg`, trusted; empty without curves.
    """

    title: str
    goal: str = ""
    rows: tuple[MethodRow, ...]
    curves: str = ""
    score_name: str = Field(default="", description="empty: the task has no score")
    has_success: bool = True


class Page(Value):
    """A whole report."""

    title: str
    note: str = ""
    comparisons: tuple[Comparison, ...] = ()
    stories: tuple[Story, ...] = ()
