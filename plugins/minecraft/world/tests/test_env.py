"""The environment of the embedded world: gymnasium's rules, determinism, and the effects of MineDojo's actions."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils import env_checker
from voxeldojo.command import EmptySlotError
from voxeldojo.env import MineDojoEnv
from voxeldojo.errors import ConfigError
from voxeldojo.mission import Box, Mission, Placement, Stack
from voxeldojo.names import CRAFTS
from voxeldojo.spaces import FUNCTIONS

EVERYTHING = Mission(
    inventory=(Stack(slot=0, name="log", quantity=3), Stack(slot=1, name="dirt", quantity=9)),
    image_size=(8, 12),
    voxels=Box(),
    rays=((0.0, 0.0, 10.0), (0.3, 0.2, 20.0)),
    seed=4,
)


def leaves(tree: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, part in tree.items():
        if isinstance(part, dict):
            yield from leaves(part, f"{path}/{name}")
        else:
            yield f"{path}/{name}", part


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    a, b = dict(leaves(one)), dict(leaves(other))
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def act(env: MineDojoEnv, function: str = "no_op", craft: str = "", slot: int = 0, **heads: int) -> np.ndarray:
    action = env.no_op()
    action[5], action[7] = FUNCTIONS.index(function), slot
    if craft:
        action[6] = CRAFTS.index(craft)
    for name, value in heads.items():
        action[("walk", "strafe", "body", "pitch", "yaw").index(name)] = value
    return action


@pytest.fixture(scope="module")
def env() -> MineDojoEnv:
    return MineDojoEnv(EVERYTHING)


def test_voxeldojo_environment_passes_check_env_of_gymnasium(
    monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    compare = env_checker.data_equivalence
    # gymnasium compares observations by numpy's allclose, which does not support strings. This comparison is exact.
    monkeypatch.setattr(env_checker, "data_equivalence", lambda a, b, exact=True: compare(a, b, exact=True))
    env = MineDojoEnv(EVERYTHING, strict=False, render_mode="rgb_array")
    with pytest.warns(UserWarning, match="infinity"):  # Durability and distances have no bound in MineDojo's spaces.
        env_checker.check_env(env, skip_render_check=True)
    assert {str(w.message).split("WARN: ")[-1].split(" This")[0] for w in recwarn} <= {
        "A Box observation space maximum value is infinity.",
        "A Box observation space minimum value is -infinity.",
    }


def test_voxeldojo_gives_the_same_episode_for_the_same_seed_and_actions() -> None:
    mission = Mission(inventory=EVERYTHING.inventory, voxels=Box(), rays=EVERYTHING.rays)
    one, other = (MineDojoEnv(mission, strict=False) for _ in range(2))
    other.reset(seed=99)
    for _ in range(20):
        other.step(other.action_space.sample())  # Earlier episodes must have no effect.
    begun = one.reset(seed=5), other.reset(seed=5)
    assert same(begun[0][0], begun[1][0])
    assert begun[0][1] == begun[1][1]
    one.action_space.seed(0)
    for _ in range(150):
        action = one.action_space.sample()
        a, b = one.step(action), other.step(action)
        assert same(a[0], b[0])
        assert a[1:] == b[1:]
        if a[2]:
            break
    again, _ = one.reset(seed=6)
    assert not np.array_equal(again["voxels"]["block_name"], begun[0][0]["voxels"]["block_name"]) or not np.array_equal(
        again["location_stats"]["pos"], begun[0][0]["location_stats"]["pos"]
    )


def test_reset_without_a_seed_gives_a_new_land_each_time() -> None:
    env = MineDojoEnv()
    env.reset(seed=5)
    seeds = []
    for _ in range(2):
        env.reset()
        seeds.append(int(env.sim.world.clock["seed"][0]))
    assert len(set(seeds)) == 2


def test_mission_seed_determines_the_land_but_not_the_random_numbers(env: MineDojoEnv) -> None:
    states = []
    for seed in (1, 2):
        env.reset(seed=seed)
        clock = env.sim.world.clock[0]
        states.append((env.sim.world.blocks[240:272, :, 240:272].copy(), int(clock["seed"]), int(clock["rng"])))
    assert np.array_equal(states[0][0], states[1][0])
    assert states[0][1] == states[1][1] == 4
    assert states[0][2] != states[1][2]


def test_later_steps_do_not_change_an_earlier_voxeldojo_observation(env: MineDojoEnv) -> None:
    first, info = env.reset(seed=0)
    kept, expected_info = copy.deepcopy(first), copy.deepcopy(info)
    for _ in range(5):
        env.step(act(env, "craft", "planks", walk=1, yaw=14))
    assert same(first, kept)
    assert info == expected_info


def test_observation_delta_inv_contains_the_items_that_crafting_used_and_made(env: MineDojoEnv) -> None:
    before, _ = env.reset(seed=0)
    assert before["masks"]["craft_smelt"][CRAFTS.index("planks")]
    after, _, _, _, info = env.step(act(env, "craft", "planks"))
    assert after["delta_inv"]["inc_name_by_craft"].tolist() == ["planks"]
    assert after["delta_inv"]["inc_quantity_by_craft"].tolist() == [4.0]
    assert after["delta_inv"]["dec_name_by_craft"].tolist() == ["log", "air", "air", "air"]
    assert after["delta_inv"]["dec_quantity_by_craft"].tolist() == [1.0, 0, 0, 0]
    assert {stack["name"]: stack["quantity"] for stack in info["inventory"] if stack["quantity"]} == {
        "log": 2,
        "dirt": 9,
        "planks": 4,
    }
    calm, *_ = env.step(act(env))
    assert calm["delta_inv"]["inc_name_by_craft"].tolist() == ["air"]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_actions_drop_craft_equip_place_and_destroy_take_three_ticks(env: MineDojoEnv, function: str) -> None:
    _, begun = env.reset(seed=0)
    *_, info = env.step(act(env, function, slot=1))
    slow = function in ("drop", "craft", "equip", "place", "destroy")
    assert info["total_time"] - begun["total_time"] == (3 if slow else 1)


def test_equip_destroy_and_drop_actions_change_the_inventory(env: MineDojoEnv) -> None:
    env.reset(seed=0)
    observation, *_ = env.step(act(env, "equip", slot=1))
    assert observation["inventory"]["name"][:2].tolist() == ["dirt", "log"]
    assert observation["equipment"]["name"][0] == "dirt"
    observation, *_ = env.step(act(env, "destroy", slot=1))
    assert observation["inventory"]["name"][1] == "air"
    assert observation["inventory"]["quantity"][1] == 0
    assert not observation["masks"]["destroy"][1]
    observation, *_ = env.step(act(env, "drop"))
    assert observation["inventory"]["quantity"][0] == 8


def test_action_place_puts_the_block_in_front_of_the_player(env: MineDojoEnv) -> None:
    env.reset(seed=0)
    env.step(act(env, pitch=16))  # The look is 60 degrees down, so the block ahead is the ground.
    observation, *_ = env.step(act(env, "place", slot=1))
    assert observation["inventory"]["quantity"][1] == 8
    assert observation["inventory"]["name"][0] == "log"
    assert "dirt" in observation["voxels"]["block_name"][:, 1:].ravel() or "dirt" in observation["rays"]["block_name"]


def test_action_equip_puts_armour_into_its_slot() -> None:
    env = MineDojoEnv(Mission(inventory=(Stack(slot=3, name="iron_helmet"),)))
    env.reset(seed=0)
    observation, *_ = env.step(act(env, "equip", slot=3))
    assert observation["equipment"]["name"].tolist() == ["air", "air", "air", "air", "iron helmet", "air"]
    assert observation["life_stats"]["armor"].tolist() == [2.0]


def test_action_on_an_empty_slot_raises_an_error_only_in_strict_mode(env: MineDojoEnv) -> None:
    env.reset(seed=0)
    with pytest.raises(EmptySlotError):
        env.step(act(env, "place", slot=9))
    lenient = MineDojoEnv(strict=False)
    before, _ = lenient.reset(seed=0)
    after, *_ = lenient.step(act(lenient, "place", slot=9))
    assert same(before["inventory"], after["inventory"])


@pytest.mark.parametrize("action", [[0] * 7, [3, 0, 0, 12, 12, 0, 0, 0], [0, 0, 0, 12, 12, 0, 0, -1], [0.5] + [0] * 7])
def test_voxeldojo_raises_an_error_for_an_invalid_action(env: MineDojoEnv, action: list[float]) -> None:
    env.reset(seed=0)
    with pytest.raises(ConfigError, match="is not an action"):
        env.step(np.array(action))


def test_death_ends_the_episode_and_the_next_episode_begins_alive(env: MineDojoEnv) -> None:
    env.reset(seed=0)
    env.sim.chat("/kill")
    observation, _, over, cut, info = env.step(act(env))
    assert over
    assert not cut
    assert observation["life_stats"]["life"] == 0
    assert info["is_dead"]
    assert not info["is_alive"]
    assert (observation["inventory"]["name"] == "air").all()
    _, info = env.reset()
    assert info["is_alive"]


def test_observation_damage_source_reports_a_fall_once() -> None:
    env = MineDojoEnv(Mission(start=Placement(x=256.5, y=100.0, z=256.5), biome="desert", mobs_spawn=False))
    env.reset(seed=3)
    blows = []
    for _ in range(80):
        observation, _, over, _, _ = env.step(act(env))
        blows.append(float(observation["damage_source"]["damage_amount"][0]))
        if over:
            break
    assert sum(blow > 0 for blow in blows) == 1
    assert max(blows) <= 40


def test_reset_starts_with_the_position_health_time_and_weather_of_the_mission() -> None:
    start = Placement(x=250.5, y=90.0, z=261.25, yaw=-90.0, pitch=30.0)
    mission = Mission(start=start, health=7.0, food=11, time=18_000, weather="rain", biome="desert", mobs_spawn=False)
    observation, info = MineDojoEnv(mission).reset(seed=1)
    assert observation["location_stats"]["pos"].tolist() == [250.5, 90.0, 261.25]
    assert (observation["location_stats"]["yaw"], observation["location_stats"]["pitch"]) == (-90, 30)
    assert (observation["life_stats"]["life"], observation["life_stats"]["food"]) == (7, 11)
    assert observation["location_stats"]["is_raining"] == 1
    assert observation["location_stats"]["temperature"] == 1
    assert info["biome_temperature"] == 2
    assert info["world_time"] == 18_000
    assert info["biome_name"] == "Desert"


@pytest.mark.parametrize("mode", [None, "rgb_array"])
def test_render_returns_an_image_only_with_render_mode_rgb_array(mode: str | None) -> None:
    env = MineDojoEnv(EVERYTHING, render_mode=mode)
    observation, _ = env.reset(seed=0)
    picture = env.render()
    if mode is None:
        assert picture is None
    else:
        assert picture is not None
        assert picture.shape == (8, 12, 3)
        assert np.array_equal(picture, observation["rgb"].transpose(1, 2, 0))


def test_environment_refuses_an_invalid_render_mode_or_camera_interval() -> None:
    with pytest.raises(ConfigError, match="rgb_array"):
        MineDojoEnv(render_mode="human")
    with pytest.raises(ConfigError, match="above 0"):
        MineDojoEnv(camera_interval=0)


def test_loaded_episode_continues_exactly_like_the_saved_episode() -> None:
    env, other = MineDojoEnv(EVERYTHING, strict=False), MineDojoEnv(EVERYTHING, strict=False)
    env.reset(seed=2)
    env.action_space.seed(2)
    for _ in range(40):
        action = env.action_space.sample()
        env.step(act(env, "attack", pitch=13) if action[5] == 0 else action)
    saved = env.save()
    begun, expected_info = other.load(saved)
    assert expected_info == env.sim.facts()
    assert begun["delta_inv"]["inc_name_by_other"].tolist() == ["air"]
    for _ in range(60):
        action = env.action_space.sample()
        a, b = env.step(action), other.step(action)
        assert same(a[0], b[0])
        assert a[1:] == b[1:]
        if a[2]:
            break


def test_seed_of_load_changes_the_random_movement_of_mobs() -> None:
    mission = Mission(biome="plains", mobs_spawn=False)
    env = MineDojoEnv(mission, strict=False)
    env.reset(seed=2)
    for _ in range(12):
        env.sim.chat("/summon cow ~3 ~ ~3")
    saved = env.save()

    def paths(seed: int | None) -> bytes:
        env.load(saved, seed=seed)
        for _ in range(300):
            env.step(env.no_op())
        return env.sim.world.mobs["x"].tobytes()

    assert paths(None) == paths(None)
    assert paths(5) == paths(5)
    assert len({paths(None), paths(5), paths(6)}) == 3


def test_two_environments_step_in_one_vector_environment() -> None:
    vector = gymnasium.vector.SyncVectorEnv([lambda: MineDojoEnv(strict=False) for _ in range(2)])
    observations, _ = vector.reset(seed=[1, 2])
    assert len(observations["inventory"]["quantity"]) == 2
    vector.step(vector.action_space.sample())
    vector.close()


def play(steps: int, seed: int) -> None:
    stacks = ("log", "cobblestone", "coal", "sand", "iron_ore")
    tools = ("bucket", "water_bucket", "shears", "flint_and_steel", "crafting_table", "furnace", "iron_pickaxe", "bed")
    inventory = [Stack(slot=slot, name=name, quantity=16) for slot, name in enumerate(stacks)]
    inventory += [Stack(slot=len(stacks) + slot, name=name) for slot, name in enumerate(tools)]
    mission = Mission(inventory=tuple(inventory), voxels=Box(), rays=((0.0, 0.0, 10.0),), break_speed=20.0)
    env = MineDojoEnv(mission, strict=False)
    env.action_space.seed(seed)
    env.reset(seed=seed)
    for step in range(steps):
        action = env.action_space.sample()
        if step % 3:
            action[3:5] = 12  # Otherwise the camera never rests long enough to dig.
        observation, _, over, _, _ = env.step(action)
        if step % 97 == 0 or over:
            assert observation in env.observation_space
        if over or step % 5000 == 4999:
            env.reset()


def test_five_thousand_random_actions_raise_no_error() -> None:
    play(5_000, 0)


@pytest.mark.slow
def test_a_million_random_actions_raise_no_error() -> None:
    play(1_000_000, 1)
