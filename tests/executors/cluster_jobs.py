"""Jobs for the tests of executors, in a module that other processes can import."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlgpt.executors import Job


@dataclass(frozen=True)
class Task(Job):
    """A job with a number, and with files by which it communicates with the test.

    :ivar says: a file that receives one line for each execution: the process that executes the job.
    :ivar waits_for: a named pipe. The first execution waits until somebody writes to it.
    :ivar kills: whether the first execution kills its process.
    """

    value: int = 0
    says: Path | None = None
    waits_for: Path | None = None
    kills: bool = False


@dataclass(frozen=True)
class Broadcast(Task):
    """A job whose value is the result of a function."""

    source: Callable[[], Any] = int


class Unpicklable(int):
    """A number whose square cannot be pickled."""

    def __pow__(self, other: Any) -> Any:
        return lambda: other


def unpicklable() -> int:
    return Unpicklable(1)


def letters_of_the_key() -> int:
    return len(os.environ.get("CANARY_API_KEY", ""))


def square(job: Task) -> int:
    """The square of the job's value. A negative value is an error."""
    if isinstance(job, Broadcast):
        square: int = job.source() ** 2
        return square
    executions = executions_of(job.says)
    if job.says is not None:
        with job.says.open("a") as file:
            file.write(f"{os.getpid()}\n")
    print(f"job {job.number}")
    if job.waits_for is not None and not executions:
        job.waits_for.read_text()
    if job.kills and not executions:
        os.kill(os.getpid(), signal.SIGKILL)
    if job.value < 0:
        raise ValueError(f"{job.value} is negative")
    return job.value**2


def executions_of(path: Path | None) -> list[int]:
    """The processes that executed a job, oldest first."""
    return [] if path is None or not path.exists() else [int(line) for line in path.read_text().split()]
