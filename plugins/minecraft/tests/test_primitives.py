"""Each Minecraft primitive on an isolated floor, with the blocks, animals and items that the primitive needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rlgpt_minecraft.moves import move
from rlgpt_minecraft.plugin import MinecraftPlugin
from rlgpt_minecraft.primitives.locomotion import Stride
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


def test_walk_covers_the_reported_distance(room: Player) -> None:
    before = room.see()["position"]
    outcome = room("walk", metres=2.0)
    assert outcome["moved"] == pytest.approx(2.0, abs=0.3)
    assert outcome["stopped_by"] == ""
    after = room.see()["position"]
    assert after[2] - before[2] == pytest.approx(outcome["moved"], abs=0.02)  # To the south.
    room("walk", metres=2.0, direction="left")
    assert room.see()["position"][0] - after[0] == pytest.approx(2.0, abs=0.3)  # To the east.


def test_walk_stops_before_a_deep_fall_and_lava(room: Player) -> None:
    x, y, z = room.feet()
    assert room("walk", metres=8, sprint=True)["stopped_by"] == "fall"
    assert room.see()["on_ground"]
    room.type(f"/tp {x + 0.5} {y} {z + 0.5}", *(f"/setblock {x + a} {y - 1} {z + 2} lava" for a in range(-6, 7)))
    assert room("walk", metres=5)["stopped_by"] == "lava"
    assert room.see()["life"] == 20


def test_walk_jumps_onto_one_block_and_stops_at_two(room: Player) -> None:
    x, y, z = room.feet()
    room.type(*(f"/setblock {x + a} {y} {z + 2} stone" for a in range(-6, 7)))
    assert room("walk", metres=2.5)["stopped_by"] == ""
    assert room.feet()[1] == y + 1
    room.type(f"/tp {x + 0.5} {y} {z + 0.5}", *(f"/setblock {x + a} {y + 1} {z + 2} stone" for a in range(-6, 7)))
    assert room("walk", metres=2.5)["stopped_by"] == "wall"


def test_primitive_approach_goes_around_a_wall(room: Player) -> None:
    x, y, z = room.feet()
    room.type(
        *(f"/setblock {x} {y + b} {z + 5} log" for b in range(5)),
        *(f"/setblock {x + a} {y + b} {z + 2} stone" for a in (0, 1) for b in (0, 1)),
    )
    for _ in range(3):
        outcome = room("approach", target="log", within=2.5)
    assert outcome["reached"]
    assert outcome["aimed"]
    assert outcome["distance"] <= 2.5


def _around(room: Player, dx: int, block: str) -> Stride:
    """Build a wall ahead and on one side, and replace the floor on the other side by ``block``. Walk for 40 ticks."""
    x, y, z = room.feet()
    room.type(
        *(f"/setblock {x + a} {y + b} {z + c} stone" for a, c in ((0, 1), (-dx, 0), (-dx, 1)) for b in (0, 1, 2)),
        *(f"/setblock {x + a * dx} {y - 1} {z + c} {block}" for a in (1, 2) for c in (-2, -1, 0)),
        f"/tp {x + 0.5} {y} {z + 0.5} 0 0",
    )
    stride = Stride(room.ctx)
    for _ in range(40):
        action = stride.step(around=True)
        if action is None:
            break
        room.step(action)
    return stride


@pytest.mark.parametrize(("block", "why"), [("lava", "lava"), ("air", "fall")])
@pytest.mark.parametrize("dx", [1, -1])
def test_detour_around_a_wall_stops_before_lava_or_a_deep_fall(room: Player, block: str, why: str, dx: int) -> None:
    height = room.feet()[1]
    stride = _around(room, dx, block)
    assert (room.see()["life"], room.feet()[1]) == (20, height)
    assert stride.stopped == why


@pytest.mark.parametrize("block", ["lava", "air"])
def test_approach_goes_around_a_wall_on_the_side_without_a_hazard(room: Player, block: str) -> None:
    """In the east the floor ends after two steps. In the west the floor continues past the wall."""
    x, y, z = room.feet()
    room.type(
        *(f"/setblock {x} {y + b} {z + 5} log" for b in range(5)),
        *(f"/setblock {x + a} {y + b} {z + 2} stone" for a in range(-1, 7) for b in range(2)),
        *(f"/setblock {x + 2} {y - 1} {z + c} {block}" for c in range(-6, 7)),
    )
    outcome = [room("approach", target="log", within=2.5) for _ in range(4)]
    assert room.see()["life"] == 20
    assert outcome[-1]["reached"]


@pytest.mark.parametrize("seed", range(6))
def test_explore_and_approach_near_hazards_do_not_reduce_life(room: Player, seed: int) -> None:
    rng, (x, y, z) = np.random.default_rng(seed), room.feet()
    there = {"air": (-1,), "lava": (-1,), "stone": (0, 1)}
    places = [(a, c) for a in range(-6, 7) for c in range(-6, 7) if max(abs(a), abs(c)) > 1]
    drawn = rng.choice(("", *there), size=len(places), p=(0.6, 0.12, 0.1, 0.18)).tolist()
    laid = [(a, b, c, block) for (a, c), block in zip(places, drawn, strict=True) if block for b in there[block]]
    room.type(
        *(f"/setblock {x + a} {y + b} {z + c} {block}" for a, b, c, block in laid),
        *(f"/setblock {x} {y + b} {z + 6} log" for b in range(5)),
    )
    for _ in range(6):
        room("explore", steps=20)
        room("approach", target="log", within=1.0)
        assert (room.see()["life"], room.feet()[1] >= y - 1) == (20, True)


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


def test_primitive_mine_continues_over_several_calls(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x} {y + 1} {z + 2} log", "/clear")
    first, second = room("mine", ticks=40), room("mine", ticks=40)
    assert (first["broken"], first["block"], first["ticks"]) == (False, "wood", 40)
    assert second["broken"]
    assert second["ticks"] == pytest.approx(20, abs=1)
    assert room("look", elevation=90)["aim_reach"] is False
    assert room("mine", ticks=40) == {"broken": False, "block": "", "ticks": 0, "hit": False, "gained": {}}


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


def test_mine_continues_on_its_block_while_the_player_slides(room: Player) -> None:
    """After a walk past a trunk the player slides, which moves the crosshair away from the log."""
    x, y, z = room.feet()
    room.type(f"/setblock {x + 1} {y + 1} {z + 3} log", f"/tp {x + 0.9} {y} {z + 0.5} 0 0")
    room("walk", metres=0.75, direction="left")
    outcome = [room("mine", ticks=40) for _ in range(3)]
    assert [t["block"] for t in outcome if t["broken"]] == ["wood"]
    assert sum(t["ticks"] for t in outcome) >= 60


def test_primitives_dig_down_and_dig_ahead_dig_and_move_the_player(room: Player) -> None:
    x, y, z = room.feet()
    room.type(
        "/replaceitem entity @p slot.weapon.mainhand iron_pickaxe 1",
        *(f"/setblock {x + a} {y - b} {z + c} stone" for a in (-1, 0, 1) for b in (2, 3, 4) for c in (-1, 0, 1)),
    )
    outcome = room("dig_down", blocks=2)
    assert outcome["deeper"] == pytest.approx(2.0, abs=0.1)
    assert outcome["gained"].get("cobblestone", 0) >= 1
    room("look", elevation=0)
    ahead = room("dig_ahead", blocks=1)
    assert ahead["moved"] >= 0.8
    assert room.feet()[2] == z + 1


def test_dig_ahead_reports_a_wall_or_a_fall_as_the_reason_of_its_stop(room: Player) -> None:
    """A player at a corner is blocked by a wall. The end of the floor is a deep fall."""
    x, y, z = room.feet()
    room.type(*(f"/setblock {x + 1} {y + b} {z + 2} stone" for b in (0, 1)), f"/tp {x + 0.9} {y} {z + 0.5} 0 0")
    outcome = room("dig_ahead", blocks=3)
    assert (outcome["stopped_by"], outcome["moved"] < 1.5) == ("wall", True)
    room.type(f"/tp {x + 0.5} {y} {z + 5.5} 0 0")
    assert room("dig_ahead", blocks=3)["stopped_by"] == "fall"


def test_dig_down_starts_at_the_centre_of_a_block(room: Player) -> None:
    """A player that overlaps the edge of the hole would not fall into the hole."""
    x, y, z = room.feet()
    room.type(
        "/replaceitem entity @p slot.weapon.mainhand iron_pickaxe 1",
        *(f"/setblock {x + a} {y - b} {z + c} stone" for a in (-1, 0, 1) for b in (2, 3) for c in (-1, 0, 1)),
        f"/tp {x + 0.95} {y} {z + 0.05} 0 0",
    )
    assert room("dig_down", blocks=1)["deeper"] == pytest.approx(1.0, abs=0.1)


def test_primitive_dig_down_stops_before_lava(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x} {y - 2} {z} lava")
    assert room("dig_down", blocks=1)["stopped_by"] == "lava"


def test_digging_ahead_and_down_ignores_lava_that_cannot_flow_in(room: Player) -> None:
    x, y, z = room.feet()
    room.type(
        "/replaceitem entity @p slot.weapon.mainhand iron_pickaxe 1",
        *(f"/setblock {x + a} {y - b} {z + c} stone" for a in (-1, 0, 1) for b in (2, 3) for c in (-1, 0, 1)),
        *(f"/setblock {x + a} {y + b} {z + 1} stone" for a in (-1, 0, 1) for b in (0, 1)),
        f"/setblock {x} {y - 1} {z - 2} lava",
    )
    assert room("dig_ahead", blocks=1)["stopped_by"] == ""
    assert room("dig_down", blocks=1)["stopped_by"] == ""
    x, y, z = room.feet()
    room.type(f"/setblock {x} {y} {z + 2} lava")
    assert room("dig_ahead", blocks=2)["stopped_by"] == "lava"
    assert room.see()["life"] == 20


def test_dig_up_and_pillar_up_lead_out_of_a_pit(room: Player) -> None:
    x, y, z = room.feet()
    walls = ((1, 0), (-1, 0), (0, 1), (0, -1))
    room.type(
        "/clear",
        "/give @p dirt 4",
        *(f"/setblock {x + a} {y + b} {z + c} dirt" for a, c in walls for b in range(3)),
        f"/setblock {x} {y + 3} {z} dirt",
    )
    outcome = room("pillar_up", item="dirt", blocks=3)
    assert (outcome["higher"], outcome["stopped_by"]) == (1.0, "head")
    assert room("pillar_up", item="planks", blocks=1)["stopped_by"] == "item"
    assert room("dig_up", blocks=1) == {"dug": 1, "stopped_by": "", "gained": {}}
    assert room("dig_up", blocks=1)["stopped_by"] == "free"
    outcome = room("pillar_up", item="dirt", blocks=3)
    assert (outcome["higher"], outcome["stopped_by"]) == (3.0, "")
    assert room.feet()[1] == y + 4


def test_dig_up_stops_below_lava(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x} {y + 2} {z} dirt", f"/setblock {x} {y + 3} {z} lava")
    assert room("dig_up", blocks=1)["stopped_by"] == "lava"


def test_look_at_reaches_a_block_above_the_head(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x} {y + 4} {z} stone", f"/setblock {x} {y + 3} {z} log")
    assert room("look_at", target="log")["aimed"]
    while not room("mine", ticks=40)["broken"]:
        pass


def test_mine_breaks_the_block_behind_an_item(room: Player) -> None:
    x, y, z = room.feet()
    room.type("/clear", "/give @p dirt 1", f"/setblock {x} {y + 1} {z + 3} log")
    drops = room.world.drops
    room.step(move(function="drop"))
    drops["x"], drops["y"], drops["z"] = x + 0.5, y + 1.5, z + 2.7
    drops["vx"] = drops["vy"] = drops["vz"] = 0.0
    room.step(move())
    assert room.see()["aim_entity"] == "item"
    outcome = [room("mine", ticks=40), room("mine", ticks=40)]
    assert [o["block"] for o in outcome] == ["wood", "wood"]
    assert outcome[1]["broken"]


def test_a_blow_ends_a_walk_and_appears_in_the_view(room: Player) -> None:
    x, y, z = room.feet()
    assert (room.see()["hit_ticks"], room.see()["hit_kind"]) == (200, "")
    room.world.clock["mobs_spawn"] = False
    room.type("/time set 18000", f"/summon zombie {x + 1.5} {y} {z + 0.5}")
    outcome = room("mine", ticks=1)
    for _ in range(8):
        outcome = room("walk", metres=0.5, direction="back")
        if outcome["stopped_by"]:
            break
    view = room.see()
    assert outcome["stopped_by"] == "hit"
    assert (view["hit_kind"], view["hit_ticks"]) == ("blow", 0)
    assert view["hit_amount"] > 0
    assert view["zombie_seen"] == 0 or abs(view["hit_bearing"] - view["zombie_bearing"]) < 45
    assert view["hit_bearing"] < -20  # East is to the left of a player that looks to the south.
    assert "life 0 ticks ago: blow" in room.plugin.summarize(view)


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


def test_primitive_explore_moves_and_reports_visible_targets(make_player: Make) -> None:
    player = make_player("stick")
    moved = [player("explore", steps=40) for _ in range(5)]
    assert max(outcome["moved"] for outcome in moved) > 4
    assert any("log" in outcome["seen"] for outcome in moved)


def test_minecraft_primitives_have_at_most_62_steps() -> None:
    plugin = MinecraftPlugin()
    for task in make_tasks().values():
        for primitive in plugin.primitives(task):
            assert primitive.max_steps <= 62
