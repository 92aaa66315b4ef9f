"""The contract tests on two plugins that pass them."""

from rlgpt.testing import PluginContract


class TestGrid(PluginContract):
    module = "rlgpt.testing.grid"


class TestFork(PluginContract):
    module = "rlgpt.testing.smdp"
