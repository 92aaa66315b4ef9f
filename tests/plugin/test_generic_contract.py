"""GenericPlugin passes the contract tests of plugins."""

from functools import partial

import gymnasium
import pytest
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.testing.contract import broken_laws


@pytest.mark.parametrize(
    ("name", "success"),
    [
        ("CartPole-v1", lambda info, total: total >= 475),
        ("Pendulum-v1", lambda info, total: False),
        ("FrozenLake-v1", None),
        pytest.param("Taxi-v4", None, marks=pytest.mark.slow),
        ("MountainCarContinuous-v0", None),
    ],
)
def test_generic_plugin_passes_the_contract_tests(name: str, success) -> None:
    assert broken_laws(GenericPlugin.of(partial(gymnasium.make, name), success=success)) == {}


def test_contract_tests_report_a_task_of_one_step_that_a_single_call_solves() -> None:
    found = broken_laws(GenericPlugin.of(partial(gymnasium.make, "Blackjack-v1")))
    assert list(found) == ["test_no_single_call_is_a_solution"]
