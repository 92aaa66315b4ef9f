"""The content of ``run.json``, which identifies a run and is sufficient to resume the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field, model_validator

from rlgpt.domain import Evaluation, Steps, TaskId, Value

SCHEMA_VERSION: Final = 1

Status = Literal["running", "finished", "stopped", "failed"]
"""The state of a run. A run is ``stopped`` if it ended early for an expected reason (a spent budget, the end of a
recording, an interrupt). A run is ``failed`` if an error ended it.
"""


_POLICY_MODES = ("sampled", "sharpened", "greedy")


class Report(Value):
    """The report of a run, which is an evaluation of the run's best iteration on seeds that no selection used. The
    steps of the report are not part of the run's budget.

    :ivar evaluation: evaluation of what the selection kept: the code, the tuned code, or the policy in the mode that
        the selection chose.
    """

    iteration: int
    evaluation: Evaluation
    dead_loop_rate: float | None = Field(
        default=None, description="share of repairs that failed in the same way as before; None without repairs"
    )

    @model_validator(mode="before")
    @classmethod
    def _read_earlier(cls, values: Any) -> Any:
        """Read a report of an earlier version of rlgpt, which has an evaluation of each mode of the policy."""
        if not isinstance(values, dict) or "sampled" not in values:
            return values
        acting = values.get("acting")
        kept = (values.get(acting) if acting in _POLICY_MODES else None) or values["sampled"]
        return {**{k: v for k, v in values.items() if k not in ("mode", "acting", *_POLICY_MODES)}, "evaluation": kept}


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
