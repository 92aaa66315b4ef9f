"""The fixture with the furniture plugin."""

from __future__ import annotations

import pytest
from rlgpt_furniture.plugin import FurniturePlugin


@pytest.fixture(scope="session")
def plugin() -> FurniturePlugin:
    return FurniturePlugin()
