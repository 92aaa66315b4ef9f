"""What rlgpt asks of every plugin."""

from __future__ import annotations

from typing import ClassVar

import pytest
from rlgpt.testing.contract import PluginContract


class TestMinecraft(PluginContract):
    """A sample that keeps the suite short."""

    module = "rlgpt_minecraft"
    only: ClassVar = ("minecraft/harvest_wool", "minecraft/wooden_pickaxe", "minecraft/harvest_milk_rgb")
    steps = 30
    seeds: ClassVar = (0, 1)
    horizon_limit = 300
    argument_sets = 6
    screening = 2


@pytest.mark.slow
class TestMinecraftWhole(PluginContract):
    """Every task."""

    module = "rlgpt_minecraft"
    steps = 60
    horizon_limit = 3000
