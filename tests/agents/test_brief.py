"""The brief (the description of a task for the agents) contains everything that the plugin offers."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from rlgpt.agents.base import Brief
from rlgpt.agents.brief import brief_slots, make_brief
from rlgpt.domain import Task
from rlgpt.plugin.defaults import reward_terms_of
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.policy_env import build
from rlgpt.sandbox import SandboxLimits
from rlgpt.testing.grid import GridPlugin, grid_plugin


def test_brief_contains_what_the_plugin_offers(brief: Brief, plugin: GridPlugin, task: Task) -> None:
    assert brief.primitives == ("go", "use")
    assert brief.base_actions == ("up", "down", "left", "right", "use")
    assert brief.base_space.startswith("Discrete(5)")
    assert [name for name, _ in brief.reward_terms] == [t.name for t in reward_terms_of(plugin, task)]
    assert [name for name, _ in brief.observations] == ["observation", "agent", "key", "door", "holding"]
    assert dict(brief.observations)["door"] == ""  # the stub in the brief describes the key "door"
    assert "Box of shape 7" in dict(brief.observations)["observation"]
    assert "potential, 0 to 1" in dict(brief.reward_terms)["near_key"]
    assert "def go(" in brief.stub
    assert "agent=[" in brief.start


def test_every_observation_key_in_the_brief_can_be_observed_by_the_policy(brief: Brief, task: Task) -> None:
    keys = tuple(name for name, _ in brief.observations)
    setup = brief.default_setup.model_copy(update={"observation_keys": keys})
    env = build(EnvSpec(task=task, setup=setup, factory=grid_plugin), seed=0)
    assert env.observation_space["obs"].shape == (14,)
    env.close()


class Bare(gymnasium.Env[object, object]):
    """An environment with the given spaces."""

    def __init__(self, observations: spaces.Space[Any], actions: spaces.Space[Any]) -> None:
        self.observation_space, self.action_space = observations, actions

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[object, dict[str, Any]]:
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}


def brief_of(observations: spaces.Space[Any], actions: spaces.Space[Any]) -> Brief:
    plugin = GenericPlugin.of(lambda: Bare(observations, actions), horizon=5)
    return make_brief(plugin, *plugin.tasks().values())


def test_brief_lists_only_the_observation_keys_that_a_policy_can_observe() -> None:
    space = spaces.Dict(
        {
            "place": spaces.Box(-1, 1, (2,)),
            "found": spaces.Dict({"ores": spaces.Sequence(spaces.Discrete(9))}),
            "picture": spaces.Box(0, 255, (8, 8, 3), np.uint8),
        }
    )
    names = {name for name, _ in brief_of(space, spaces.Discrete(2)).observations}
    assert {"place", "picture"} <= names
    assert "found" not in names


def test_brief_shortens_a_long_start_view(plugin: GridPlugin, task: Task) -> None:
    view = {"agent": [6, 6], "key": [0, 0], "door": [3, 3], "holding": True, "map": "x" * 9000}
    start = make_brief(plugin, task, view).start
    assert "The agent is at [6, 6]" in start
    assert len(start) < 5000


def test_stub_states_the_sandbox_limits_of_the_run(plugin: GridPlugin, task: Task) -> None:
    assert "17 times" in make_brief(plugin, task, limits=SandboxLimits(yields=17)).stub


def test_prompt_slots_contain_a_sentence_when_the_brief_has_no_knowledge_and_no_reset_options(brief: Brief) -> None:
    slots = brief_slots(brief.model_copy(update={"knowledge": "", "reset_options": ()}))
    assert "Nothing beyond" in slots["knowledge"]
    assert "none but the task's own" in slots["reset_options"]


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (spaces.Discrete(3), "Discrete(3)"),
        (spaces.Box(-1, 1, (9,)), "Box(9): that many continuous numbers at once, each within -1 to 1"),
        (
            spaces.Box(np.float32([-1, 0]), np.float32([1, 1])),
            "Box(2): that many continuous numbers at once, within -1 to 1, 0 to 1",
        ),
        (spaces.MultiDiscrete([3, 4]), "MultiDiscrete([3, 4])"),
        (spaces.Tuple((spaces.Discrete(2), spaces.Box(0, 1, (2,)))), "Tuple(2)"),
    ],
)
def test_brief_describes_the_action_space(space: spaces.Space[Any], words: str) -> None:
    assert brief_of(spaces.Box(-1, 1, (2,)), space).base_space.startswith(words)


def test_policy_may_not_observe_text_of_a_space_that_gymnasium_cannot_flatten() -> None:
    """MiniGrid's space of missions does not implement ``is_np_flattenable``."""
    import minigrid  # noqa: F401 - registers its environments

    plugin = GenericPlugin.of(partial(gymnasium.make, "MiniGrid-Empty-5x5-v0"), goal="Reach the goal.")
    observable = {name for name, _ in make_brief(plugin, *plugin.tasks().values()).observations}
    assert {"direction", "image"} <= observable
    assert "mission" not in observable
