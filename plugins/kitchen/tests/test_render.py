"""Rendered frames of the kitchen, and a machine without OpenGL."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from rlgpt.errors import ConfigError
from rlgpt.plugin import offscreen
from rlgpt_kitchen.plugin import KitchenPlugin

TASK = KitchenPlugin().tasks()["kitchen/kettle"]
needs_gl = pytest.mark.skipif(
    not offscreen.find_backend(), reason=f"no offscreen OpenGL on this machine. {offscreen.ADVICE}"
)


@needs_gl
def test_kitchen_frames_change_when_the_arm_moves(plugin: KitchenPlugin) -> None:
    env = plugin.make_env(TASK, seed=0, render_mode="rgb_array")
    env.reset(seed=0)
    first = np.array(env.render())
    assert first.shape == (480, 480, 3)
    assert first.dtype == np.uint8
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 500
    for _ in range(5):
        env.step(np.ones(9))
    second = np.array(env.render())
    changed = np.mean(np.any(first != second, axis=-1))
    assert 0.005 < changed < 0.5
    env.close()
    env.close()


@needs_gl
def test_two_kitchen_environments_render_in_one_process(plugin: KitchenPlugin) -> None:
    envs = [plugin.make_env(TASK, seed=0, render_mode="rgb_array") for _ in range(2)]
    for env in envs:
        env.reset(seed=0)
    frames = [np.array(env.render()) for env in envs]
    assert np.array_equal(frames[0], frames[1])
    envs[0].close()
    assert np.asarray(envs[1].render()).any()
    envs[1].close()


def test_kitchen_without_opengl_can_step_and_raises_an_error_only_for_frames(
    plugin: KitchenPlugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    monkeypatch.setenv("MUJOCO_GL", "")
    env = plugin.make_env(TASK, seed=0, render_mode="rgb_array")
    env.reset(seed=0)
    env.step(np.zeros(9))
    with pytest.raises(ConfigError, match="apt-get install libegl1"):
        env.render()
    env.close()
    check = next(c for c in plugin.doctor() if c.name == "offscreen OpenGL")
    assert not check.ok
    assert "apt-get" in check.advice


@pytest.mark.parametrize("value", ["bogus", "osmesa", ""])
def test_import_of_the_kitchen_plugin_succeeds_with_any_value_of_mujoco_gl(value: str) -> None:
    code = "from rlgpt_kitchen.env import KitchenTask; import mujoco; print('fine')"
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "MUJOCO_GL": value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.strip() == "fine", run.stderr
    assert run.stderr == ""


def test_listing_kitchen_tasks_imports_no_simulator() -> None:
    code = "import sys, rlgpt_kitchen; p = rlgpt_kitchen.rlgpt_plugins()[0]; p.tasks(); p.doctor(); " + (
        "print([m for m in ('mujoco', 'gymnasium_robotics', 'torch') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
