"""The contract of plugins: a sample of the tasks; all tasks in the slow tests."""

from __future__ import annotations

from rlgpt.testing import PluginContract


class TestCar(PluginContract):
    module = "rlgpt_mujoco_car"
    sample = ("mujoco_car/blocked_start",)
