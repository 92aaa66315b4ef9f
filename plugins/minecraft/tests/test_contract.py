"""The contract tests of plugins, on a sample of the tasks. The slow tests include all tasks."""

from __future__ import annotations

from rlgpt.testing import Effort, PluginContract


class TestMinecraft(PluginContract):
    module = "rlgpt_minecraft"
    sample = (
        *("minecraft/wooden_pickaxe", "minecraft/harvest_milk_rgb"),
        "minecraft/combat_cow_plains_iron_armors_diamond_sword_shield",
    )
    quick = Effort(steps=30, seeds=(0, 1), horizon_limit=450, argument_sets=2, screening=1)
    full = Effort(steps=60, horizon_limit=3000)
