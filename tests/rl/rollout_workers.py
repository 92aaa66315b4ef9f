"""Trainings, environments and executors for the tests of rollouts on an executor. Worker processes can import
this module.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import torch
from gymnasium.vector import AutoresetMode
from rlgpt.domain import Task, TrainingRecord
from rlgpt.executors import Lost, MakeExecutor
from rlgpt.executors.local import InProcess
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.checkpoint import Checkpoint
from rlgpt.rl.ppo import PPO
from rlgpt.rl.rollout_job import RolloutWorker
from rlgpt.testing.counting import CountingGrid, counted
from rlgpt.testing.grid_lanes import BatchGrid

SETTINGS = Hyperparameters(num_envs=4, num_steps=8, minibatch_size=16, update_epochs=2, hidden=(16,))


def train(
    folder: Path, spec: EnvSpec, executor: MakeExecutor = InProcess, *, trainer: PPO | None = None, **more: Any
) -> TrainingRecord:
    trainer = trainer or PPO(workers=2)
    arguments: dict[str, Any] = {"budget": 400, "seed": 7, "hyperparameters": SETTINGS, **more}
    return trainer.on(executor).train(spec, folder=folder, **arguments)


def same(folder: Path, record: TrainingRecord, other: Path, theirs: TrainingRecord) -> bool:
    first, second = Checkpoint.load(folder).weights, Checkpoint.load(other).weights
    untimed = record.model_copy(update={"seconds": theirs.seconds})
    return untimed == theirs and all(torch.equal(first[key], second[key]) for key in first)


class Forgetful(InProcess[Any, Any]):
    """An executor with a new worker for each job, as if the process of a worker were killed after each job. The worker
    repeats the episodes in progress.
    """

    def as_completed(self) -> Iterator[tuple[Any, Any]]:
        while self._jobs:
            job, worker = self._jobs.pop(0), RolloutWorker()
            yield job, worker(job)
            worker.close()


class LosesResults(InProcess[Any, Any]):
    """An executor that loses the result of every second execution, after the environments have moved on."""

    executions = 0

    def as_completed(self) -> Iterator[tuple[Any, Any]]:
        while self._jobs:
            job = self._jobs.pop()
            result = self.work(job)
            self.executions += 1
            yield job, Lost("its process was killed") if self.executions % 2 else result


class LosesAll(InProcess[Any, Any]):
    def as_completed(self) -> Iterator[tuple[Any, Any]]:
        while self._jobs:
            yield self._jobs.pop(), Lost("its process was killed")


class Faulty(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper that does something once, before a primitive step after the step number ``at``."""

    def __init__(self, env: gymnasium.Env[Any, Any], at: int, fault: Callable[[], None]) -> None:
        super().__init__(env)
        self.at, self.fault = at, fault

    def step(self, action: Any) -> Any:
        path = Path(self.env.path)  # type: ignore[attr-defined]
        done = path.with_suffix(".fault")
        if counted(path) >= self.at and not done.exists():
            done.write_text(str(os.getpid()))
            self.fault()
        return super().step(action)


class FaultyGrid(CountingGrid):
    """A grid whose process is killed, or waits for a named pipe, once.

    :param fault: ``kill``, or the path of a named pipe.
    """

    def __init__(self, path: str, at: int, fault: str) -> None:
        super().__init__(path)
        self.at, self.fault = at, fault

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
        return Faulty(super().make_env(task, seed=seed, render_mode=render_mode), self.at, self._cause)

    def _cause(self) -> None:
        if self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        Path(self.fault).read_text()


def faulty_grid(path: str, at: int, fault: str, task: Task) -> FaultyGrid:
    return FaultyGrid(path, at, fault)


class Drifting(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper with which an episode does not depend on its seed alone: each environment begins elsewhere."""

    made = 0

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        Drifting.made += 1
        self.number = Drifting.made

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return super().reset(seed=(seed or 0) + self.number, options=options)


class DriftingGrid(CountingGrid):
    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
        return Drifting(super().make_env(task, seed=seed, render_mode=render_mode))


def drifting_grid(path: str, task: Task) -> DriftingGrid:
    return DriftingGrid(path)


class DriftingLanes(BatchGrid):
    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
        return Drifting(super().make_env(task, seed=seed, render_mode=render_mode))


def drifting_lanes(path: str, task: Task) -> DriftingLanes:
    return DriftingLanes(path, AutoresetMode.DISABLED)
