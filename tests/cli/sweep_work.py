"""A job for executors, in a module that a spawned process can import."""

from __future__ import annotations

import os
import signal

from rlgpt.executors import Job, JobResult


def work(job: Job) -> JobResult:
    """A job that prints. Its name decides whether it fails or is killed."""
    print(f"job {job.number}")
    if job.name == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    return JobResult(2, message="no") if job.name == "fails" else JobResult(0, objective=job.number / 4)
