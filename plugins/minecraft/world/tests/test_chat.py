"""Server commands have the same effects as in the game, or raise an error and change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from voxeldojo.chat import CommandError
from voxeldojo.command import NOTHING, Command
from voxeldojo.errors import UnknownNameError
from voxeldojo.footing import can_stand
from voxeldojo.mission import Mission
from voxeldojo.names import ENTITIES
from voxeldojo.sim import NotBegunError, Sim
from voxeldojo.world.blocks import ID as BLOCK
from voxeldojo.world.items import NAMES
from voxeldojo.world.mob_kinds import ID as MOB


@pytest.fixture
def sim() -> Sim:
    begun = Sim(Mission(biome="plains", mobs_spawn=False, seed=1))
    begun.reset(0)
    return begun


def carried(sim: Sim) -> dict[int, tuple[str, int]]:
    slots = sim.world.slots
    return {n: (NAMES[slots["item"][n]], int(slots["quantity"][n])) for n in np.flatnonzero(slots["quantity"])}


def position(sim: Sim) -> tuple[float, ...]:
    return tuple(float(sim.world.player[axis][0]) for axis in "xyz")


def test_sim_raises_an_error_for_a_step_before_reset() -> None:
    with pytest.raises(NotBegunError, match="call reset"):
        Sim(Mission()).step()


def test_command_replaceitem_sets_every_kind_of_slot(sim: Sim) -> None:
    sim.chat("/replaceitem entity @p slot.weapon.mainhand minecraft:iron_pickaxe 1 0")
    sim.chat("/replaceitem entity @p slot.hotbar.8 log 64 2")
    sim.chat("/replaceitem entity @p slot.inventory.26 minecraft:wool 5 14")
    sim.chat("/replaceitem entity @p slot.armor.head iron_helmet")
    sim.chat("/replaceitem entity @p slot.weapon.offhand shield 1 0")
    assert carried(sim) == {
        0: ("iron_pickaxe", 1),
        8: ("log", 64),
        35: ("wool", 5),
        39: ("iron_helmet", 1),
        40: ("shield", 1),
    }
    assert sim.world.slots["variant"][[8, 35]].tolist() == [2, 14]
    sim.chat("/replaceitem entity @p slot.hotbar.8 minecraft:air 1 0")
    assert 8 not in carried(sim)
    sim.chat("/clear")
    assert carried(sim) == {}


def test_command_give_fills_stacks_to_their_limit(sim: Sim) -> None:
    sim.chat("/give @p dirt 40")
    sim.chat("/give @p dirt 40")
    sim.chat("/replaceitem entity @p slot.hotbar.3 iron_sword 7 0")
    assert carried(sim) == {0: ("dirt", 64), 1: ("dirt", 16), 3: ("iron_sword", 1)}


def test_command_clear_accepts_item_variant_and_count(sim: Sim) -> None:
    for text in ("/give @p log 9", "/give @p log 4 2", "/give @p dirt 3"):
        sim.chat(text)
    sim.chat("/clear @p log 2 1")
    assert carried(sim) == {0: ("log", 9), 1: ("log", 3), 2: ("dirt", 3)}
    sim.chat("/clear @p minecraft:log -1 10")
    assert carried(sim) == {1: ("log", 2), 2: ("dirt", 3)}
    sim.chat("/clear @p log")
    assert carried(sim) == {2: ("dirt", 3)}
    sim.chat("/clear @p")
    assert carried(sim) == {}


def test_command_replaceitem_mainhand_sets_the_selected_hotbar_slot(sim: Sim) -> None:
    sim.step(Command(hotbar=4))
    sim.chat("/replaceitem entity @p slot.hotbar.0 dirt 3")
    sim.chat("/replaceitem entity @p slot.weapon.mainhand log 2")
    assert carried(sim) == {0: ("dirt", 3), 4: ("log", 2)}


def test_command_give_to_a_full_inventory_drops_the_items(sim: Sim) -> None:
    for _ in range(36):
        sim.chat("/give @p dirt 64")
    sim.chat("/give @p log 5")
    drops = sim.world.drops[sim.world.drops["alive"]]
    assert [(NAMES[drop["item"]], int(drop["quantity"])) for drop in drops] == [("log", 5)]


def test_command_tp_accepts_absolute_and_relative_coordinates(sim: Sim) -> None:
    sim.chat("/tp 100 80.5 120 450 95")
    assert position(sim) == (100.5, 80.5, 120.5)
    assert (float(sim.world.player["yaw"][0]), float(sim.world.player["pitch"][0])) == (90, 90)
    sim.chat("/tp @p ~1.5 ~ ~-2 ~-10 ~-30")
    assert position(sim) == (102.0, 80.5, 118.5)
    assert (float(sim.world.player["yaw"][0]), float(sim.world.player["pitch"][0])) == (80, 60)
    assert sim.world.generated[6, 7]


@pytest.mark.parametrize("name", MOB)
def test_command_summon_knows_every_mob_that_minedojo_counts(sim: Sim, name: str) -> None:
    sim.chat(f"/summon minecraft:{name} ~3 ~ ~")
    assert (sim.world.mobs["kind"] == MOB[name]).sum() == 1
    assert name in ENTITIES


def test_command_summon_replaces_the_farthest_mob_in_a_world_without_room(sim: Sim) -> None:
    mobs = sim.world.mobs
    for number in range(len(mobs)):
        sim.chat(f"/summon pig ~{1 + number % 9} ~ ~{number // 9}")
    assert (mobs["kind"] > 0).all()
    ids, away = mobs["id"].copy(), np.hypot(mobs["x"] - sim.world.player["x"], mobs["z"] - sim.world.player["z"])
    sim.chat("/summon cow ~1 ~ ~")
    (changed,) = np.flatnonzero(mobs["id"] != ids)
    assert away[changed] == away.max()
    assert mobs["kind"][changed] == MOB["cow"]
    assert (mobs["kind"] > 0).all()


def test_command_summon_places_the_mob_at_the_coordinates(sim: Sim) -> None:
    x, y, z = position(sim)
    sim.chat("/summon cow ~3 ~1 ~-2")
    sim.chat("/summon minecraft:Sheep")
    mobs = sim.world.mobs[sim.world.mobs["kind"] > 0]
    assert mobs["kind"].tolist() == [MOB["cow"], MOB["sheep"]]
    assert (mobs["x"][0], mobs["y"][0], mobs["z"][0]) == (x + 3, y + 1, z - 2)
    assert (mobs["x"][1], mobs["y"][1], mobs["z"][1]) == (x, y, z)


def test_command_kill_selects_mobs_items_or_the_player_by_kind(sim: Sim) -> None:
    for mob in ("cow", "cow", "pig"):
        sim.chat(f"/summon {mob} ~3 ~ ~")
    sim.chat("/give @p dirt 3")
    sim.step(Command(drop=True))
    assert sim.world.drops["alive"].sum() == 1
    sim.chat("/kill @e[type=cow]")
    assert sim.world.mobs["kind"][sim.world.mobs["kind"] > 0].tolist() == [MOB["pig"]]
    sim.chat("/kill @e[type=item]")
    assert not sim.world.drops["alive"].any()
    sim.chat("/kill @e[type=!player]")
    assert not sim.world.mobs["kind"].any()
    assert sim.alive
    sim.step(Command(chat="/kill @e[type=player]"))
    assert not sim.alive
    sim.step(NOTHING)
    assert sim.alive
    sim.chat("/kill @e")
    assert not sim.alive


def test_killed_player_respawns_without_items(sim: Sim) -> None:
    home = position(sim)
    sim.chat("/give @p dirt 3")
    sim.chat("/tp ~9 ~3 ~")
    sim.step(Command(chat="/kill"))
    assert not sim.alive
    assert carried(sim) == {}
    sim.step(NOTHING)
    assert sim.alive
    assert np.allclose(position(sim), home, atol=0.1)
    statistics = sim.info()["stat"]
    assert (statistics["deaths"], statistics["time_since_death"], statistics["play_one_minute"]) == (1, 1, 2)


def test_command_setblock_accepts_names_and_data_values(sim: Sim) -> None:
    x, y, z = (int(at) for at in position(sim))
    for word, key in (
        ("diamond_ore", "diamond_ore"),
        ("minecraft:log 2", "birch_log"),
        ("air", "air"),
        ("water", "water"),
    ):
        sim.chat(f"/setblock ~2 ~1 ~ {word}")
        assert sim.world.blocks[x + 2, y + 1, z] == BLOCK[key], word


def test_commands_time_and_weather_set_time_and_weather(sim: Sim) -> None:
    sim.chat("/time set 18000")
    assert sim.facts()["world_time"] == 18000
    sim.chat("/time add 7000")
    assert sim.facts()["world_time"] == 1000
    sim.chat("/time set night")
    assert sim.facts()["world_time"] == 13000
    sim.chat("/weather thunder")
    assert sim.world.clock["raining"][0]
    assert sim.world.clock["thundering"][0]
    sim.chat("/weather normal")
    assert sim.facts()["is_raining"]
    sim.chat("/weather clear")
    assert not sim.facts()["is_raining"]


def test_weather_changes_only_by_a_command_or_a_reset() -> None:
    """This is a difference from the game, in which the weather changes. The README lists this difference."""
    sim = Sim(Mission(weather="normal", seed=1))
    sim.reset(0)
    for _ in range(2000):
        sim.step(NOTHING)
        assert not sim.world.clock["raining"][0]
    sim.chat("/weather rain")
    sim.reset(1)
    assert not sim.world.clock["raining"][0]


def test_command_spreadplayers_finds_firm_ground_within_its_range(sim: Sim) -> None:
    places = set()
    home = position(sim)
    for _ in range(12):
        sim.chat("/tp {} {} {}".format(*home))
        sim.chat("/spreadplayers ~ ~ 0 60 false @p")
        x, y, z = position(sim)
        assert max(abs(x - home[0]), abs(z - home[2])) <= 61
        assert can_stand(sim.world, int(x), int(y), int(z))
        places.add((x, z))
    assert len(places) > 8


def test_chat_text_that_is_not_a_command_has_no_effect(sim: Sim) -> None:
    before = sim.save()
    sim.chat("hello / there")
    assert sim.save() == before


@pytest.mark.parametrize(
    "text",
    [
        *(
            "/tp 1 2",
            "/tp a b c",
            "/tp nan 70 3",
            "/tp 600 70 3",
            "/tp 5 500 5",
            "/setblock ~ ~ ~",
            "/setblock ~ ~ ~ log 15",
        ),
        *("/replaceitem block 1 2 3 slot.container.0 dirt", "/replaceitem entity @p slot.hotbar.9 dirt"),
        *("/replaceitem entity Bob slot.hotbar.1 dirt", "/replaceitem entity @p slot.hotbar.1 dirt 65 0"),
        *(
            "/time",
            "/time put 3",
            "/time set noon",
            "/weather hail",
            "/kill Bob",
            "/give @p dirt -1",
            "/summon cow ~ ~900 ~",
        ),
        *("/time add night", "/time set -5", "/give @p log 128", "/clear Bob", "/clear @p log x"),
        *(f"/replaceitem entity @p slot.{name} dirt" for name in ("hotbar", "hotbar.9", "armor", "armor.3")),
        *("/tp 256 70 256 nan nan", "/tp 256 70 256 0 inf"),
        *("/spreadplayers ~ ~ 0 inf false @p", "/give @p dirt 1 999"),
    ],
)
def test_command_with_invalid_arguments_raises_an_error_and_changes_nothing(sim: Sim, text: str) -> None:
    before = sim.save()
    with pytest.raises(CommandError, match="does not fit '/"):
        sim.chat(text)
    assert sim.save() == before


@pytest.mark.parametrize("text", ["/fly", "/", "/summon dragon", "/setblock ~ ~ ~ marble", "/give @p marble"])
def test_error_about_an_unknown_name_in_a_command_lists_valid_names(sim: Sim, text: str) -> None:
    before = sim.save()
    with pytest.raises(UnknownNameError, match="Valid"):
        sim.chat(text)
    assert sim.save() == before


def test_step_with_an_invalid_command_raises_an_error_and_takes_no_tick(sim: Sim) -> None:
    before = sim.facts()["total_time"]
    with pytest.raises(CommandError):
        sim.step(Command(forward=True, chat="/tp"))
    with pytest.raises(ValueError, match="must be finite numbers"):
        sim.step(Command(yaw=float("nan")))
    assert sim.facts()["total_time"] == before
