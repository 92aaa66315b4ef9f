"""A plugin with a grid environment that counts primitive steps. Each step, in any process, appends one byte to a file.
The module also has coded actions for the grid environment. Worker processes can import the plugin, because it is in a
module of rlgpt.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import gymnasium

from rlgpt.domain import CodedAction, Task
from rlgpt.plugin.types import EnvLimits
from rlgpt.rl.base import EnvSpec
from rlgpt.testing.grid import TASKS, GridPlugin

TASK = TASKS["grid/key"]


class Counting(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper that appends a byte to the file ``path`` for each primitive step. The wrapper is independent of the
    code for counting steps that the tests check.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], path: str) -> None:
        super().__init__(env)
        self.path = path

    def step(self, action: Any) -> Any:
        with open(self.path, "ab", buffering=0) as file:
            file.write(b".")
        return super().step(action)


class CountingGrid(GridPlugin):
    def __init__(self, path: str) -> None:
        self.path = path

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
        return Counting(super().make_env(task, seed=seed, render_mode=render_mode), self.path)


def counting_grid(path: str, task: Task) -> CountingGrid:
    return CountingGrid(path)


class OneAtATime(CountingGrid):
    """A plugin that allows only one environment at a time, as a real robot does."""

    def limits(self, task: Task) -> EnvLimits:
        return EnvLimits(max_envs=1)


def one_at_a_time(path: str, task: Task) -> OneAtATime:
    return OneAtATime(path)


def action(name: str, source: str, **more: Any) -> CodedAction:
    return CodedAction(name=name, doc=f"{name}.", source=source, **more)


TO_ROW = action(
    "to_row",
    """
def run():
    view = yield observe()
    down = view["key"][0] - view["agent"][0]
    if down:
        yield go(direction="down" if down > 0 else "up", cells=abs(down))
""",
)
WANDER = action(
    "wander", 'def run():\n    yield go(direction="up", cells=3)\n    yield go(direction="down", cells=3)\n'
)
BROKEN = action("broken", "def run():\n    yield use()\n    raise ValueError('no')\n")


def grid_spec(counter: Path, *actions: CodedAction, task: Task = TASK, **setup: Any) -> EnvSpec:
    """The recipe of the grid environment with coded actions.

    :param counter: the file in which the wrapper counts primitive steps.
    :param actions: the coded actions.
    :param setup: fields of the RLSetup.
    """
    default = GridPlugin().default_setup(task)
    chosen = default.model_copy(update={"coded_actions": tuple(a.name for a in actions), **setup})
    return EnvSpec(task, chosen, actions, factory=functools.partial(counting_grid, str(counter)))


def counted(counter: Path) -> int:
    """The number of primitive steps that all processes together have taken so far."""
    return counter.stat().st_size if counter.exists() else 0
