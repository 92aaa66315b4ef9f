"""Jobs for the tests of executors, in a module that other processes can import."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

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


def square(job: Task) -> int:
    """The square of the job's value. A negative value is an error."""
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
