"""What ``run.json`` holds: enough to know, resume and cite a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field

from rlgpt.domain import Evaluation, Steps, TaskId, Value

SCHEMA_VERSION: Final = 1

Status = Literal["running", "finished", "stopped", "failed"]
"""``stopped``: ended early but cleanly (a budget, the end of a transcript, an interrupt); ``failed``: by an error."""


class Report(Value):
    """What a run reports: its best iteration, on seeds nothing was selected on. Not part of the step budget."""

    iteration: int
    mode: Literal["policy", "code"]
    sampled: Evaluation
    greedy: Evaluation | None = None
    dead_loop_rate: float | None = Field(
        default=None, description="share of repairs that brought the same failure again; None without repairs"
    )


class RunRecord(Value):
    """One run, as its folder tells it.

    :ivar config: the resolved configuration, plain values; no keys.
    :ivar steps: primitive steps, all of them, as of the newest end of an iteration, start or end of a session.
    :ivar best: index of the best iteration on the selection seeds so far.
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
