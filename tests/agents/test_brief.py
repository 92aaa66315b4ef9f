"""The brief says what the plugin offers, and nothing is lost on the way into a prompt."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from rlgpt.agents.base import Brief
from rlgpt.agents.brief import _observations, _space, brief_slots, make_brief
from rlgpt.domain import Task
from rlgpt.rl.base import EnvSpec
from rlgpt.sandbox import SandboxLimits
from rlgpt.testing.grid import GridPlugin, grid_plugin


def test_everything_the_plugin_offers_is_in_the_brief(brief: Brief, plugin: GridPlugin, task: Task) -> None:
    assert brief.primitives == ("go", "use")
    assert brief.base_actions == ("up", "down", "left", "right", "use")
    assert brief.base_space.startswith("Discrete(5)")
    assert [name for name, _ in brief.reward_terms] == [t.name for t in plugin.reward_terms(task)]
    assert [name for name, _ in brief.observations] == ["observation", "agent", "key", "door", "holding"]
    assert dict(brief.observations)["door"].endswith("privileged: known in simulation only)")
    assert "potential, 0 to 1" in dict(brief.reward_terms)["near_key"]
    assert "def go(" in brief.stub
    assert "agent=[" in brief.start


def test_every_observation_key_it_names_can_be_observed(brief: Brief, task: Task) -> None:
    keys = tuple(name for name, _ in brief.observations)
    setup = brief.default_setup.model_copy(update={"observation_keys": keys})
    env = EnvSpec(task=task, setup=setup, factory=grid_plugin).build(seed=0)
    assert env.observation_space["obs"].shape == (14,)
    env.close()


def test_what_a_policy_cannot_observe_is_not_named() -> None:
    space = spaces.Dict(
        {
            "place": spaces.Box(-1, 1, (2,)),
            "found": spaces.Dict({"ores": spaces.Sequence(spaces.Discrete(9))}),
            "picture": spaces.Box(0, 255, (8, 8, 3), np.uint8),
        }
    )
    assert {name for name, _ in _observations(space, ())} == {"place", "picture"}


def test_the_start_is_the_one_given(plugin: GridPlugin, task: Task) -> None:
    view = {"agent": [6, 6], "key": [0, 0], "door": [3, 3], "holding": True, "map": "x" * 9000}
    start = make_brief(plugin, task, view).start
    assert "The agent is at [6, 6]" in start
    assert len(start) < 5000


def test_the_stub_tells_the_budgets_of_the_run(plugin: GridPlugin, task: Task) -> None:
    assert "17 times" in make_brief(plugin, task, budgets=SandboxLimits(yields=17)).stub


def test_slots_say_where_there_is_nothing(brief: Brief) -> None:
    slots = brief_slots(brief.model_copy(update={"knowledge": "", "reset_options": ()}))
    assert "Nothing beyond" in slots["knowledge"]
    assert "must be null" in slots["reset_options"]


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (spaces.Discrete(3), "Discrete(3)"),
        (spaces.Box(-1, 1, (9,)), "Box(9): that many continuous numbers at once, each within -1 to 1"),
        (spaces.MultiDiscrete([3, 4]), "MultiDiscrete([3, 4])"),
        (spaces.Tuple((spaces.Discrete(2), spaces.Box(0, 1, (2,)))), "Tuple(2)"),
    ],
)
def test_action_spaces_in_words(space: gymnasium.Space[object], words: str) -> None:
    assert _space(space).startswith(words)
