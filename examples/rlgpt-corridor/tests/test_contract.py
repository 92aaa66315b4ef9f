"""The contract tests of the plugin, and a test of the environment itself."""

import numpy as np
import pytest
from rlgpt.errors import ConfigError
from rlgpt.testing import PluginContract
from rlgpt_corridor.env import CorridorEnv
from rlgpt_corridor.plugin import CorridorPlugin


class TestCorridor(PluginContract):
    module = "rlgpt_corridor"


@pytest.mark.parametrize(("slip", "valid"), [(0, True), (0.5, True), (1, False), (-0.1, False), ("no", False)])
def test_the_setting_slip_is_a_number_from_0_to_less_than_1(slip: object, valid: bool) -> None:
    plugin = CorridorPlugin()
    task = plugin.tasks()["corridor/exit"].model_copy(update={"settings": {"slip": slip}})
    if valid:
        plugin.make_env(task, seed=0)
        return
    with pytest.raises(ConfigError, match=r"task_settings\.slip of corridor/exit"):
        plugin.make_env(task, seed=0)


def test_the_door_stays_closed_until_the_switch_is_used() -> None:
    env = CorridorEnv()
    env.reset(seed=0)
    for _ in range(60):
        env.step(np.array([2, 0]))
    assert env.x == 6.0
    while abs(env.x - env.switch) > 0.2:
        env.step(np.array([0, 0]))
    env.step(np.array([1, 1]))
    assert env.open
    for _ in range(60):
        *_, terminated, _, info = env.step(np.array([2, 0]))
        if terminated:
            break
    assert info["success"]
