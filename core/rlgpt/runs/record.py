"""What ``run.json`` holds: enough to identify, resume and cite a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field

from rlgpt.domain import Evaluation, Mode, Steps, TaskId, Value

SCHEMA_VERSION: Final = 1

Status = Literal["running", "finished", "stopped", "failed"]
"""``stopped``: ended early but cleanly (a budget, the end of a transcript, an interrupt); ``failed``: by an error."""


class Report(Value):
    """What a run reports: its best iteration on seeds that no selection used. Not part of the step budget.

    :ivar acting: how the selection chose to act; None in a record of an earlier version, which always sampled.
    :ivar sampled: evaluation of the policy's samples, or of the code.
    """

    iteration: int
    mode: Literal["policy", "code"]
    acting: Mode | None = None
    sampled: Evaluation
    sharpened: Evaluation | None = None
    greedy: Evaluation | None = None
    dead_loop_rate: float | None = Field(
        default=None, description="share of repairs that brought the same failure again; None without repairs"
    )

    @property
    def kept(self) -> Evaluation:
        """What the run is judged by: the code, or the policy as the selection chose to act."""
        chosen = {"sharpened": self.sharpened, "greedy": self.greedy}.get(self.acting or "sampled")
        return chosen or self.sampled


class RunRecord(Value):
    """The record of one run.

    :ivar config: the configuration, plain values without keys. Nothing in it is resolved again.
    :ivar steps: all primitive steps so far; a run that works writes them every few seconds.
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
    success_rate: float | None = Field(default=None, description="reported, as it acts best, on fresh seeds")
    score: float | None = Field(default=None, description="mean score in the report, where the task has one")
    seal: str = ""
