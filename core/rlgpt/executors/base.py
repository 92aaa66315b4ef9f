"""Jobs of a sweep, and the ABC of what runs them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Job:
    """One run of a sweep. It is picklable, and running it again resumes the run in its folder.

    :ivar number: counts the jobs of the sweep from 0.
    :ivar name: what distinguishes the job from the others, for messages.
    :ivar config: the run's configuration as plain values; None where it could not be composed.
    :ivar folder: the run's folder.
    :ivar fault: why the configuration could not be composed.
    """

    number: int
    name: str
    config: Mapping[str, Any] | None
    folder: Path
    fault: str = ""


@dataclass(frozen=True)
class JobResult:
    """How a job ended.

    :ivar exit_status: 0, or the exit status of the error that ended the run.
    :ivar objective: more is better: the reported success rate, 0 to 1; of a task without a success the mean score,
        negated where less is better. None where the run reported none.
    :ivar message: the error, in one line.
    """

    exit_status: int
    objective: float | None = None
    message: str = ""


Work = Callable[[Job], JobResult]
"""Runs one job. Picklable; it returns a result for every error that a user can cause."""


class Executor(ABC):
    """Runs jobs. Use it as a context manager: at its end nothing runs any more.

    :param work: runs one job.
    """

    def __init__(self, work: Work) -> None:
        self.work = work

    @abstractmethod
    def submit(self, job: Job) -> None:
        """Adds ``job``. Returns at once where jobs run elsewhere."""

    @abstractmethod
    def as_completed(self) -> Iterator[tuple[Job, JobResult]]:
        """Each submitted job with its result, in the order in which the jobs end. A job that crashes has a result."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None
