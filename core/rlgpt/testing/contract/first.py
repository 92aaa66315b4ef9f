"""The laws that run first. If a plugin breaks one of the first laws, later laws would fail for the same reason and are
skipped.
"""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest.mock import patch

import gymnasium
import numpy as np
import pytest

from rlgpt.domain import Task
from rlgpt.plugin.actions import default_labels
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.defaults import reward_terms_of
from rlgpt.plugin.types import Primitive
from rlgpt.testing.contract.causes import PLAYED, SEEDED, cause, needs
from rlgpt.testing.contract.laws import Effort, Laws, same
from rlgpt.testing.stage import Stage

ROLLOUTS = 12
"""Number of random rollouts that all laws together play for each seed."""

CALLS = 2
"""How often each primitive is called with each setting of its arguments. The second time, the actions of the first time
are repeated.
"""


class FirstLaws(Laws):
    """Tests that the task can be played, labels fit the action space, equal seeds give equal episodes, and gymnasium's
    checker accepts the environment.
    """

    duration = ""

    @pytest.fixture(autouse=True)
    def _say_how_long(self, request: pytest.FixtureRequest) -> Iterator[None]:
        """After the first play of the task, print the expected duration of all laws that follow."""
        yield
        manager = request.config.pluginmanager
        reporter: Any = manager.getplugin("terminalreporter")
        capture: Any = manager.getplugin("capturemanager")
        if self.duration and reporter is not None and capture is not None:
            with capture.global_and_fixture_disabled():
                reporter.ensure_newline()
                reporter.write_line(self.duration)

    @cause
    def test_it_can_be_played(self, plugin: EnvironmentPlugin, task: Task) -> None:
        """Call each method that later laws use once, in a short episode."""
        doing = "make_env(task, seed=0), or the reset after it,"
        try:
            with Stage(plugin, task) as stage:
                began = time.perf_counter()
                for _ in range(self.effort.steps):
                    for what, call in _methods(stage).items():
                        doing = what
                        call()
                    if stage.over:
                        break
                    doing = f"step() from step {stage.context.step}"
                    stage.step(stage.env.action_space.sample())
                seconds = (time.perf_counter() - began) / max(1, stage.context.step)
                self.duration = how_long(plugin, task, self.effort, seconds)
        except Exception as fault:
            raise AssertionError(
                f"{task.id}: {doing} raised {type(fault).__name__}: {fault}. Fix this first: every other law needs it."
            ) from fault

    @cause
    def test_labels_name_every_part_of_the_action(self, plugin: EnvironmentPlugin, task: Task) -> None:
        env = plugin.make_env(task, seed=0)
        expected, labels = len(default_labels(env.action_space)), plugin.labels(task).actions
        env.close()
        assert len(labels) == expected, (
            f"{task.id}: {len(labels)} labels for an action of {expected} parts. Give one for each value of a "
            "Discrete, each number of a Box, each head of a MultiDiscrete or Tuple."
        )
        assert len(set(labels)) == len(labels), f"{task.id}: labels must differ, got {sorted(labels)}."

    @cause
    def test_the_seed_determines_the_episode(self, plugin: EnvironmentPlugin, task: Task) -> None:
        with Stage(plugin, task, seed=7) as a, Stage(plugin, task, seed=7) as b:
            for seed in self.effort.seeds:
                start = a.reset(seed)
                assert same(start, b.reset(seed)), (
                    f"{task.id}: two calls of reset(seed={seed}) give different starts. {_SEEDED}"
                )
                actions = a.random(self.effort.steps)
                b_results = [b.step(action) for action in actions]
                a.reset(seed)
                for t, (action, other) in enumerate(zip(actions, b_results, strict=True)):
                    one = a.step(action)
                    assert same(one[:4], other[:4]), (
                        f"{task.id}: step {t + 1} from seed {seed} differs between two environments (or after a reset) "
                        f"under the same actions. {_SEEDED}"
                    )

    @cause
    @needs(PLAYED, SEEDED)
    def test_it_passes_check_env(self, plugin: EnvironmentPlugin, task: Task) -> None:
        env = plugin.make_env(task, seed=0)
        check(env)
        env.close()


def how_long(plugin: EnvironmentPlugin, task: Task, effort: Effort, step_seconds: float) -> str:
    """A line of text with the expected duration of all laws on one task, from the measured duration of a step."""
    rollout = effort.steps * len(effort.seeds)
    tried = sum(min(p.max_steps, task.horizon) for p in _primitives(plugin, task))
    calls = effort.argument_sets * (CALLS + effort.screening) * tried
    seconds = (ROLLOUTS * rollout + calls) * step_seconds
    slow = " To reduce this, set a `sample` of your tasks, which is tried with less effort." if seconds > 120 else ""
    return f"contract: {task.id}: {1000 * step_seconds:.3g} ms a step, its laws take {_about(seconds)}.{slow}"


def _primitives(plugin: EnvironmentPlugin, task: Task) -> Sequence[Primitive]:
    try:
        return plugin.primitives(task)
    except Exception:  # Another law reports this fault.
        return ()


def _about(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    return f"up to about {seconds:.0f} s" if seconds < 120 else f"up to about {seconds / 60:.0f} min"


_SEEDED = "Draw all random numbers from self.np_random, and clear the state of the last episode in reset()."


def _methods(stage: Stage) -> dict[str, Callable[[], Any]]:
    """A dict from the name of a method to a function that calls it, for each method of a plugin that a run calls during
    an episode.
    """
    plugin, task, ctx = stage.plugin, stage.task, stage.context
    asked: dict[str, Callable[[], Any]] = {
        "view_keys(task)": lambda: plugin.view_keys(task),
        "view(ctx)": lambda: plugin.view(ctx),
        "policy_view(ctx)": lambda: plugin.policy_view(ctx),
        "summarize(view)": lambda: plugin.summarize(plugin.view(ctx)),
        "noop(action_space, ctx)": lambda: plugin.noop(stage.env.action_space, ctx),
        "default_setup(task)": lambda: plugin.default_setup(task),
    }
    for term in reward_terms_of(plugin, task):
        asked[f"reward term {term.name!r}"] = functools.partial(term.value, ctx)
    return asked


def check(env: gymnasium.Env[Any, Any]) -> None:
    """Run gymnasium's environment checker without its check of render modes, which another law makes. Warnings are
    ignored.
    """
    from gymnasium.utils import env_checker

    usual = env_checker.data_equivalence

    def equivalent(a: Any, b: Any, exact: bool = False) -> bool:
        """Compare two values. (The function of gymnasium uses numpy's ``allclose``, which fails on text.)"""
        if isinstance(a, np.ndarray) and a.dtype.kind == "U":
            return isinstance(b, np.ndarray) and np.array_equal(a, b)
        return usual(a, b, exact)

    with warnings.catch_warnings(), patch.object(env_checker, "data_equivalence", equivalent):
        warnings.simplefilter("ignore")
        env_checker.check_env(env, skip_render_check=True)
