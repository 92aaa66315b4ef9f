"""The contract every plugin keeps, as tests that plugin authors inherit.

    from rlgpt.testing import PluginContract

    class TestKitchen(PluginContract):
        module = "rlgpt_kitchen"

Each law is one test (for each task); its message says what to do. ``broken_laws(plugin)`` tries them without pytest's
runner.
"""

from rlgpt.testing.contract.broken import broken_laws
from rlgpt.testing.contract.environment import EnvironmentLaws
from rlgpt.testing.contract.extension import ExtensionLaws
from rlgpt.testing.contract.primitives import PrimitiveLaws
from rlgpt.testing.contract.recordings import RecordingLaws
from rlgpt.testing.contract.rewards import RewardLaws
from rlgpt.testing.contract.tasks import TaskLaws
from rlgpt.testing.contract.views import ViewLaws


class PluginContract(TaskLaws, RecordingLaws, EnvironmentLaws, ViewLaws, RewardLaws, PrimitiveLaws, ExtensionLaws):
    """All laws. Set ``module``; see :class:`rlgpt.testing.contract.laws.Laws` for the other settings."""


__all__ = ["PluginContract", "broken_laws"]
