"""Tests of ``Sim``: the information for Malmo, statistics, commands, saving and loading, resets and respawning."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from voxeldojo.command import Command
from voxeldojo.errors import UnknownNameError
from voxeldojo.malmo_json import RAY_KEYS, VOXEL_KEYS
from voxeldojo.mission import Box, Mission, Stack
from voxeldojo.names import ACHIEVEMENTS, ENTITIES, ITEMS, STATS
from voxeldojo.saving import SaveError, unpack
from voxeldojo.sim import Sim
from voxeldojo.world.items import ID


@pytest.fixture
def sim() -> Sim:
    box = Box(xmin=-1, xmax=2, ymin=-1, ymax=3, zmin=0, zmax=2)
    begun = Sim(Mission(biome="plains", mobs_spawn=False, voxels=box, rays=((0.0, 0.0, 9.0), (0.5, 0.1, 20.0)), seed=1))
    begun.reset(0)
    return begun


def test_a_mission_refuses_a_biome_of_another_dimension() -> None:
    with pytest.raises(UnknownNameError, match="Overworld"):
        Sim(Mission(biome="the_end"))


def test_info_has_all_keys_and_is_writable_as_json(sim: Sim) -> None:
    info = json.loads(json.dumps(sim.info()))
    assert [stack["index"] for stack in info["inventory"]] == list(range(41))
    assert len(info["voxels"]) == 4 * 5 * 3 * len(VOXEL_KEYS)
    assert len(info["rays"]) == 2 * len(RAY_KEYS)
    assert set(STATS) <= set(info["stat"])
    assert tuple(info["stat"]["kill_entity"]) == ENTITIES
    assert tuple(info["stat"]["use_item"]["minecraft"]) == ITEMS
    assert tuple(info["achievement"]) == ACHIEVEMENTS


def test_flat_voxels_change_fastest_along_x(sim: Sim) -> None:
    voxels = sim.sensors.look(sim.world)["voxels"]
    flat = sim.info()["voxels"]
    names = np.array(flat[:: len(VOXEL_KEYS)]).reshape(voxels["block_name"].shape, order="F")
    assert np.array_equal(names, voxels["block_name"])
    assert flat[len(VOXEL_KEYS)] == voxels["block_name"][1, 0, 0]


def test_statistics_count_used_items_kills_ticks_and_jumps(sim: Sim) -> None:
    sim.chat("/give @p iron_pickaxe")
    sim.chat("/setblock ~ ~1 ~1 stone")
    sim.chat("/tp ~ ~ ~ 0 0")
    for _ in range(20):
        sim.step(Command(attack=True))
    sim.chat("/setblock ~ ~1 ~1 air")
    sim.chat("/tp ~ ~ ~ 180 0")
    sim.chat("/summon pig ~ ~ ~-1.5")
    sim.world.mobs["life"] = 1.0
    sim.step()  # releases the key: an attack hits only when the key is pressed
    sim.step(Command(attack=True, pitch=35.0))
    for _ in range(30):
        sim.step()
    for _ in range(30):
        sim.step(Command(forward=True, jump=True))
    statistics = sim.info()["stat"]
    assert statistics["use_item"]["minecraft"]["iron_pickaxe"] >= 2
    assert statistics["kill_entity"]["pig"] == statistics["mob_kills"] == 1
    assert statistics["play_one_minute"] == statistics["time_since_death"] == 82
    assert statistics["jump"] >= 1
    assert statistics["deaths"] == 0


def test_statistics_count_tilling_and_planting(sim: Sim) -> None:
    sim.chat("/setblock ~ ~-1 ~1 dirt")
    for dy in (0, 1):
        sim.chat(f"/setblock ~ ~{dy} ~1 air")
    sim.chat("/tp ~ ~ ~ 0 55")
    sim.chat("/replaceitem entity @p slot.hotbar.0 iron_hoe")
    sim.chat("/replaceitem entity @p slot.hotbar.1 wheat_seeds 3")
    for slot in (0, 0, 1):
        sim.step(Command(use=True, hotbar=slot))
        sim.step()
    used = sim.info()["stat"]["use_item"]["minecraft"]
    assert {name: count for name, count in used.items() if count} == {"iron_hoe": 1, "wheat_seeds": 1}


def test_putting_on_armour_is_no_use_of_it(sim: Sim) -> None:
    sim.chat("/give @p iron_boots")
    sim.step(Command(equip="iron_boots"))
    sim.step(Command(use=True))
    info = sim.info()
    assert info["inventory"][36]["name"] == "iron_boots"
    assert not any(info["stat"]["use_item"]["minecraft"].values())


def test_hotbar_and_swap_commands_change_the_inventory(sim: Sim) -> None:
    sim.chat("/replaceitem entity @p slot.hotbar.4 stone 9 0")
    sim.step(Command(swap=(4, 20)))
    assert sim.info()["inventory"][20]["name"] == "stone"
    sim.step(Command(swap=(20, 3), hotbar=3))
    info = sim.info()
    assert (info["current_item_index"], info["inventory"][3]["quantity"]) == (3, 9)


def test_placing_a_block_by_name_leaves_the_hand_unchanged(sim: Sim) -> None:
    sim.chat("/replaceitem entity @p slot.hotbar.0 log 5 0")
    sim.chat("/replaceitem entity @p slot.inventory.3 crafting_table 1 0")
    sim.chat("/tp ~ ~ ~ 0 60")
    sim.step(Command(place="crafting_table"))
    slots = sim.world.slots
    assert (int(slots["quantity"][0]), int(slots["quantity"][12])) == (5, 0)
    assert sim.facts()["nearby_crafting_table"]
    sim.step(Command(place="bed"))  # not placeable in Malmo
    sim.step(Command(place="diamond_block"))  # not in the inventory
    assert int(sim.world.slots["quantity"].sum()) == 5


def test_reset_with_the_same_seed_restores_the_initial_world() -> None:
    sim = Sim(Mission(inventory=(Stack(slot=0, name="log"),)))
    sim.reset(1)
    first = sim.save()
    for _ in range(30):
        sim.step(Command(forward=True, attack=True, yaw=9.0))
    sim.chat("/kill")
    sim.step()
    sim.reset(1)
    assert sim.save() == first


def test_load_refuses_an_incomplete_or_incompatible_save(sim: Sim) -> None:
    saved = sim.save()
    for wrong in (b"", b"PK\x03\x04 nonsense", saved[: len(saved) // 2], saved[:-40]):
        with pytest.raises(SaveError, match="not a saved world"):
            sim.load(wrong)
    with np.load(io.BytesIO(saved)) as arrays:
        changed = {name: arrays[name] for name in arrays.files}
    for name, value, words in (
        ("layout", np.array("0"), "another version"),
        ("blocks", changed["blocks"][:-1], "not a saved"),
    ):
        file = io.BytesIO()
        np.savez(file, **{**changed, name: value})
        with pytest.raises(SaveError, match=words):
            sim.load(file.getvalue())
    assert unpack(saved)[0].player["x"] == sim.world.player["x"]


def test_a_dead_player_respawns_exactly_once_at_the_next_step(sim: Sim) -> None:
    sim.step(Command(chat="/kill"))
    assert not sim.alive
    with pytest.raises(UnknownNameError):
        sim.step(Command(chat="/give @p unobtainium"))
    assert sim.alive
    sim.chat("/give @p diamond 3")
    sim.step()
    held = sim.world.slots["quantity"][sim.world.slots["item"] == ID["diamond"]]
    assert held.sum() == 3, "a second respawn would have emptied the inventory"
    sim.step(Command(chat="/kill"))
    assert json.loads(json.dumps(sim.facts()))["stat"]["deaths"] == 2
