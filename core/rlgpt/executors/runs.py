"""The jobs of a sweep. Each job is one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlgpt.executors.base import Job, Lost


@dataclass(frozen=True)
class RunJob(Job):
    """One run. If the job is executed again, it resumes the run in its folder.

    :ivar name: the settings that distinguish the job from the other jobs of the sweep.
    :ivar folder: the run's folder.
    :ivar config: the run's configuration as JSON-like values; None if it could not be composed.
    :ivar fault: the reason if the configuration could not be composed.
    """

    config: Mapping[str, Any] | None = None
    fault: str = ""


@dataclass(frozen=True)
class JobResult:
    """The result of a run.

    :ivar exit_status: 0, or the exit status of the error that ended the run.
    :ivar objective: the number that a sweep maximises: the reported success rate, 0 to 1; for a task without a success
        the mean score, negated if less is better. None if the run has no report.
    :ivar message: the error as one line of text.
    """

    exit_status: int
    objective: float | None = None
    message: str = ""

    @classmethod
    def of(cls, outcome: JobResult | Lost) -> JobResult:
        """``outcome``, where a lost job has the exit status 1."""
        return cls(1, message=outcome.message) if isinstance(outcome, Lost) else outcome
