"""The contract tests of the plugin, and a test of the environment itself."""

import numpy as np
from rlgpt.testing import PluginContract
from rlgpt_corridor.env import CorridorEnv


class TestCorridor(PluginContract):
    module = "rlgpt_corridor"


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
