"""The interface of executors, and the jobs of a sweep that they run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Job:
    """A job of a sweep: one run. A job is picklable. If a job is executed again, it resumes the run in its folder.

    :ivar number: number of the job in the sweep, from 0.
    :ivar name: the settings that distinguish the job from the other jobs of the sweep, for messages.
    :ivar config: the run's configuration as JSON-like values; None if it could not be composed.
    :ivar folder: the run's folder.
    :ivar fault: the reason if the configuration could not be composed.
    """

    number: int
    name: str
    config: Mapping[str, Any] | None
    folder: Path
    fault: str = ""


@dataclass(frozen=True)
class JobResult:
    """The result of a job.

    :ivar exit_status: 0, or the exit status of the error that ended the run.
    :ivar objective: the number that a sweep maximises: the reported success rate, 0 to 1; for a task without a success
        the mean score, negated if less is better. None if the run has no report.
    :ivar message: the error as one line of text.
    """

    exit_status: int
    objective: float | None = None
    message: str = ""


Work = Callable[[Job], JobResult]
"""A picklable function that runs one job. For every error that a user can cause, it returns a result."""


class Executor(ABC):
    """Runs jobs. Use an executor as a context manager; at the end of the block, no job is running.

    :param work: runs one job.
    """

    def __init__(self, work: Work) -> None:
        self.work = work

    @abstractmethod
    def submit(self, job: Job) -> None:
        """Add ``job``. If jobs run in other processes, this returns at once."""

    @abstractmethod
    def as_completed(self) -> Iterator[tuple[Job, JobResult]]:
        """Each submitted job with its result, in the order in which the jobs end. A job that crashes has a result."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None
