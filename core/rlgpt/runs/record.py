"""The content of ``run.json``, which identifies a run and is sufficient to resume the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field

from rlgpt.domain import Evaluation, Mode, Steps, TaskId, Value

SCHEMA_VERSION: Final = 1

Status = Literal["running", "finished", "stopped", "failed"]
"""The state of a run. A run is ``stopped`` if it ended early for an expected reason (a spent budget, the end of a
recording, an interrupt). A run is ``failed`` if an error ended it.
"""


class Report(Value):
    """The report of a run, which is an evaluation of the run's best iteration on seeds that no selection used. The
    steps of the report are not part of the run's budget.

    :ivar mode: whether the selection kept a policy or code; tuned code counts as code.
    :ivar acting: the mode that the selection chose. None in a run record of an earlier version of rlgpt; the mode was
        then always ``sampled``.
    :ivar sampled: evaluation of the policy in the mode ``sampled``, or evaluation of the code.
    """

    iteration: int
    mode: Literal["policy", "code"]
    acting: Mode | None = None
    sampled: Evaluation
    sharpened: Evaluation | None = None
    greedy: Evaluation | None = None
    dead_loop_rate: float | None = Field(
        default=None, description="share of repairs that failed in the same way as before; None without repairs"
    )

    @property
    def kept(self) -> Evaluation:
        """The evaluation that counts as the result of the run. The kept evaluation is that of the code, or that of the
        policy in the mode that the selection chose.
        """
        chosen = {"sharpened": self.sharpened, "greedy": self.greedy}.get(self.acting or "sampled")
        return chosen or self.sampled


class RunRecord(Value):
    """The record of one run.

    :ivar config: the run's configuration as JSON-like values, without API keys. A reference such as ``${...}`` in the
        configuration is not resolved when the run record is read.
    :ivar steps: all primitive steps so far. A run in progress updates the number of primitive steps every few seconds.
    :ivar best: index of the iteration that is the best on the selection seeds so far. The field ``best`` is only for
        people who read the file; commands do not use it.
    :ivar seal: a code that proves that this user made the run or approved its configuration (:mod:`rlgpt.runs.seal`).
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
    success_rate: float | None = Field(
        default=None, description="reported success rate in the selected mode, on fresh seeds"
    )
    score: float | None = Field(default=None, description="mean score in the report; None if the task has no score")
    seal: str = ""
