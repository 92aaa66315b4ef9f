"""A fixture with the plugin under test."""

from __future__ import annotations

import pytest
from rlgpt_mujoco_car.plugin import CarPlugin


@pytest.fixture(scope="session")
def plugin() -> CarPlugin:
    return CarPlugin()
