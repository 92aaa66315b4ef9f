"""The interface of executors, and the jobs that they run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from rlgpt.errors import RunError


@dataclass(frozen=True)
class Job:
    """One job of an executor, as a value that can be pickled. A subclass of ``Job`` adds the data that the work needs.

    An executor may execute a job more than once, for example if the machine of the job is lost. A second execution of a
    job must therefore end with the same result as the first execution.

    :ivar number: number of the job, from 0.
    :ivar name: the name of the job in messages, which distinguishes it from the other jobs.
    :ivar folder: the folder of the job. A job with a folder has its own process, whose output is written to
        ``output.txt`` in this folder. A short job without output has the folder None, and one process executes many
        such jobs.
    :ivar home: number of the job's home. Jobs with the same home are executed one after another in the same process, as
        long as this process lives, so ``work`` can reuse what it made for an earlier job. With the home None, any
        process executes the job. A job with a home has no folder. Either all jobs of an executor have a home, or none.
    """

    number: int
    name: str
    folder: Path | None = None
    home: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Lost:
    """The outcome of a job whose process was killed, or whose machine was lost. ``message`` is one line of text."""

    message: str


J = TypeVar("J", bound=Job)
R = TypeVar("R")
T = TypeVar("T")

Work = Callable[[J], R]
"""A picklable function that executes one job. If a process executes several jobs with a home, it has one copy of the
function for all of them.
"""


class Executor(ABC, Generic[J, R]):
    """Runs jobs. Use an executor as a context manager; when the ``with`` block ends, no job of the executor is running
    any more.

    :param work: a function that executes one job. If ``work`` raises an exception, :meth:`as_completed` raises the same
        exception.
    """

    def __init__(self, work: Work[J, R]) -> None:
        self.work = work

    @property
    def workers(self) -> int:
        """Number of jobs that can run at the same time. The default is 1."""
        return 1

    @abstractmethod
    def submit(self, job: J) -> None:
        """Add ``job``. If the jobs run in other processes, ``submit`` returns before the job ends; else ``submit`` runs
        the job.

        :param job: a value that can be pickled.
        """

    def broadcast(self, value: T) -> Callable[[], T]:
        """Make a function that returns ``value``, for jobs with the same large value. An executor of several machines
        sends the value to each machine only once. By default, each job contains the value.

        :param value: a value that can be pickled.
        """
        return partial(_same, value)

    @abstractmethod
    def as_completed(self) -> Iterator[tuple[J, R | Lost]]:
        """Yield each submitted job with its outcome, in the order in which the jobs end, until no job is left. The
        caller may submit more jobs while it reads the outcomes.

        :returns: pairs of a job and its outcome, which is the result of ``work``, or :class:`Lost` if the process of
            the job was killed.
        :raises Exception: ``work`` raised this exception.
        """

    def results(self) -> Iterator[tuple[J, R]]:
        """Yield each submitted job with its result, as :meth:`as_completed` does.

        :raises RunError: the process of a job was killed, or its machine was lost.
        """
        for job, outcome in self.as_completed():
            if isinstance(outcome, Lost):
                raise RunError(f"{job.name} was lost: {outcome.message}. Resume the run, or start the command again.")
            yield job, outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


MakeExecutor = Callable[[Work[Any, Any]], Executor[Any, Any]]
"""A function that makes an executor of a function that executes jobs."""


def _same(value: T) -> T:
    return value
