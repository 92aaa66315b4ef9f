"""The counting grid with a step that lasts until a pipe closes, and short trainings. Worker processes can import this
module.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from pathlib import Path
from typing import Any

import gymnasium
from rlgpt.domain import Task, TrainingRecord
from rlgpt.rl.base import EnvSpec, Hyperparameters, Progress
from rlgpt.rl.ppo import PPO
from rlgpt.testing.counting import CountingGrid, counted, grid_spec


class Gated(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper whose step number ``at`` + 1 writes the process ID to the pipe ``entered`` and ends when the pipe
    ``gate`` closes.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], at: int, entered: Path, gate: Path) -> None:
        super().__init__(env)
        self.at, self.entered, self.gate = at, entered, gate

    def step(self, action: Any) -> Any:
        if counted(Path(self.env.path)) == self.at:  # type: ignore[attr-defined]
            self.entered.write_text(str(os.getpid()))
            self.gate.read_text()
        return super().step(action)


class GatedGrid(CountingGrid):
    def __init__(self, path: str, at: int, entered: Path, gate: Path) -> None:
        super().__init__(path)
        self.at, self.entered, self.gate = at, entered, gate

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
        env = super().make_env(task, seed=seed, render_mode=render_mode)
        return Gated(env, self.at, self.entered, self.gate)


def gated_grid(path: str, at: int, entered: Path, gate: Path, task: Task) -> GatedGrid:
    return GatedGrid(path, at, entered, gate)


def gated_spec(counter: Path, at: int, entered: Path, gate: Path) -> EnvSpec:
    """Return :func:`rlgpt.testing.counting.grid_spec` with :class:`Gated`. ``entered`` and ``gate`` are named pipes."""
    factory = functools.partial(gated_grid, str(counter), at, entered, gate)
    return dataclasses.replace(grid_spec(counter), factory=factory)


def train(folder: Path, spec: EnvSpec, *, workers: int = 0, progress: Progress | None = None) -> TrainingRecord:
    settings = Hyperparameters(num_envs=1, num_steps=8)
    trainer = PPO(workers=workers)
    return trainer.train(spec, budget=100, seed=7, folder=folder, hyperparameters=settings, progress=progress)


def train_with_a_worker(folder: Path, spec: EnvSpec) -> None:
    train(folder, spec, workers=1)
