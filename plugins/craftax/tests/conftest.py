"""Fixture with the plugin under test."""

from __future__ import annotations

import pytest
from rlgpt_craftax.plugin import CraftaxPlugin


@pytest.fixture(scope="session")
def plugin() -> CraftaxPlugin:
    return CraftaxPlugin()
