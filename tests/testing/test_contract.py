"""The contract on plugins that keep it."""

from rlgpt.testing import PluginContract


class TestGrid(PluginContract):
    module = "rlgpt.testing.grid"


class TestFork(PluginContract):
    module = "rlgpt.testing.smdp"
