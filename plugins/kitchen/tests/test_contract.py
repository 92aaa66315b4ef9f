"""The contract tests of plugins, on a sample of the tasks. The slow tests include all tasks."""

from __future__ import annotations

from rlgpt.testing import Effort, PluginContract


class TestKitchen(PluginContract):
    module = "rlgpt_kitchen"
    sample = ("kitchen/kettle",)
    quick = Effort(steps=30, seeds=(0, 1), horizon_limit=450, argument_sets=2, screening=1)
    full = Effort(steps=60)
