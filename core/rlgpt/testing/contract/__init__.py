"""The plugin contract: tests that plugin authors inherit. Each test of the contract is a *law* that every plugin must
satisfy.

    from rlgpt.testing import PluginContract

    class TestKitchen(PluginContract):
        module = "rlgpt_kitchen"

If the simulator of a plugin is slow, the subclass names a ``sample`` of the plugin's tasks. The sample is tested with
less effort, and tests with the marker ``slow`` then test all tasks in full. Each law is one test for each task. The
message of a failed law says what the plugin's author must do. A law is skipped if an earlier law has already reported
the cause, so an environment that cannot be played causes only one failure. After the first play of a task, the contract
prints a line with the estimated duration of the laws of this task. The function ``broken_laws(plugin)`` checks the laws
without a run of pytest.
"""

from rlgpt.testing.contract.broken import broken_laws
from rlgpt.testing.contract.environment import EnvironmentLaws
from rlgpt.testing.contract.extension import ExtensionLaws
from rlgpt.testing.contract.first import FirstLaws
from rlgpt.testing.contract.laws import FULL, QUICK, Effort, Laws
from rlgpt.testing.contract.primitives import PrimitiveLaws
from rlgpt.testing.contract.recordings import RecordingLaws
from rlgpt.testing.contract.rewards import RewardLaws
from rlgpt.testing.contract.states import StateLaws
from rlgpt.testing.contract.tasks import TaskLaws
from rlgpt.testing.contract.views import ViewLaws


class PluginContract(
    StateLaws, TaskLaws, RecordingLaws, EnvironmentLaws, ExtensionLaws, PrimitiveLaws, RewardLaws, ViewLaws, FirstLaws
):
    """The plugin contract with all laws. A subclass of the contract sets ``module``;
    :class:`~rlgpt.testing.Laws` lists the other settings.
    """


__all__ = ["FULL", "QUICK", "Effort", "Laws", "PluginContract", "broken_laws"]
