"""Voxel and lidar observations agree with the world."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from voxeldojo.spaces import observation_space
from voxeldojo.world.blocks import ID, TABLE
from voxeldojo.world.chunks import generate
from voxeldojo.world.crosshair import aim
from voxeldojo.world.edit import get, set_block
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.lidar import lidar
from voxeldojo.world.mob_kinds import HALF
from voxeldojo.world.mob_kinds import ID as KIND
from voxeldojo.world.mob_kinds import NAMES as KINDS
from voxeldojo.world.ray import eyes, look, trace
from voxeldojo.world.state import HEIGHT, World, empty
from voxeldojo.world.voxels import voxels

YAWS, PITCHES = st.floats(-180, 180), st.floats(-90, 90)


@cache
def forest() -> World:
    world = generate(3, "forest")
    world.mobs["kind"], world.drops["alive"] = 0, False
    return world


def turned(vector: tuple[float, float, float], pitch: float, yaw: float) -> tuple[float, float, float]:
    """Rotate a vector about the x axis, then about the y axis, by rotation matrices. Angles are in radians."""
    about_x = np.array([[1, 0, 0], [0, math.cos(pitch), math.sin(pitch)], [0, -math.sin(pitch), math.cos(pitch)]])
    about_y = np.array([[math.cos(yaw), 0, math.sin(yaw)], [0, 1, 0], [-math.sin(yaw), 0, math.cos(yaw)]])
    x, y, z = about_y @ about_x @ np.array(vector)
    return float(x), float(y), float(z)


@given(*[st.integers(-6, 0)] * 3, *[st.integers(0, 6)] * 3, YAWS, PITCHES)
@settings(max_examples=40)
def test_voxels_contain_the_blocks_around_the_players_feet(
    x0: int, y0: int, z0: int, x1: int, y1: int, z1: int, yaw: float, pitch: float
) -> None:
    world = forest()
    player = world.player
    player["yaw"], player["pitch"] = yaw, pitch
    seen = voxels(world, (x0, y0, z0), (x1, y1, z1))
    shape = (x1 - x0 + 1, y1 - y0 + 1, z1 - z0 + 1)
    space = observation_space(voxels=shape)["voxels"]
    assert space.contains(seen)
    feet = [math.floor(player[axis][0]) for axis in "xyz"]
    head, ahead = np.array(eyes(world)), np.array(look(yaw, pitch))
    for i, j, k in np.ndindex(shape):
        place = (feet[0] + x0 + i, feet[1] + y0 + j, feet[2] + z0 + k)
        block = TABLE[get(world, *place)]
        assert seen["block_name"][i, j, k] == block.name
        assert seen["block_meta"][i, j, k] == block.meta + world.level[place]
        assert bool(seen["is_solid"][i, j, k]) == block.solid
        assert bool(seen["is_tool_not_required"][i, j, k]) == block.tool_free
        assert bool(seen["can_burn"][i, j, k]) == block.burns
        way = np.array(place) - head
        cosine = way @ ahead / np.linalg.norm(way)
        assert seen["cos_look_vec_angle"][i, j, k] == pytest.approx(cosine, abs=1e-5)


def test_voxels_outside_the_world_are_air() -> None:
    world = empty(0)
    world.blocks[...] = ID["stone"]
    world.player["x"], world.player["y"], world.player["z"] = 0.5, HEIGHT - 1.0, 0.5
    seen = voxels(world, (-1, 0, -1), (1, 1, 1))["block_name"]
    assert (seen[1:, 0, 1:] == "stone").all()
    assert (seen[0] == "air").all()
    assert (seen[:, 1] == "air").all()


RAYS = st.lists(
    st.tuples(st.floats(-1.5, 1.5), st.floats(-math.pi, math.pi), st.floats(0.1, 50.0)), min_size=1, max_size=12
)


@given(RAYS, YAWS, PITCHES)
@settings(max_examples=60)
def test_lidar_equals_trace_for_each_ray(rays: list[tuple[float, float, float]], yaw: float, pitch: float) -> None:
    world = forest()
    world.player["yaw"], world.player["pitch"] = yaw, pitch
    seen = lidar(world, np.array(rays))
    assert observation_space(rays=len(rays))["rays"].contains(seen)
    for i, (up, aside, reach) in enumerate(rays):
        way = turned(look(yaw, pitch), up, aside)
        block, distance, *place, _ = trace(world, *eyes(world), *way, reach, True)
        assert seen["block_name"][i] == TABLE[get(world, *place) if block == 0 else block].name
        assert seen["block_distance"][i] == pytest.approx(distance, abs=1e-4)
        assert [seen[f"traced_block_{axis}"][i] for axis in "xyz"] == place
        assert seen["harvest_level"][i] == TABLE[block].level or block == 0
        assert seen["entity_name"][i] == "null"
        assert seen["entity_distance"][i] == seen["block_distance"][i]
        assert (seen["ray_pitch"][i], seen["ray_yaw"][i]) == (np.float32(up), np.float32(aside))


def standing() -> World:
    world = empty(0)
    world.player["x"], world.player["y"], world.player["z"] = 100.5, 60.0, 100.5
    return world


@pytest.mark.parametrize("name", KINDS[1:])
def test_lidar_names_a_mob_in_front_of_a_wall_but_not_behind(name: str) -> None:
    world = standing()
    set_block(world, 100, 61, 106, ID["stone"], 0)
    mob = world.mobs[7]
    mob["kind"], mob["x"], mob["y"], mob["z"] = KIND[name], 100.5, 61.3, 103.5
    seen = lidar(world, np.array([(0.0, 0.0, 10.0)]))
    assert (seen["block_name"][0], seen["block_distance"][0]) == ("stone", 5.5)
    assert seen["entity_name"][0] == name
    assert seen["entity_distance"][0] == pytest.approx(3.0 - HALF[KIND[name]])
    mob["z"] = 108.0
    assert lidar(world, np.array([(0.0, 0.0, 10.0)]))["entity_name"][0] == "null"


def test_lidar_names_items_on_the_ground() -> None:
    world = standing()
    drop = world.drops[3]
    drop["alive"], drop["x"], drop["y"], drop["z"] = True, 100.5, 61.5, 102.5
    seen = lidar(world, np.array([(0.0, 0.0, 10.0), (0.0, 1.0, 10.0)]))
    assert list(seen["entity_name"]) == ["item", "null"]
    assert seen["entity_distance"].tolist() == [1.875, 10.0]
    assert list(seen["block_name"]) == ["air", "air"]


def test_lidar_names_projectiles() -> None:
    world = standing()
    drop = world.drops[3]
    drop["alive"], drop["item"], drop["x"], drop["y"], drop["z"] = True, ITEM["arrow"], 100.5, 61.5, 102.5
    assert lidar(world, np.array([(0.0, 0.0, 10.0)]))["entity_name"].tolist() == ["arrow"]
    drop["quantity"] = 1
    assert lidar(world, np.array([(0.0, 0.0, 10.0)]))["entity_name"].tolist() == ["item"]


def test_lidar_rays_turn_left_by_positive_yaw_and_up_by_positive_pitch() -> None:
    world = standing()
    seen = lidar(world, np.array([(0.0, math.pi / 2, 4.0), (math.pi / 4, 0.0, 4.0)]))
    assert (seen["traced_block_x"][0], seen["traced_block_z"][0]) == (104, 100)
    assert seen["traced_block_y"][1] == 64


@given(YAWS, PITCHES, st.lists(st.tuples(*[st.floats(-6, 6)] * 3, st.sampled_from(KINDS[1:])), min_size=1, max_size=8))
@settings(max_examples=60)
def test_lidar_and_crosshair_agree_on_mobs(
    yaw: float, pitch: float, mobs: list[tuple[float, float, float, str]]
) -> None:
    world = standing()
    world.player["yaw"], world.player["pitch"] = yaw, pitch
    for i, (x, y, z, name) in enumerate(mobs):
        world.mobs[i]["kind"] = KIND[name]
        world.mobs[i]["x"], world.mobs[i]["y"], world.mobs[i]["z"] = 100.5 + x, 61.0 + y, 100.5 + z
    rays = [(up, aside, 8.0) for up in (-0.4, 0.0, 0.3) for aside in (-1.0, -0.2, 0.0, 0.1, 2.0)]
    seen = lidar(world, np.array(rays))
    for i, (up, aside, reach) in enumerate(rays):
        what, index, distance = aim(world, *eyes(world), *turned(look(yaw, pitch), up, aside), reach, True)
        assert seen["entity_name"][i] == (KINDS[world.mobs[index]["kind"]] if what else "null")
        assert seen["entity_distance"][i] == pytest.approx(distance, abs=1e-4)
