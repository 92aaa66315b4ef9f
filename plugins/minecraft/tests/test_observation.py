"""The parsed observation and the view in worlds with known blocks and animals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rlgpt_minecraft.ground import VOXELS
from voxeldojo.world.constants import EYE_HEIGHT

Player = Any
Make = Callable[..., Any]


def test_view_reports_a_block_ahead_as_seen_and_aimed(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x} {y + 1} {z + 3} log")
    view = room.see()
    assert (view["log_seen"], view["log_aimed"], view["aim_block"], view["aim_reach"]) == (1, 1, "wood", 1)
    assert view["log_distance"] == pytest.approx(2.5, abs=0.01) == view["aim_distance"]
    assert abs(view["log_bearing"]) < 3
    assert (view["sheep_seen"], view["sheep_distance"], view["sheep_bearing"]) == (0, 40, 0)


@pytest.mark.parametrize(("dx", "dz", "bearing"), [(-3, 3, 45), (3, 3, -45), (-3, 4, 37), (1, 4, -14)])
def test_bearings_in_the_minecraft_view_are_positive_to_the_right(
    room: Player, dx: int, dz: int, bearing: float
) -> None:
    """The player looks to the south, so west (-x) is to the right."""
    x, y, z = room.feet()
    room.type(f"/setblock {x + dx} {y + 1} {z + dz} log")
    view = room.see()
    assert view["log_seen"] == 1
    assert view["log_bearing"] == pytest.approx(bearing, abs=8)


def test_view_reports_a_block_behind_the_player_only_within_two_blocks(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x} {y + 1} {z - 2} log")
    view = room.see()
    assert view["log_seen"] == 1
    assert abs(view["log_bearing"]) == pytest.approx(180, abs=0.1)
    assert view["log_distance"] == pytest.approx(math.hypot(2, EYE_HEIGHT - 1.5) - 0.5, abs=0.01)
    room.type(f"/setblock {x} {y + 1} {z - 2} air", f"/setblock {x} {y + 1} {z - 4} log")
    assert room.see()["log_seen"] == 0


def test_view_reports_animals_as_seen_and_within_three_metres_as_in_reach(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/summon sheep {x + 0.5} {y} {z + 5.5}")
    view = room.see()
    assert (view["sheep_seen"], view["sheep_aimed"]) == (1, 0)
    assert view["sheep_distance"] == pytest.approx(4.6, abs=0.4)
    assert view["sheep_elevation"] < 0
    room.world.mobs["kind"] = 0
    room.type(f"/summon sheep {x + 0.5} {y} {z + 2.5}", f"/tp {x + 0.5} {y} {z + 0.5} 0 30")
    view = room.see()
    assert (view["aim_entity"], view["aim_reach"], view["sheep_aimed"]) == ("sheep", 1, 1)


def test_view_describes_walls_steps_and_holes_around_the_player(room: Player) -> None:
    x, y, z = room.feet()
    room.type(
        f"/setblock {x} {y} {z + 1} stone",  # A step ahead.
        f"/setblock {x - 1} {y} {z + 1} stone",  # A wall to the right.
        f"/setblock {x - 1} {y + 1} {z + 1} stone",
        f"/setblock {x + 1} {y - 1} {z + 1} air",  # A hole to the left.
    )
    view = room.see()
    assert view["feet_blocked"] == [0, 1, 1]
    assert view["head_blocked"] == [0, 0, 1]
    assert view["descent"] == [4, 0, 0]
    assert room.obs.ground.steppable(0.0)
    assert not room.obs.ground.steppable(45.0)


def test_view_describes_lava_and_water_ahead(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x} {y - 1} {z + 1} lava", f"/setblock {x + 1} {y - 1} {z + 1} water")
    view = room.see()
    assert view["lava_ahead"] == 1
    assert view["water_ahead"] == [1, 0, 0]


def test_computed_ray_directions_match_the_blocks_that_the_rays_hit(make_player: Make) -> None:
    """The module ``rays`` computes the same directions as the embedded world and MineDojo."""
    player = make_player("harvest_log")
    rng = np.random.default_rng(0)
    checked = 0
    for _ in range(8):
        yaw, pitch = rng.uniform(-180, 180), rng.uniform(-60, 60)
        x, y, z = player.obs.position
        player.type(f"/tp {x} {y} {z} {yaw} {pitch}")
        obs = player.obs
        rays = obs.observation["rays"]
        eyes = obs.position + np.array([0.0, EYE_HEIGHT, 0.0])
        hit = rays["block_name"] != "air"
        points = eyes + obs.directions * (rays["block_distance"][:, None] + 2e-3)
        places = np.stack([rays[f"traced_block_{axis}"] for axis in "xyz"], axis=1)
        apart = np.abs(points - places - 0.5).max(axis=1)
        assert (apart[hit] <= 0.5 + 4e-3).all()
        checked += int(hit.sum())
    assert checked > 300


def test_ground_gives_blocks_at_the_coordinates_of_the_voxels(room: Player) -> None:
    x, y, z = room.feet()
    room.type(f"/setblock {x + 1} {y + 2} {z - 2} log")
    assert room.obs.ground.blocks("wood").tolist() == [[x + 1, y + 2, z - 2]]
    assert room.obs.ground.name(1, 2, -2) == "wood"
    assert room.obs.ground.solid(0, -1, 0)
    shape = tuple(VOXELS[f"{a}max"] - VOXELS[f"{a}min"] + 1 for a in "xyz")
    assert room.obs.observation["voxels"]["block_name"].shape == shape


def test_inventory_in_the_view_counts_all_slots(room: Player) -> None:
    room.type("/give @p log 60", "/replaceitem entity @p slot.inventory.5 log 3")
    assert room.obs.inventory == {"shears": 1, "crafting_table": 1, "log": 63}
    assert room.obs.inventory == room.see()["inventory"]
    assert room.obs.slot("shears") == 0
    assert room.obs.slot("diamond") is None
    assert room.obs.hand == "shears" == room.see()["hand"]
