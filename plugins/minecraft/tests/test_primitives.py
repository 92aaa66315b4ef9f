"""Each Minecraft primitive on an isolated floor, with the blocks, animals and items that the primitive needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rlgpt_minecraft.plugin import MinecraftPlugin
from rlgpt_minecraft.tasks import make_tasks

from .conftest import roomy

Player = Any
Make = Callable[..., Any]


def test_primitives_turn_and_look_have_steps_of_15_degrees(room: Player) -> None:
    start = room.see()["heading"]
    assert room("turn", degrees=52)["turned"] == 45
    assert room.see()["heading"] == pytest.approx(start + 45, abs=0.01)
    assert room("turn", degrees=-180)["turned"] == -180
    assert room("turn", degrees=7)["turned"] == 0
    assert room("look", elevation=-80)["elevation"] == -75
    assert room("look", elevation=90)["elevation"] == 90


def test_primitive_scan_reports_bearing_and_distance_of_its_target(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x - 5} {y + 1} {z} log")
    outcome = room("scan", target="log")
    assert outcome["found"]
    assert outcome["bearing"] == pytest.approx(90, abs=10)
    assert outcome["distance"] == pytest.approx(4.5, abs=0.4)
    room("turn", degrees=outcome["bearing"])
    assert room.see()["log_seen"]
    assert room("scan", target="water") == {"found": False, "distance": 40.0, "bearing": 0.0}


def test_primitive_collect_picks_up_dropped_items(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x} {y + 1} {z + 4} log", "/clear")
    while not room("mine", ticks=40)["broken"]:
        pass
    for _ in range(3):
        if room("collect")["gained"]:
            break
    assert room.see()["log_count"] == 1


def test_primitive_attack_hits_a_moving_sheep_and_nothing_without_a_target(room: Player) -> None:
    x, y, z = room.feet()
    room.type("/replaceitem entity @p slot.weapon.mainhand diamond_sword 1", f"/summon sheep {x + 0.5} {y} {z + 2.2}")
    room("look_at", target="sheep")
    room("use", ticks=15)  # Wait, because a weapon is weak immediately after it is taken.
    outcome = room("attack", times=1)
    assert (outcome["strikes"], outcome["target"]) == (1, "sheep")
    life = room.world.mobs["life"][room.world.mobs["kind"] > 0]
    assert life.tolist() == [pytest.approx(1.0)]
    assert room("look", elevation=90)["aim_entity"] == ""
    assert room("attack", times=1)["strikes"] == 0


def test_primitive_use_with_shears_takes_wool_from_a_sheep(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/summon sheep {x + 0.5} {y} {z + 2}")
    room("look_at", target="sheep")
    room("use")
    for _ in range(4):
        room("collect")
    assert 1 <= room.see()["wool_count"] <= 3


def test_primitives_place_and_use_a_crafting_table(room: Player) -> None:
    room.type("/clear", "/give @p crafting_table 1", "/give @p wool 3", "/give @p planks 3")
    assert room("craft", item="bed") == {"made": 0, "missing": "crafting table", "count": 0}
    outcome = room("place", item="crafting_table")
    assert (outcome["placed"], outcome["left"], outcome["table_near"]) == (True, 0, True)
    assert room.see()["bed_possible"] == 1
    room("craft", item="bed")
    assert room.success


def test_primitive_craft_reports_missing_material(room: Player) -> None:
    assert room("craft", item="planks") == {"made": 0, "missing": "material", "count": 0}
    room.type("/give @p log 1")
    assert room("craft", item="planks") == {"made": 4, "missing": "", "count": 4}
    assert room("equip", item="crafting_table") == {"equipped": True, "hand": "crafting_table"}
    assert room("place", item="crafting_table")["placed"]
    assert room("equip", item="crafting_table") == {"equipped": False, "hand": "air"}


def test_primitive_smelt_needs_a_furnace_and_fuel(make_player: Make) -> None:
    player = make_player("iron_ingot")
    assert player("smelt", item="iron_ingot")["missing"] == "furnace"
    player.type("/clear", "/give @p furnace 1", "/give @p iron_ore 1")
    assert player("place", item="furnace")["furnace_near"]
    assert player("smelt", item="iron_ingot")["missing"] == "fuel"
    player.type("/give @p coal 1")
    player("smelt", item="iron_ingot")
    assert player.success


def test_smelt_reports_missing_material_despite_the_mask(make_player: Make) -> None:
    """MineDojo's mask accepts logs as material for coal, but smelting in MineDojo makes no charcoal."""
    player = roomy(make_player("iron_ingot", biome="plains"))
    player.type("/clear", "/give @p furnace 1", "/give @p log 6")
    assert player("place", item="furnace")["furnace_near"]
    assert player.see()["coal_possible"] == 1
    assert player("smelt", item="coal") == {"made": 0, "missing": "material", "count": 0}
    assert player.see()["inventory"] == {"log": 6}
    assert "a log smelts" not in player.plugin.knowledge(player.task)


def test_craft_reports_that_a_full_inventory_has_no_room(make_player: Make) -> None:
    player = roomy(make_player("iron_ingot", biome="plains"))
    player.type("/clear", *(f"/replaceitem entity @p slot.inventory.{n} dirt 64" for n in range(27)))
    player.type(*(f"/replaceitem entity @p slot.hotbar.{n} dirt 64" for n in range(1, 9)))
    player.type("/replaceitem entity @p slot.weapon.mainhand log 2")
    assert player("craft", item="planks") == {"made": 0, "missing": "room", "count": 0}


def test_look_at_reaches_a_block_above_the_head(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x} {y + 4} {z} stone", f"/setblock {x} {y + 3} {z} log")
    assert room("look_at", target="log")["aimed"]
    while not room("mine", ticks=40)["broken"]:
        pass


def test_eat_takes_the_most_filling_food(room: Player) -> None:
    room.type("/clear", "/give @p apple 1", "/give @p cooked_beef 1")
    assert room("eat") == {"ate": "", "food": 20.0, "hit": False}
    room.world.player["food"] = 10.0
    room.step(np.array([0, 0]))
    outcome = room("eat")
    assert (outcome["ate"], outcome["food"]) == ("cooked_beef", 18.0)
    assert room("eat")["ate"] == "apple"
    room.world.player["food"] = 10.0
    room.step(np.array([0, 0]))
    assert room("eat")["ate"] == ""


def test_logs_of_acacia_count_as_logs(room: Player) -> None:
    room.type("/clear", "/give @p log2 2", "/give @p log 1")
    assert room.see()["log_count"] == 3
    for _ in range(3):
        assert room("craft", item="planks")["made"] == 4
    assert room.see()["log_count"] == 0


@pytest.mark.parametrize("seed", [2, 3])
def test_turn_by_the_bearing_of_a_scan_brings_the_thing_into_view(make_player: Make, seed: int) -> None:
    """With the exact bearing, the turn, which is rounded to 15 degrees, led to headings that do not see the log."""
    player = make_player("stick", seed)
    found = player("scan", target="log")
    assert found["found"]
    player("turn", degrees=found["bearing"])
    assert player.see()["log_seen"] == 1


def test_minecraft_primitives_have_at_most_62_steps() -> None:
    plugin = MinecraftPlugin()
    for task in make_tasks().values():
        for primitive in plugin.primitives(task):
            assert primitive.max_steps <= 62
