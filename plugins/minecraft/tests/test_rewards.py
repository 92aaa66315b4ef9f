"""Reward terms of Minecraft tasks on an isolated floor, and default setups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rlgpt.options.shaping import Shaping
from rlgpt_minecraft.moves import move
from rlgpt_minecraft.rewards import default_setup, reward_terms
from rlgpt_minecraft.tasks import make_tasks, spec_of

Player = Any
Make = Callable[..., Any]
TASKS = make_tasks()


def value(player: Player, name: str) -> float:
    term = {t.name: t for t in reward_terms(player.task)}[name]
    found = float(term.value(player.ctx))
    assert term.low <= found <= term.high
    return found


def test_reward_terms_near_reward_only_new_minimal_distances(room: Player) -> None:
    """As in the official code, the reward is the decrease of the smallest distance of the episode."""
    x, y, z = room.feet()
    room.type(*(f"/setblock {x} {y + b} {z + 5} log" for b in range(3)))
    far = value(room, "near_log")
    assert far == pytest.approx(1 - room.see()["log_distance"] / 40, abs=1e-3)
    room("walk", metres=2)
    for _ in range(8):
        room.step(move())  # The player slides until it stands.
    near = value(room, "near_log")
    assert (near - far) * 40 == pytest.approx(2.2, abs=0.4)
    room("walk", metres=2, direction="back")
    assert value(room, "near_log") == pytest.approx(near, abs=1e-6)


def test_aim_and_dig_rewards_apply_only_to_their_own_target(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x} {y + 1} {z + 2} log")
    assert (value(room, "aim_log"), value(room, "aim_leaves"), value(room, "dig_log")) == (1, 0, 0)
    for _ in range(15):
        room.step(move(function="attack"))
    assert value(room, "dig_log") == pytest.approx(15 / 60)
    assert room.see()["dig_ticks"] == 15
    room.step(move())
    assert room.see()["dig_ticks"] == 0
    assert value(room, "dig_log") == pytest.approx(15 / 60)  # The maximum of the episode.
    room.step(move(up=6))
    assert (value(room, "aim_log"), value(room, "dig_leaves")) == (0, 0)


def test_dig_ticks_restart_at_another_block(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x} {y + 1} {z + 2} log", f"/setblock {x - 1} {y + 1} {z + 2} log")
    for _ in range(5):
        room.step(move(function="attack"))
    room.step(move(right=2, function="attack"))
    assert room.see()["aim_block"] == "wood"
    assert room.see()["dig_ticks"] == 1


def test_item_rewards_count_gains_since_the_start_of_the_episode(make_player: Make) -> None:
    player = make_player("wooden_pickaxe")
    need = spec_of(player.task).need("log")
    assert (value(player, "first_log"), value(player, "gain_log")) == (0, 0)
    player.type("/give @p log 2")
    assert (value(player, "first_log"), value(player, "gain_log")) == (1, pytest.approx(2 / need))
    player.type("/clear")
    assert value(player, "gain_log") == pytest.approx(2 / need)  # A later loss of logs does not reduce the term.
    player.type("/give @p log 64")
    assert value(player, "gain_log") == 1


def test_initial_items_earn_no_reward(make_player: Make) -> None:
    player = make_player("bed")
    assert player.see()["crafting_table_count"] == 1
    assert player.env.unwrapped.step(move())[1] == 0.0
    player.type("/give @p bed 1")
    assert player.success
    assert value(player, "success") == 1


def test_environment_reward_is_the_gain_of_the_target_item_as_in_minedojo(make_player: Make) -> None:
    """MineDojo's ``simple_inventory_based_reward`` is the gain of the target item in this step."""
    player = make_player("harvest_wool")
    player.env.unwrapped.base.unwrapped.sim.chat("/give @p wool 3")
    _, reward, terminated, truncated, info = player.step(np.array([0, 0]))
    assert (reward, terminated, truncated, info["success"]) == (3.0, True, False, True)


def test_reward_term_life_is_the_share_of_the_full_health(room: Player) -> None:
    room.world.player["life"] = 15
    room.step(move())
    assert value(room, "life") == pytest.approx(0.75)


@pytest.mark.parametrize("name", TASKS)
def test_minecraft_default_setup_has_the_largest_weight_for_success(name: str) -> None:
    task = TASKS[name]
    setup, spec = default_setup(task), spec_of(task)
    Shaping(reward_terms(task), setup.reward_weights)
    assert setup.reward_weights["success"] >= max(v for k, v in setup.reward_weights.items() if k != "success")
    assert all(f"first_{item}" in setup.reward_weights for item in spec.path)
    assert all((f"{thing}_bearing" in setup.observation_keys) != bool(spec.pixels) for thing in spec.sights)
    assert not {"position", "height", "heading"} & set(setup.observation_keys)
