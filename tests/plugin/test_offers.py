"""Offers of a plugin: numbers that only a policy observes, vector functions for code, and success as a reward term."""

import functools
from collections.abc import Mapping

import gymnasium
import numpy as np
import pytest
import rlgpt
from rlgpt.agents.brief import make_brief
from rlgpt.agents.checks import setup_faults
from rlgpt.agents.setup_overrides import SetupOverrides
from rlgpt.domain import RLSetup
from rlgpt.errors import PluginError, UnknownNameError
from rlgpt.options.shaping import Shaping
from rlgpt.plugin import ViewKey, library_of
from rlgpt.plugin.defaults import reward_terms_of
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.policy_env import build
from rlgpt.testing.grid import TASKS, GridPlugin

KEY = TASKS["grid/key"]


class Mapped(GridPlugin):
    """The grid world in which the policy also observes a one-hot map of the cells."""

    vectors = "none"
    asked = 0

    def view_keys(self, task):
        return (*super().view_keys(task), ViewKey("cells", "which cell holds what", size=147, alone=True))

    def policy_view(self, ctx) -> Mapping[str, np.ndarray]:
        self.asked += 1
        cells = np.zeros((3, 7, 7), np.float32)
        for i, place in enumerate((ctx.model.agent, ctx.model.key, ctx.model.door)):
            cells[(i, *place)] = 1
        return {"cells": cells}


def policy_env(plugin, keys):
    setup = RLSetup(reward_weights={"success": 1.0}, observation_keys=keys)
    return build(EnvSpec(KEY, setup, factory=lambda task: plugin), seed=0)


def test_keys_of_policy_view_are_observed_by_the_policy_and_not_by_code() -> None:
    plugin = Mapped()
    env = policy_env(plugin, ("holding", "cells"))
    seen = env.reset(seed=0)[0]["obs"]
    assert seen.shape == (148,)
    assert seen[1:].sum() == 3
    assert "cells" not in env.extended.view()
    assert "cells" not in [key.name for key in library_of(plugin, KEY).view]
    assert "cells" in dict(make_brief(plugin, KEY).observations)
    assert 'view["cells"]' not in make_brief(plugin, KEY).stub


def test_policy_view_is_called_only_if_the_setup_names_its_keys() -> None:
    plugin = Mapped()
    env = policy_env(plugin, ("holding",))
    env.reset(seed=0)
    env.step(0)
    assert plugin.asked == 0


def test_missing_key_of_policy_view_raises_a_plugin_error() -> None:
    class Silent(Mapped):
        def policy_view(self, ctx):
            return {}

    env = policy_env(Silent(), ("cells",))
    with pytest.raises(PluginError, match=r"policy_view\(\) of the plugin gives no 'cells'"):
        env.reset(seed=0)


@pytest.mark.parametrize(
    ("vectors", "there", "missing"),
    [
        ("all", ["vec.add(", "vec.slerp(", ", vec.\n", "quaternions"], []),
        ("plain", ["vec.add(", "vec.wrap(", ", vec.\n"], ["vec.slerp(", "vec.euler(", "quaternion"]),
        ("none", ["heapq, statistics.\n"], ["vec"]),
    ],
)
def test_plugin_chooses_the_vector_functions_that_code_may_call(vectors, there, missing) -> None:
    plugin = type("Flat", (GridPlugin,), {"vectors": vectors})()
    stub = make_brief(plugin, KEY).stub
    assert [part for part in there if part not in stub] == []
    assert [part for part in missing if part in stub] == []


def pole() -> GenericPlugin:
    return GenericPlugin.of(functools.partial(gymnasium.make, "CartPole-v1"), success=3, horizon=5)


def test_success_is_a_reward_term_of_every_environment() -> None:
    plugin = pole()
    (task,) = plugin.tasks().values()
    assert [t.name for t in reward_terms_of(plugin, task)] == ["env_reward", "success"]
    env = rlgpt.extend(plugin.make_env(task, seed=0), plugin=plugin, task=task, reward_weights={"success": 10.0})
    env.reset(seed=0)
    assert [env.step(i % 2)[1] for i in range(5)] == [0, 0, 0, 0, 10]
    SetupOverrides(reward_weights={"success": 1.0}).check(plugin, task)
    setup = RLSetup(reward_weights={"success": 1.0}, observation_keys=("observation",))
    assert setup_faults(setup, make_brief(plugin, task), ()) == []
    with pytest.raises(UnknownNameError, match="Did you mean 'success'"):
        Shaping(reward_terms_of(plugin, task), {"succes": 1.0})


def test_reward_term_success_of_a_plugin_is_not_added_a_second_time() -> None:
    class Own(GridPlugin):
        def reward_terms(self, task):
            return (*super().reward_terms(task), own)

    own = reward_terms_of(GridPlugin(), KEY)[-1]
    assert reward_terms_of(Own(), KEY).count(own) == 1
