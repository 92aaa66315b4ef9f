"""The environments of Minecraft tasks: both kinds of actions, settings, frames, ends of episodes, and animals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import MultiDiscrete
from rlgpt.errors import ConfigError
from rlgpt_minecraft.moves import SPACE, crafting, move
from rlgpt_minecraft.plugin import MinecraftPlugin
from rlgpt_minecraft.task_env import choices
from rlgpt_minecraft.tasks import make_tasks

Player = Any
Make = Callable[..., Any]


def test_base_action_has_the_same_effect_as_its_minedojo_action(make_player: Make) -> None:
    one, other = make_player("harvest_log", seed=3), make_player("harvest_log", seed=3)
    rng = np.random.default_rng(0)
    for _ in range(30):
        pair = np.array([rng.integers(12), rng.integers(3)])
        action = one.env.unwrapped.actions.translate(pair, one.obs)
        assert action in SPACE
        one.step(pair)
        other.step(action)
    for key in ("pos", "yaw", "pitch"):
        places = [p.context.observation["location_stats"][key] for p in (one, other)]
        assert (places[0] == places[1]).all()


def test_minecraft_environment_raises_an_error_for_an_invalid_action(make_player: Make) -> None:
    player = make_player("harvest_log")
    for wrong in ([0, 0, 0], [-1, 0], [12, 0], [0, 3], [0.9, 0.2], [True, False], [0.5] * 8):
        with pytest.raises(ConfigError, match="pair"):
            player.env.step(np.array(wrong))


def test_base_actions_are_sufficient_to_craft_a_wooden_pickaxe(make_player: Make) -> None:
    """With sufficient base actions, RL without code can solve the task."""
    player = make_player("wooden_pickaxe", biome="plains")
    names = choices(player.task)
    player.type("/give @p log 3")
    for _ in range(3):
        player.step(np.array([0, names.index("craft_planks")]))
    player.step(np.array([0, names.index("craft_stick")]))
    player.step(np.array([0, names.index("craft_crafting_table")]))
    assert player.obs.inventory == {"planks": 6, "stick": 4, "crafting_table": 1}
    player.step(np.array([9, 0]))  # Look down.
    for _ in range(12):
        if player.see()["table_near"]:
            break
        player.step(np.array([0, names.index("place_crafting_table")]))
        if not player.see()["table_near"]:
            player.step(np.array([11, 0]))  # Turn.
    player.step(np.array([0, names.index("craft_wooden_pickaxe")]))
    assert player.success


def test_setting_actions_paper_offers_no_crafting_actions(make_player: Make) -> None:
    assert make_player("wooden_pickaxe", actions="paper").env.action_space == MultiDiscrete([12, 3])
    assert make_player("wooden_pickaxe").env.action_space == MultiDiscrete([12, 8])


def test_setting_image_size_adds_an_image_to_the_observation(make_player: Make) -> None:
    player = make_player("harvest_milk", image_size=(64, 96))
    assert player.context.observation["rgb"].shape == (3, 64, 96)
    assert player.context.observation in player.env.observation_space
    assert "rgb" not in make_player("harvest_milk").env.observation_space.spaces


def test_render_mode_does_not_change_the_observation_space() -> None:
    plugin = MinecraftPlugin()
    task = plugin.tasks()["minecraft/harvest_log"]
    env = plugin.make_env(task, seed=0, render_mode="rgb_array")
    env.reset(seed=0)
    frame = env.render()
    assert frame.dtype == np.uint8
    assert frame.shape == (160, 256, 3)
    assert frame.std() > 10
    bare = plugin.make_env(task, seed=0)
    assert env.observation_space == bare.observation_space
    assert bare.render() is None
    with pytest.raises(ConfigError, match="human"):
        plugin.make_env(task, seed=0, render_mode="human")


def test_death_ends_a_minecraft_episode_without_success(make_player: Make) -> None:
    player = make_player("harvest_log")
    player.env.unwrapped.base.unwrapped.sim.chat("/kill")
    *_, terminated, truncated, info = player.step(move())
    assert (terminated, truncated, info["success"]) == (True, False, False)


def test_success_is_reset_with_the_inventory_in_a_new_episode(make_player: Make) -> None:
    player = make_player("stick")
    player.type("/give @p planks 2")
    player.step(crafting("stick"))
    assert player.success
    player.reset(1)
    assert not player.success
    assert player.obs.inventory == {}


@pytest.mark.parametrize("name", make_tasks())
def test_one_more_target_item_gives_success_in_each_task(make_player: Make, name: str) -> None:
    player = make_player(name.partition("/")[2])
    target = player.env.unwrapped.spec_of_task.target
    player.step(move())
    assert not player.success
    player.env.unwrapped.base.unwrapped.sim.chat(f"/give @p {target} 1")
    *_, terminated, truncated, info = player.step(move())
    assert (terminated, truncated, info["success"]) == (True, False, True)


@pytest.mark.parametrize(
    ("name", "kinds", "spread"), [("harvest_milk", [1], 10), ("harvest_beef", [1] * 3 + [2] * 3, 30)]
)
def test_animals_of_a_task_are_summoned_around_the_start(
    make_player: Make, name: str, kinds: list[int], spread: int
) -> None:
    player = make_player(name)
    for seed in range(3):
        player.reset(seed)
        mobs, x, z = player.world.mobs, *(float(player.world.player[axis][0]) for axis in "xz")
        near = (mobs["kind"] > 0) & (abs(mobs["x"] - x) <= spread + 1.5) & (abs(mobs["z"] - z) <= spread + 1.5)
        found = mobs["kind"][near].tolist()
        assert all(found.count(kind) >= kinds.count(kind) for kind in kinds)


@pytest.mark.parametrize("name", make_tasks())
def test_minecraft_task_starts_with_its_inventory_at_full_health_by_day(make_player: Make, name: str) -> None:
    player = make_player(name.partition("/")[2])
    spec = player.env.unwrapped.spec_of_task
    assert player.obs.inventory == dict(spec.inventory)
    assert player.obs.hand == (spec.inventory[0][0] if spec.inventory else "air")
    assert player.see()["life"] == 20
    assert player.see()["daylight"] > 0.9
    assert 0 < len(player.plugin.summarize(player.see())) <= 1500
