"""Writes the output of a job to a file in the folder of the job, and prints the messages about jobs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from rlgpt.executors.base import J, Job, Lost, R, Work

OUTPUT = "output.txt"


def begins(job: Job) -> None:
    """Tell the user that ``job`` begins, if the job has a folder."""
    if job.folder is not None:
        _tell(job, "begins")


def ended(job: Job, outcome: Any) -> None:
    """Tell the user how ``job`` ended, if the job has a folder."""
    if job.folder is None:
        return
    status, message = getattr(outcome, "exit_status", 0), getattr(outcome, "message", "")
    if isinstance(outcome, Lost):
        end = f"lost: {message}"
    else:
        end = f"ended with status {status}: {message}" if status else "finished"
    _tell(job, end)


def _tell(job: Job, text: str) -> None:
    """Print a line about ``job`` in one write. With two writes, the lines of several threads run into each other."""
    sys.stderr.write(f"[{job.number}] {job.name}: {text}\n")
    sys.stderr.flush()


def with_output(work: Work[J, R], job: J, folder: Path) -> R:
    """Run ``job``, and append the standard output and error of this process and its children to a file in ``folder``.

    After ``with_output``, the process cannot be used for anything else.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / OUTPUT).open("a") as out:
        for stream in (1, 2):
            os.dup2(out.fileno(), stream)
        result = work(job)
        sys.stdout.flush()
        sys.stderr.flush()
    return result
