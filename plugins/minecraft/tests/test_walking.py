"""Tests of the primitives that move the player, with a wall, lava, a deep fall or a zombie in the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rlgpt_minecraft.primitives.locomotion import Stride

Player = Any
Make = Callable[..., Any]


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


def test_primitive_explore_moves_and_reports_visible_targets(make_player: Make) -> None:
    player = make_player("stick")
    moved = [player("explore", steps=40) for _ in range(5)]
    assert max(outcome["moved"] for outcome in moved) > 4
    assert any("log" in outcome["seen"] for outcome in moved)
