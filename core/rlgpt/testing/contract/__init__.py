"""The plugin contract: tests that plugin authors inherit. Each test is a *law* that every plugin must satisfy.

    from rlgpt.testing import PluginContract

    class TestKitchen(PluginContract):
        module = "rlgpt_kitchen"

A plugin whose simulator is slow names a ``sample`` of its tasks; tests with the marker ``slow`` then try the remaining
tasks. Each law is one test for each task, and its message says what to do. A law is skipped if an earlier law has
already reported the cause, so an environment that cannot be played causes only one failure. After the first play of a
task, a printed line estimates how long its laws will take. ``broken_laws(plugin)`` checks the laws without pytest's
runner.
"""

from rlgpt.testing.contract.broken import broken_laws
from rlgpt.testing.contract.environment import EnvironmentLaws
from rlgpt.testing.contract.extension import ExtensionLaws
from rlgpt.testing.contract.first import FirstLaws
from rlgpt.testing.contract.laws import FULL, QUICK, Effort
from rlgpt.testing.contract.primitives import PrimitiveLaws
from rlgpt.testing.contract.recordings import RecordingLaws
from rlgpt.testing.contract.rewards import RewardLaws
from rlgpt.testing.contract.states import StateLaws
from rlgpt.testing.contract.tasks import TaskLaws
from rlgpt.testing.contract.views import ViewLaws


class PluginContract(
    StateLaws, TaskLaws, RecordingLaws, EnvironmentLaws, ExtensionLaws, PrimitiveLaws, RewardLaws, ViewLaws, FirstLaws
):
    """The plugin contract with all laws. A subclass sets ``module``;
    :class:`~rlgpt.testing.contract.laws.Laws` lists the other settings.
    """


__all__ = ["FULL", "QUICK", "Effort", "PluginContract", "broken_laws"]
