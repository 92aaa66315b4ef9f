"""What ``run.json`` holds: enough to identify, resume and cite a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field

from rlgpt.domain import Evaluation, Steps, TaskId, Value

SCHEMA_VERSION: Final = 1

Status = Literal["running", "finished", "stopped", "failed"]
"""``stopped``: ended early but cleanly (a budget, the end of a transcript, an interrupt); ``failed``: by an error."""


class Report(Value):
    """What a run reports: its best iteration on seeds that served no selection. Not part of the step budget."""

    iteration: int
    mode: Literal["policy", "code"]
    sampled: Evaluation
    greedy: Evaluation | None = None
    dead_loop_rate: float | None = Field(
        default=None, description="share of repairs that brought the same failure again; None without repairs"
    )


class RunRecord(Value):
    """The record of one run.

    :ivar config: the configuration, plain values without keys. Nothing in it is resolved again.
    :ivar steps: all primitive steps up to the newest end of an iteration, start or end of a session.
    :ivar best: index of the best iteration on the selection seeds so far. For people; commands compute it.
    :ivar seal: shows that this user made the run or approved its configuration (:mod:`rlgpt.runs.seal`).
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    task: TaskId
    seed: int
    created: str
    config: Mapping[str, Any] = Field(default_factory=dict)
    versions: Mapping[str, str] = Field(default_factory=dict)
    status: Status = "running"
    reason: str = ""
    steps: Steps = Steps()
    iterations: int = Field(default=0, description="finished iterations")
    best: int | None = None
    success_rate: float | None = Field(default=None, description="reported, sampled, on fresh seeds")
    score: float | None = Field(default=None, description="mean score in the report, where the task has one")
    seal: str = ""
