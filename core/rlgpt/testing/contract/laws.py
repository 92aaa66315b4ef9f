"""The common base of all laws: the plugin, its tasks, and the settings that control how thoroughly a task is tested."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import pytest

from rlgpt.domain import Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.states import same as same
from rlgpt.plugin.types import Context, RewardTerm
from rlgpt.testing.contract.causes import Causes
from rlgpt.testing.stage import Stage


@dataclass(frozen=True)
class Effort:
    """The settings that control how thoroughly a task is tested.

    :ivar steps: number of primitive steps of each random rollout.
    :ivar seeds: seeds of the episodes.
    :ivar horizon_limit: largest horizon, in primitive steps, with which episodes are played to their end.
    :ivar argument_sets: number of combinations of argument values with which each primitive is called.
    :ivar screening: number of episodes that try whether a single call of a primitive solves the task, for each
        combination of its argument values. A combination that succeeds in one of them is tried in 20 episodes.
    """

    steps: int = 100
    seeds: Sequence[int] = (0, 1, 2)
    horizon_limit: int = 5_000
    argument_sets: int = 12
    screening: int = 4


FULL = Effort()
QUICK = Effort(steps=30, seeds=(0, 1), horizon_limit=450, argument_sets=4, screening=1)


class Laws(Causes):
    """The settings of a contract. A subclass of Laws sets ``module``; for slow simulators, it also sets ``sample``.

    :cvar module: the module that the plugin's entry point names.
    :cvar name: the name of the plugin; needed if the module offers several plugins.
    :cvar sample: ids of the tasks that are tested with the effort ``quick``. If ``sample`` has ids, further tests with
        the marker ``slow`` (which the project must register) test all tasks with the effort ``full``. If ``sample`` is
        empty, all tasks are tested with the effort ``full``, and no test has the marker ``slow``.
    :cvar slow_sample: ids of the tasks that the tests with the marker ``slow`` test; empty for all tasks.
    """

    module: ClassVar[str] = ""
    name: ClassVar[str] = ""
    sample: ClassVar[Sequence[str]] = ()
    slow_sample: ClassVar[Sequence[str]] = ()
    quick: ClassVar[Effort] = QUICK
    full: ClassVar[Effort] = FULL

    effort: Effort = FULL

    def make_plugin(self) -> EnvironmentPlugin:
        """A new instance of the plugin under test."""
        assert self.module, f"{type(self).__name__}: set `module` to the module of your entry point"
        offered: list[EnvironmentPlugin] = import_module(self.module).rlgpt_plugins()
        return next(p for p in offered if self.name in ("", p.name))

    @pytest.fixture(name="plugin")
    def _plugin(self) -> EnvironmentPlugin:
        return self.make_plugin()

    @pytest.fixture(autouse=True)
    def _effort(self, request: pytest.FixtureRequest) -> None:
        quick = self.sample and request.node.get_closest_marker("slow") is None
        self.effort = self.quick if quick else self.full

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Parametrise each law that has an argument ``task`` with all tasks of the plugin."""
        if "task" not in metafunc.fixturenames:
            return
        plugin = self.make_plugin()
        tasks = plugin.tasks()
        if not self.sample:
            metafunc.parametrize("task", list(tasks.values()), ids=list(tasks))
            return
        every = {**plugin.unlisted_tasks(), **tasks}
        marked = [pytest.param(every[i], id=f"{i}-full", marks=pytest.mark.slow) for i in self.slow_sample or tasks]
        metafunc.parametrize("task", [*(pytest.param(every[i], id=i) for i in self.sample), *marked])

    def rollout(self, plugin: EnvironmentPlugin, task: Task, visit: Callable[[Stage], None]) -> None:
        """Call the function ``visit`` at the start and after each step of a random rollout, for each seed."""
        with Stage(plugin, task) as stage:
            for seed in self.effort.seeds:
                stage.reset(seed)
                visit(stage)
                for _ in range(self.effort.steps):
                    if stage.over:
                        break
                    stage.step(stage.env.action_space.sample())
                    visit(stage)


def out_of_bounds(terms: Sequence[RewardTerm], ctx: Context) -> str:
    """The first value of ``terms`` in the state ``ctx`` that is not finite or out of its bounds, as text; empty if no
    value is.
    """
    for term in terms:
        value = term.value(ctx)
        if not math.isfinite(value):
            return f"reward term {term.name!r} is {value} at step {ctx.step}; it must be a finite number."
        if not term.low <= value <= term.high:
            return (
                f"reward term {term.name!r} is {value} at step {ctx.step}, outside [{term.low}, {term.high}]. A run "
                "clips it. Bound it (a tolerance function), or correct low and high."
            )
    return ""


def plain(value: Any) -> str:
    """The reason why ``value`` is not a JSON value; empty if ``value`` is a JSON value. Tuples, numpy numbers and NaN
    are not JSON values.
    """
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as fault:
        return str(fault)
    return (
        ""
        if json.loads(text) == value
        else "it changes when it is converted to JSON and back (perhaps tuples, or keys that are not text)"
    )
