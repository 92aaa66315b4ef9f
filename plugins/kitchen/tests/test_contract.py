"""What rlgpt asks of every plugin."""

from __future__ import annotations

from typing import ClassVar

import pytest
from rlgpt.testing.contract import PluginContract
from rlgpt_kitchen import gl


class TestKitchen(PluginContract):
    """A sample that keeps the suite short."""

    module = "rlgpt_kitchen"
    only: ClassVar = ("kitchen/kettle",)
    steps = 20
    seeds: ClassVar = (0, 1)
    horizon_limit = 300
    argument_sets = 4
    screening = 1
    renders = bool(gl.find_backend())


@pytest.mark.slow
class TestKitchenWhole(PluginContract):
    """Every task (half an hour)."""

    module = "rlgpt_kitchen"
    steps = 60
    renders = bool(gl.find_backend())
