"""The jobs of a sweep. Each job is one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlgpt.executors.base import Job, Lost


@dataclass(frozen=True)
class RunJob(Job):
    """A job of a sweep that executes one run. If a job is executed again, it resumes the run in its folder.

    :ivar name: the settings that distinguish the job from the other jobs of the sweep.
    :ivar folder: the run's folder.
    :ivar config: the configuration of the run as values of JSON; None if the configuration could not be composed.
    :ivar fault: the reason why the configuration of the run could not be composed; empty if it could be composed.
    """

    config: Mapping[str, Any] | None = None
    fault: str = ""


@dataclass(frozen=True)
class JobResult:
    """The result of a run.

    :ivar exit_status: exit status of the error that ended the run, or 0 if the run ended without an error.
    :ivar objective: the number that a sweep maximises; None if the run has no report. For a task with a success, the
        objective is the success rate in the report, 0 to 1. For a task without a success, the objective is the mean
        score, negated if a lower score is better.
    :ivar message: the error as one line of text.
    """

    exit_status: int
    objective: float | None = None
    message: str = ""

    @classmethod
    def of(cls, outcome: JobResult | Lost) -> JobResult:
        """The result of a job with this outcome. A lost job has the exit status 1."""
        return cls(1, message=outcome.message) if isinstance(outcome, Lost) else outcome
