"""The contract of plugins: a sample of the tasks; all tasks in the slow tests."""

from __future__ import annotations

from rlgpt.testing import Effort, PluginContract


class TestKitchen(PluginContract):
    module = "rlgpt_kitchen"
    sample = ("kitchen/kettle",)
    full = Effort(steps=60)
