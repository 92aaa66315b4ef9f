"""Grid plugins whose environments are the lanes of a vector environment."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gymnasium.vector import AutoresetMode, SyncVectorEnv
from rlgpt.domain import Task
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.lanes import LaneVector
from rlgpt.rl.vector import Vector
from rlgpt.testing.grid import GridPlugin
from rlgpt.testing.grid_lanes import AsBatch


class VectorGrid(GridPlugin):
    mode = AutoresetMode.DISABLED
    batch = False

    def make_vector(self, task: Task, *, count: int, seed: int) -> Any:
        venv = SyncVectorEnv([lambda: self.make_env(task, seed=seed)] * count, autoreset_mode=self.mode)
        return AsBatch(venv) if self.batch else venv

    def lane_model(self, venv: Any, lane: int) -> Any:
        return venv.unwrapped.envs[lane].unwrapped


class BatchGrid(VectorGrid):
    mode, batch = AutoresetMode.NEXT_STEP, True


class SameStepGrid(VectorGrid):
    mode = AutoresetMode.SAME_STEP


def _plugin(kind: type[GridPlugin], task: Task) -> GridPlugin:
    return kind()


def grid_lanes(spec: EnvSpec, kind: type[GridPlugin]) -> EnvSpec:
    """The recipe ``spec`` with the plugin ``kind``."""
    return replace(spec, factory=functools.partial(_plugin, kind))


def lanes_of(spec: EnvSpec, seeds: Sequence[int], folder: Path) -> Vector:
    """The lanes of the recipe's plugin, one for each seed."""
    plugin: Any = spec.factory(spec.task) if callable(spec.factory) else None
    return LaneVector(spec, plugin.make_vector(spec.task, count=len(seeds), seed=0), seeds, folder / "steps")
