"""The contract tests of plugins. JAX compiles the simulator for a minute, so only slow tests play episodes."""

from __future__ import annotations

import pytest
from rlgpt.testing import Effort, PluginContract


@pytest.mark.slow
class TestCraftax(PluginContract):
    module = "rlgpt_craftax"
    full = Effort(steps=60, seeds=(0, 1), horizon_limit=1_000, argument_sets=8, screening=1)
