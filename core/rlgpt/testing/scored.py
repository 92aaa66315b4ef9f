"""Defines a task of the grid environment that has a score and no success. The score of the task is the number of cells
that the agent walks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium

from rlgpt.domain import Metric, Score, Task
from rlgpt.testing.grid import GridEnv, GridPlugin

TASK = Task(
    id="grid/walk",
    goal="walk as far as you can",
    horizon=12,
    score=Score(metric="walked", unit="cells"),
    metrics=(Metric(name="walked", unit="cells", reduce="sum"), Metric(name="row", reduce="max")),
)


class Walk(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper that reports as metrics the number of cells that the agent walked in the step, the agent's row, and a
    metric that the task does not declare. The wrapper reports no success.
    """

    @property
    def agent(self) -> tuple[int, int]:
        env = self.unwrapped
        assert isinstance(env, GridEnv)
        return env.agent

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, _ = self.env.reset(seed=seed, options=options)
        self._steps = 0
        return observation, {"metrics": {"row": self.agent[0]}}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        before = self.agent
        observation, reward, _, _, _ = self.env.step(action)
        self._steps += 1
        metrics = {"walked": float(self.agent != before), "row": self.agent[0], "undeclared": "?"}
        return observation, reward, False, self._steps >= TASK.horizon, {"metrics": metrics}


class WalkPlugin(GridPlugin):
    """The plugin of the grid, with :data:`TASK` as its only task."""

    def tasks(self) -> Mapping[str, Task]:
        return {TASK.id: TASK}

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
        env = GridEnv("key", task.horizon, render_mode)
        env.reset(seed=seed)
        return Walk(env)


def walk_plugin(task: Task) -> WalkPlugin:
    """A factory of the walk plugin for the field ``factory`` of :class:`rlgpt.rl.base.EnvSpec`."""
    return WalkPlugin()
