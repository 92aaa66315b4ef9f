"""What all laws of the contract share: the plugin, its tasks, and how much of them is tried."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
import pytest

from rlgpt.domain import Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.testing.stage import Stage


class Laws:
    """Settings of the contract. A subclass sets ``module`` and may change the rest.

    :cvar module: the module your entry point names.
    :cvar name: the plugin's name, where the module offers several.
    :cvar only: ids of the tasks to try; empty: all.
    :cvar steps: primitive steps of each random rollout.
    :cvar seeds: seeds of the episodes that are tried.
    :cvar horizon_limit: tasks with a longer horizon are not played to their end.
    :cvar argument_sets: settings of its arguments that are tried for each primitive.
    :cvar screening: episodes for each of them; one that succeeds in any is tried in twenty.
    :cvar renders: whether this machine can render the environments.
    """

    module: ClassVar[str] = ""
    name: ClassVar[str] = ""
    only: ClassVar[Sequence[str]] = ()
    steps: ClassVar[int] = 100
    seeds: ClassVar[Sequence[int]] = (0, 1, 2)
    horizon_limit: ClassVar[int] = 5_000
    argument_sets: ClassVar[int] = 12
    screening: ClassVar[int] = 4
    renders: ClassVar[bool] = True

    def make_plugin(self) -> EnvironmentPlugin:
        """The plugin under test, a new instance."""
        assert self.module, f"{type(self).__name__}: set `module` to the module your entry point names"
        offered: list[EnvironmentPlugin] = import_module(self.module).rlgpt_plugins()
        return next(p for p in offered if self.name in ("", p.name))

    @pytest.fixture(name="plugin")
    def _plugin(self) -> EnvironmentPlugin:
        return self.make_plugin()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Every law that takes a ``task`` is a test for each task."""
        if "task" in metafunc.fixturenames:
            tasks = [t for t in self.make_plugin().tasks().values() if not self.only or t.id in self.only]
            metafunc.parametrize("task", tasks, ids=[t.id for t in tasks])

    def rollout(self, plugin: EnvironmentPlugin, task: Task, visit: Callable[[Stage], None]) -> None:
        """Call ``visit`` at the start and after each step of a random rollout from each seed."""
        with Stage(plugin, task) as stage:
            for seed in self.seeds:
                stage.reset(seed)
                visit(stage)
                for _ in range(self.steps):
                    if stage.over:
                        break
                    stage.step(stage.env.action_space.sample())
                    visit(stage)


def same(a: Any, b: Any) -> bool:
    """Equal to the last bit; observations of any space, infos, numbers."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(v, b[k]) for k, v in a.items())
    if isinstance(a, list | tuple):
        return isinstance(b, list | tuple) and len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray | np.generic | float | int):
        x, y = np.asarray(a), np.asarray(b)
        return bool(np.array_equal(x, y, equal_nan=x.dtype.kind == "f" and y.dtype.kind == "f"))
    return bool(a == b)


def plain(value: Any) -> str:
    """Why ``value`` is not plain JSON; empty if it is (tuples, numpy numbers and NaN are not)."""
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as fault:
        return str(fault)
    return "" if json.loads(text) == value else "it changes on its way through JSON (tuples? keys that are no text?)"
