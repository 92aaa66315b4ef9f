"""Whole runs of tests/loop/story.py as jobs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import story
from rlgpt.executors import Job
from rlgpt.llm.base import Request
from rlgpt.loop import run
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.testing.llm import FakeLLM


@dataclass(frozen=True)
class StoryJob(Job):
    """A run on the grid.

    :ivar kind: the team of agents.
    :ivar fault: what the first execution does at primitive step ``at``, see ``story.py``.
    """

    kind: str = "code_only"
    fault: str = "raise"
    at: int = story.NEVER


def run_story(job: StoryJob, **more: Any) -> str:
    """Run or resume the run, and log each execution and each request to the model.

    :param more: further arguments of :func:`story.context`.
    :returns: the status of the run.
    """
    folder = job.folder
    assert folder is not None
    logs = folder.with_name(f"{folder.name}_logs")
    logs.mkdir(parents=True, exist_ok=True)
    at = story.NEVER if (logs / "executions").exists() else job.at
    _append(logs / "executions", str(os.getpid()))

    def reply(request: Request) -> str:
        _append(logs / "calls", request.key.model_dump_json())
        return story.reply(request).replace("```python", f"```python\n# candidate {request.key.candidate}")

    arguments = {"settings": story.SHORT, "steps": logs / "steps", "fault": job.fault, "at": at, **more}
    run(story.context(folder, PPO(), FakeLLM(reply), kind=job.kind, **arguments))
    return Run.open(folder).record.status


def _append(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())
