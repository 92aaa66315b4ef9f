"""The contract tests of the plugin. Fast tests use a sample of the tasks, slow tests use all of them."""

from __future__ import annotations

from rlgpt.testing import PluginContract


class TestCar(PluginContract):
    module = "rlgpt_mujoco_car"
    sample = ("mujoco_car/blocked_start",)
