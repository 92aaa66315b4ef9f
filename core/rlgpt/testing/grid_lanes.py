"""The grid environment of :mod:`rlgpt.testing.counting` with a batch simulator, so that trainings learn from lanes."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorWrapper

from rlgpt.domain import CodedAction, Task
from rlgpt.rl.base import EnvSpec
from rlgpt.testing.counting import CountingGrid, grid_spec


class AsBatch(VectorWrapper[Any, Any, Any, Any, Any]):
    """A batch simulator, because it is no ``SyncVectorEnv``: each call moves all environments."""


class BatchGrid(CountingGrid):
    """A plugin whose batch simulator counts the primitive steps of each lane, as single environments do."""

    def __init__(self, path: str, mode: AutoresetMode) -> None:
        super().__init__(path)
        self._mode = mode

    def make_vector(self, task: Task, *, count: int, seed: int) -> Any:
        makers = [functools.partial(self.make_env, task, seed=seed)] * count
        return AsBatch(SyncVectorEnv(makers, autoreset_mode=self._mode))

    def lane_model(self, venv: Any, lane: int) -> Any:
        return venv.unwrapped.envs[lane].unwrapped


def batch_grid(path: str, mode: AutoresetMode, task: Task) -> BatchGrid:
    return BatchGrid(path, mode)


def lanes_spec(
    counter: Path, *actions: CodedAction, mode: AutoresetMode = AutoresetMode.DISABLED, **setup: Any
) -> EnvSpec:
    """The recipe that :func:`rlgpt.testing.counting.grid_spec` returns, with a batch simulator."""
    factory = functools.partial(batch_grid, str(counter), mode)
    return replace(grid_spec(counter, *actions, **setup), factory=factory)
