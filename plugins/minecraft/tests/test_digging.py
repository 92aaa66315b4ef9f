"""Tests of the primitives that break blocks: ``mine``, ``dig_down``, ``dig_ahead``, ``dig_up`` and ``pillar_up``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rlgpt_minecraft.moves import move

Player = Any
Make = Callable[..., Any]


def test_primitive_mine_continues_over_several_calls(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x} {y + 1} {z + 2} log", "/clear")
    first, second = room("mine", ticks=40), room("mine", ticks=40)
    assert (first["broken"], first["block"], first["ticks"]) == (False, "wood", 40)
    assert second["broken"]
    assert second["ticks"] == pytest.approx(20, abs=1)
    assert room("look", elevation=90)["aim_reach"] is False
    assert room("mine", ticks=40) == {"broken": False, "block": "", "ticks": 0, "hit": False, "gained": {}}


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


@pytest.mark.parametrize(("floor", "why"), [("stone", ""), ("lava", "lava")])
def test_dig_down_stops_above_a_cave_with_lava(room: Player, floor: str, why: str) -> None:
    x, y, z = room.feet()
    around = [(a, c) for a in (-1, 0, 1) for c in (-1, 0, 1)]
    room.type(
        "/replaceitem entity @p slot.weapon.mainhand iron_pickaxe 1",
        *(f"/setblock {x + a} {y - 4} {z + c} {floor}" for a, c in around),
        *(f"/setblock {x + a} {y - b} {z + c} air" for a, c in around for b in (2, 3)),
    )
    outcome = room("dig_down", blocks=1)
    assert outcome["stopped_by"] == why
    assert (outcome["deeper"] > 0.9) == (not why)


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
