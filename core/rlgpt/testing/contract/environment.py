"""Laws about how the environment reports success and metrics, when it truncates episodes, and what it renders."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from rlgpt.domain import Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.offscreen import ADVICE, find_backend
from rlgpt.plugin.rules import number_of
from rlgpt.testing.contract.laws import Laws
from rlgpt.testing.stage import Stage


class EnvironmentLaws(Laws):
    """Tests that the environment reports success and metrics, truncates episodes at the horizon, and renders images."""

    def test_success_is_a_bool_at_every_step(self, plugin: EnvironmentPlugin, task: Task) -> None:
        if not task.success:
            pytest.skip("the task has a score and no success")

        def visit(stage: Stage) -> None:
            success = stage.context.info.get("success", None if stage.context.step else False)
            assert type(success) is bool, (
                f"{task.id}: info['success'] is {success!r} at step {stage.context.step}; it must be True or False "
                "at every step. Put bool(...) into the info of step()."
            )

        self.rollout(plugin, task, visit)

    def test_metrics_are_numbers(self, plugin: EnvironmentPlugin, task: Task) -> None:
        if not task.metrics:
            return
        declared = {metric.name for metric in task.metrics}
        seen: set[str] = set()

        def visit(stage: Stage) -> None:
            for name, value in stage.context.info.get("metrics", {}).items():
                number = number_of(value)
                assert name not in declared or number is not None, (
                    f"{task.id}: info['metrics'][{name!r}] is {value!r:.60} at step {stage.context.step}; it must be a "
                    "finite number. Leave the key out at a step that has none."
                )
                seen.add(name)

        self.rollout(plugin, task, visit)
        score = {task.score.metric} & declared if task.score is not None else set()
        wanted = score or declared
        if not wanted & seen and not self._play_on(plugin, task, visit):
            pytest.skip(f"the first {self.effort.horizon_limit} steps report none of {', '.join(sorted(wanted))}")
        what = "the metric of the score" if score else "a metric"
        assert wanted & seen, (
            f"{task.id}: no step of the episodes from the seeds {list(self.effort.seeds)} reports {what} in "
            f"info['metrics']. Valid: {', '.join(sorted(wanted))}. Found: {', '.join(sorted(seen)) or 'nothing'}. "
            "Report it in the info of step(), at the latest at the last step of an episode."
        )

    def _play_on(self, plugin: EnvironmentPlugin, task: Task, visit: Callable[[Stage], None]) -> bool:
        """Play an episode from each seed to its end, but at most ``horizon_limit`` steps, and call ``visit`` after each
        step.

        :returns: whether all episodes have ended.
        """
        with Stage(plugin, task) as stage:
            for seed in self.effort.seeds:
                stage.reset(seed)
                while not stage.over:
                    if stage.context.step == self.effort.horizon_limit:
                        return False
                    stage.step(stage.env.action_space.sample())
                    visit(stage)
        return True

    def test_no_episode_starts_solved(self, plugin: EnvironmentPlugin, task: Task) -> None:
        with Stage(plugin, task) as stage:
            for seed in self.effort.seeds:
                stage.reset(seed)
                success = stage.context.info.get("success", False)
                assert not success, f"{task.id}: seed {seed} starts with success. Let reset() draw another start."

    def test_episodes_are_truncated_at_the_horizon(self, plugin: EnvironmentPlugin, task: Task) -> None:
        if task.horizon > self.effort.horizon_limit:
            pytest.skip(f"horizon {task.horizon} is longer than horizon_limit={self.effort.horizon_limit}")
        with Stage(plugin, task) as stage:
            for idle in (False, True):
                for seed in self.effort.seeds:
                    stage.reset(seed)
                    if _play(stage, task, idle=idle):
                        return
        pytest.skip("no episode with random actions or with the idle action lasts until the horizon")

    def test_frames_are_images(self, plugin: EnvironmentPlugin, task: Task) -> None:
        env = plugin.make_env(task, seed=0)
        modes = env.metadata.get("render_modes", [])
        env.close()
        if "rgb_array" not in modes:
            pytest.skip("the environment renders no frames")
        if "mujoco" in sys.modules and not find_backend():
            pytest.skip(f"no offscreen OpenGL on this machine. {ADVICE}")
        env = plugin.make_env(task, seed=0, render_mode="rgb_array")
        try:
            env.reset(seed=0)
            frame: Any = env.render()
        except gymnasium.error.DependencyNotInstalled as missing:
            pytest.skip(f"a renderer is missing: {missing}")
        finally:
            env.close()
        given = f"{getattr(frame, 'dtype', type(frame).__name__)} {getattr(frame, 'shape', '')}"
        valid = isinstance(frame, np.ndarray) and frame.dtype == np.uint8 and frame.ndim == 3 and frame.shape[2] == 3
        assert valid, f"{task.id}: render() returns {given}; it must return uint8 of shape (height, width, 3)."


def _play(stage: Stage, task: Task, *, idle: bool) -> bool:
    """Play random actions, or only the idle action, and return whether the episode lasted until the horizon."""
    space = stage.env.action_space
    for t in range(1, task.horizon + 1):
        action = stage.plugin.noop(space, stage.context) if idle else space.sample()
        _, _, terminated, truncated, _ = stage.step(action)
        assert t == task.horizon or not truncated, (
            f"{task.id}: truncated at step {t}, its horizon is {task.horizon}. Truncate at task.horizon "
            "(gymnasium.wrappers.TimeLimit(env, task.horizon))."
        )
        if terminated:
            return False
    assert truncated, (
        f"{task.id}: step {task.horizon} is its horizon and was not truncated. Truncate at task.horizon "
        "(gymnasium.wrappers.TimeLimit(env, task.horizon))."
    )
    return True
