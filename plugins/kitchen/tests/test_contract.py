"""The contract tests of plugins, on a sample of the tasks. The slow tests include all tasks."""

from __future__ import annotations

from rlgpt.testing import Effort, PluginContract


class TestKitchen(PluginContract):
    module = "rlgpt_kitchen"
    sample = ("kitchen/kettle",)
    full = Effort(steps=60)
