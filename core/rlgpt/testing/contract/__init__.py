"""The plugin contract: tests that plugin authors inherit. Each test is a *law* that every plugin must satisfy.

    from rlgpt.testing import PluginContract

    class TestKitchen(PluginContract):
        module = "rlgpt_kitchen"

If the simulator of a plugin is slow, the contract names a ``sample`` of the plugin's tasks; tests with the marker
``slow`` then try the remaining tasks. Each law is one test for each task. The message of a failed test says what to do.
A law is skipped if an earlier law has already reported the cause, so an environment that cannot be played causes only
one failure. After the first play of a task, a line is printed that estimates how long the laws of this task will take.
``broken_laws(plugin)`` checks the laws without a run of pytest.
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
