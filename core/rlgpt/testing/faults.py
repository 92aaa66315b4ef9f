"""A grid environment that fails from a chosen primitive step on, for tests of how a training handles a failing worker.

The steps of all environments are counted in one file, as in :mod:`rlgpt.testing.counting`. The classes are in a module
of rlgpt, not in a file of tests, because worker processes must be able to import them.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import signal
import threading
from pathlib import Path
from typing import Any, Literal

import gymnasium

from rlgpt.domain import CodedAction, Task
from rlgpt.rl.base import EnvSpec
from rlgpt.testing.counting import CountingGrid, counted, grid_spec

Fault = Literal["raise", "hang", "kill"]
"""The kind of a fault: the environment raises an error, its step never returns, or its process is killed."""


class Faulty(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper that fails from the primitive step with the number ``at`` on. The steps of all environments are counted
    together, in the file ``path``.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], path: str, fault: Fault, at: int) -> None:
        super().__init__(env)
        self.path, self.fault, self.at = Path(path), fault, at

    def step(self, action: Any) -> Any:
        outcome = super().step(action)
        if counted(self.path) >= self.at:
            if self.fault == "raise":
                raise ValueError("the simulator failed")
            if self.fault == "hang":
                threading.Event().wait()
            if self.fault == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
        return outcome


class FaultyGrid(CountingGrid):
    def __init__(self, path: str, fault: Fault, at: int) -> None:
        super().__init__(path)
        self.fault, self.at = fault, at

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
        env = super().make_env(task, seed=seed, render_mode=render_mode)
        return Faulty(env, self.path, self.fault, self.at)


def faulty_grid(path: str, fault: Fault, at: int, task: Task) -> FaultyGrid:
    return FaultyGrid(path, fault, at)


def faulty_spec(counter: Path, fault: Fault, at: int, *actions: CodedAction, **setup: Any) -> EnvSpec:
    """The recipe that :func:`rlgpt.testing.counting.grid_spec` makes, with a fault in the environment."""
    spec = grid_spec(counter, *actions, **setup)
    return dataclasses.replace(spec, factory=functools.partial(faulty_grid, str(counter), fault, at))
