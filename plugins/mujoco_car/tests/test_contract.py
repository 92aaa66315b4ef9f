"""The contract of every plugin."""

from __future__ import annotations

from typing import ClassVar

import pytest
from rlgpt.plugin import offscreen
from rlgpt.testing.contract import PluginContract


class TestCar(PluginContract):
    """One task, for a short suite."""

    module = "rlgpt_mujoco_car"
    only: ClassVar = ("mujoco_car/blocked_start",)
    steps = 40
    seeds: ClassVar = (0, 1)
    horizon_limit = 450
    argument_sets = 4
    screening = 1
    renders = bool(offscreen.find_backend())


@pytest.mark.slow
class TestCarWhole(PluginContract):
    """Every task."""

    module = "rlgpt_mujoco_car"
    steps = 100
    renders = bool(offscreen.find_backend())
