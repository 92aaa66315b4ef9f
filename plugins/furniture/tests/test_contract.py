"""The contract of every plugin."""

from __future__ import annotations

from typing import ClassVar

import pytest
from rlgpt.plugin import offscreen
from rlgpt.testing.contract import PluginContract


class TestFurniture(PluginContract):
    """One task, for a short suite."""

    module = "rlgpt_furniture"
    only: ClassVar = ("furniture/one_leg",)
    steps = 15
    seeds: ClassVar = (0, 1)
    horizon_limit = 600
    argument_sets = 2
    screening = 1
    renders = bool(offscreen.find_backend())


@pytest.mark.slow
class TestFurnitureWhole(PluginContract):
    """Every kind of furniture."""

    module = "rlgpt_furniture"
    only: ClassVar = ("furniture/one_leg_medium", "furniture/lamp", "furniture/square_table", "furniture/desk_high")
    steps = 40
    argument_sets = 5
    screening = 1
    horizon_limit = 1000
    renders = bool(offscreen.find_backend())
