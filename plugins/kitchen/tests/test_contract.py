"""The contract of every plugin."""

from __future__ import annotations

from typing import ClassVar

import pytest
from rlgpt.plugin import offscreen
from rlgpt.testing.contract import PluginContract


class TestKitchen(PluginContract):
    """One task, for a short suite."""

    module = "rlgpt_kitchen"
    only: ClassVar = ("kitchen/kettle",)
    steps = 20
    seeds: ClassVar = (0, 1)
    horizon_limit = 300
    argument_sets = 4
    screening = 1
    renders = bool(offscreen.find_backend())


@pytest.mark.slow
class TestKitchenWhole(PluginContract):
    """Every task (half an hour)."""

    module = "rlgpt_kitchen"
    steps = 60
    renders = bool(offscreen.find_backend())
