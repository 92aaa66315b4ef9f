"""The contract of plugins: a sample of the tasks; all tasks in the slow tests."""

from __future__ import annotations

from rlgpt.testing import Effort, PluginContract


class TestMinecraft(PluginContract):
    module = "rlgpt_minecraft"
    sample = ("minecraft/wooden_pickaxe", "minecraft/harvest_milk_rgb")
    full = Effort(steps=60, horizon_limit=3000)
