"""The contract tests of plugins, on a sample of the tasks. The slow tests include all tasks."""

from __future__ import annotations

from dataclasses import replace

from rlgpt.testing import Effort, PluginContract
from rlgpt.testing.contract import QUICK


class TestFurniture(PluginContract):
    module = "rlgpt_furniture"
    sample = ("furniture/one_leg",)
    slow_sample = ("furniture/one_leg_medium", "furniture/lamp", "furniture/square_table", "furniture/desk_high")
    quick = replace(QUICK, steps=15, horizon_limit=600, argument_sets=2)
    full = Effort(steps=40, horizon_limit=1000, argument_sets=5, screening=1)
