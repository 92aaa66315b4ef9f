"""A job for the executors of sweeps, in a module that a spawned process can import."""

from __future__ import annotations

import os
import signal

from rlgpt.executors import JobResult, RunJob


def work(job: RunJob) -> JobResult:
    """Print the job's number. A job named ``fails`` returns status 2, and a job named ``killed`` kills its process."""
    print(f"job {job.number}")
    if job.name == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    return JobResult(2, message="no") if job.name == "fails" else JobResult(0, objective=job.number / 4)
