"""Tests of the complete tick: the player never ends in a block, and worlds are deterministic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from voxeldojo.world.blocks import HALF, ID, TOP
from voxeldojo.world.chunks import SPAWN_CHUNKS as AROUND
from voxeldojo.world.chunks import generate
from voxeldojo.world.collide import GRID, overlaps
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.state import ACTION, CHUNK, World, empty
from voxeldojo.world.tick import tick

FLOOR, MIDDLE = 64, 256
TALL, WIDE = 1.8, 0.3


def in_a_block(world: World) -> bool:
    """Return whether the player overlaps a block, by a reference implementation without tolerance."""
    p = world.player[0]
    x, y, z = (int(np.floor(p[axis])) for axis in "xyz")
    for cx in range(x - 1, x + 2):
        for cy in range(y - 1, y + 3):
            for cz in range(z - 1, z + 2):
                block = int(world.blocks[cx, cy, cz])
                if TOP[block] <= 0 or not cy < p["y"] + TALL or not p["y"] < cy + TOP[block]:
                    continue
                low, high = 0.5 - HALF[block], 0.5 + HALF[block]
                beside_x = p["x"] - WIDE >= cx + high or p["x"] + WIDE <= cx + low
                if not beside_x and p["z"] - WIDE < cz + high and p["z"] + WIDE > cz + low:
                    return True
    return False


def actions(rng: np.random.Generator, count: int) -> NDArray[np.void]:
    """Return random actions. Keys keep their state for 8 ticks."""
    acts = np.zeros(count, ACTION)
    stretch = np.repeat(np.arange(count // 8 + 1), 8)[:count]
    for name in ("forward", "strafe"):
        acts[name] = rng.choice([-1, 0, 1, 1], count // 8 + 1)[stretch]
    for name, chance in {"jump": 0.5, "sneak": 0.2, "sprint": 0.5, "attack": 0.5, "use": 0.3, "drop": 0.05}.items():
        acts[name] = (rng.random(count // 8 + 1) < chance)[stretch]
    acts["yaw"] = rng.choice([0, 0, 0, -40, 15, 90], count)
    acts["pitch"] = rng.choice([0, 0, 0, -30, 30], count)
    return acts


BITS = ("stone", "stone", "stone", "sand", "gravel", "water", "lava", "stone_slab", "fence", "cactus", "farmland")
MORE = ("glass_pane", "soul_sand", "ladder", "ice", "web", "carpet", "bed_foot_south", "leaves", "torch", "waterlily")


@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.45))
@settings(max_examples=40)
def test_player_never_overlaps_a_block_after_a_tick(maze: Any, seed: int, density: float) -> None:
    """The maze has full and partial blocks, sand and fluids. Actions are random, with random items in the hand."""
    rng = np.random.default_rng(seed)
    world: World = maze(rng, density)
    for number, act in enumerate(actions(rng, 300)):
        if number % 50 == 0:
            item = ITEM[rng.choice(["dirt", "sand", "water_bucket", "diamond_pickaxe", "fence", "stone_slab"])]
            world.slots[0] = (item, 1 + 9 * (item == ITEM["dirt"]), 0, 0)
            world.player["life"], world.player["dead"] = 20, False
        tick(world, act.reshape(1))
        assert not in_a_block(world), f"tick {number}: {world.player}"
        assert np.isfinite([world.player[name][0] for name in ("x", "y", "z", "vx", "vy", "vz")]).all()


@pytest.fixture(scope="module")
def maze(request: pytest.FixtureRequest) -> Any:
    """Return a function that builds random blocks around the centre, with the player in a free place."""
    world = empty(0)
    world.generated[...] = True

    def make(rng: np.random.Generator, density: float) -> World:
        low, high = MIDDLE - 12, MIDDLE + 12
        area = world.blocks[low:high, FLOOR - 2 : FLOOR + 14, low:high]
        kinds = np.array([ID[key] for key in BITS + MORE])
        area[...] = np.where(rng.random(area.shape) < density, rng.choice(kinds, area.shape), 0)
        area[:, 0, :] = ID["stone"]
        area[0], area[-1], area[:, :, 0], area[:, :, -1] = (ID["stone"],) * 4
        area[11:14, 5:8, 11:14] = 0
        area[11:14, 4, 11:14] = ID["stone"]
        world.level[low:high, :, low:high] = 0
        world.top[low:high, low:high] = FLOOR + 13
        for name in ("drops", "mobs", "queue", "slots"):
            getattr(world, name)[...] = np.zeros((), getattr(world, name).dtype)
        clock = world.clock
        clock["queue_start"] = clock["queue_end"] = clock["overflow"] = clock["sweep"] = 0
        clock["mobs_spawn"] = False
        player = world.player
        for name in player.dtype.names or ():
            player[name] = 0
        player["x"], player["y"], player["z"] = MIDDLE + 0.5, FLOOR + 3, MIDDLE + 0.5
        player["life"] = player["food"] = 20
        player["air"] = 300
        return world

    return make


def test_tops_of_all_blocks_have_heights_in_sixteenths_of_a_block() -> None:
    assert np.array_equal(TOP * GRID, np.round(TOP * GRID))


def test_overlaps_equals_the_reference_implementation(maze: Any) -> None:
    rng = np.random.default_rng(5)
    world = maze(rng, 0.3)
    for _ in range(2000):
        for axis, middle in (("x", MIDDLE), ("y", FLOOR + 5), ("z", MIDDLE)):
            world.player[axis] = middle + rng.uniform(-6, 6)
        p = world.player[0]
        assert overlaps(world.blocks, p["x"], p["y"], p["z"], WIDE, TALL) == in_a_block(world)


def test_the_same_seed_and_actions_give_the_same_world() -> None:
    acts = actions(np.random.default_rng(1), 400)
    worlds = [generate(11), generate(11)]
    for world in worlds:
        for act in acts:
            tick(world, act.reshape(1))
    for name in World._fields:
        assert np.array_equal(getattr(worlds[0], name), getattr(worlds[1], name)), name


def test_a_copied_world_evolves_like_the_original() -> None:
    acts = actions(np.random.default_rng(2), 300)
    world = generate(12)
    for act in acts[:150]:
        tick(world, act.reshape(1))
    copy = World(*(array.copy() for array in world))
    for act in acts[150:]:
        tick(world, act.reshape(1))
        tick(copy, act.reshape(1))
    for name in World._fields:
        assert np.array_equal(getattr(world, name), getattr(copy, name)), name


def test_land_is_generated_around_a_running_player() -> None:
    world = generate(3, "plains")
    action = np.zeros(1, ACTION)
    action["forward"] = action["sprint"] = action["jump"] = True
    for number in range(900):
        action["yaw"] = 90 if number % 60 == 0 and world.player["bumped"][0] else 0
        world.player["life"] = world.player["food"] = 20
        tick(world, action)
        x, z = (int(world.player[axis][0]) // CHUNK for axis in "xz")
        assert world.generated[x - AROUND : x + AROUND + 1, z - AROUND : z + AROUND + 1].all()


def test_time_of_day_passes_only_if_the_clock_allows_changes() -> None:
    world = generate(3, "plains")
    action = np.zeros(1, ACTION)
    world.clock["time"] = 23_998
    for expected in (23_999, 0, 1):
        tick(world, action)
        assert world.clock["time"][0] == expected
    world.clock["time_passes"] = False
    tick(world, action)
    assert (world.clock["time"][0], world.clock["tick"][0]) == (1, 4)


def test_invalid_action_values_keep_the_angles_and_speed_valid(scene: Any) -> None:
    for yaw in (np.nan, np.inf, 1e300):
        scene.tick(1, yaw=yaw, pitch=yaw, forward=127, strafe=-128)
        assert -180 <= scene.player["yaw"] < 180
        assert -90 <= scene.player["pitch"] <= 90
    scene.tick(60, forward=127)
    start = scene.place
    scene.tick(1, forward=127)
    assert np.hypot(scene.place[0] - start[0], scene.place[2] - start[2]) == pytest.approx(0.2159, abs=1e-3)


@pytest.mark.slow
def test_hundred_thousand_ticks_with_random_actions_raise_no_error() -> None:
    rng = np.random.default_rng(7)
    world = generate(7)
    for number, act in enumerate(actions(rng, 100_000)):
        if world.player["dead"][0]:
            world.player["dead"], world.player["life"], world.player["food"] = False, 20, 20
        tick(world, act.reshape(1))
        assert number % 16 or not in_a_block(world)
