"""Ray tracing gives the same hits as a brute-force test of every block, mob and item."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from voxeldojo.world.blocks import AIR, ID, LIQUID, TABLE
from voxeldojo.world.crosshair import DROP, MOB, NOTHING, aim
from voxeldojo.world.mob_kinds import HALF, TALL
from voxeldojo.world.mob_kinds import ID as KIND
from voxeldojo.world.ray import eyes, look, trace
from voxeldojo.world.shapes import AIMABLE, BOX, WHOLE
from voxeldojo.world.state import HEIGHT, SIZE, empty

Box = NDArray[np.float64]
AT = 256
ANGLES, PITCHES = st.floats(-180, 180), st.floats(-90, 90)
# Points are not on the grid, since a ray along a shared edge of two boxes could hit either box.
POINTS = st.tuples(*[st.integers(0, 5999).map(lambda n: n / 1000 + 0.0004321)] * 3)
SHAPES = [ID[key] for key in ("stone", "leaves", "tallgrass", "torch", "torch_west", "stone_slab", "fence", "cactus")]


WORLD = empty(0)


def crossed(origin: Box, direction: Box, low: Box, high: Box) -> float:
    """Return the distance to a box (to its far side from inside), infinite for a miss."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        one, other = (low - origin) / direction, (high - origin) / direction
    near, far = np.fmin(one, other).max(), np.fmax(one, other).min()
    beside = (direction == 0) & ((origin < low) | (origin > high))
    assume(abs(far - near) > 1e-6)
    if beside.any() or near > far or far < 0:
        return math.inf
    return float(near if near >= 0 else far)


def fill(places: dict[tuple[int, int, int], int], level: int = 0) -> None:
    room = (slice(AT, AT + 6), slice(AT // 4, AT // 4 + 6), slice(AT, AT + 6))
    WORLD.blocks[room], WORLD.level[room] = AIR, 0
    for (x, y, z), block in places.items():
        WORLD.blocks[AT + x, AT // 4 + y, AT + z] = block
        WORLD.level[AT + x, AT // 4 + y, AT + z] = level if LIQUID[block] else 0


CELLS = st.tuples(*[st.integers(0, 5)] * 3)
ORIGIN = np.array([AT, AT // 4, AT], np.float64)


@given(st.dictionaries(CELLS, st.sampled_from(SHAPES), max_size=20), POINTS, ANGLES, PITCHES)
@settings(max_examples=150)
def test_trace_returns_the_nearest_block_box_and_the_face_that_is_hit(
    places: dict[tuple[int, int, int], int],
    point: tuple[float, float, float],
    yaw: float,
    pitch: float,
) -> None:
    fill(places)
    origin, direction = ORIGIN + point, np.array(look(yaw, pitch))
    found = {}
    for cell, block in places.items():
        corner = ORIGIN + cell
        found[cell] = crossed(origin, direction, corner + BOX[block, :3], corner + BOX[block, 3:])
    nearest = min(found.values(), default=math.inf)
    block, distance, x, y, z, face = trace(WORLD, *origin, *direction, 20.0, False)
    if abs(nearest - 20.0) < 1e-9:
        return
    if nearest > 20.0:
        assert (block, distance, face) == (AIR, 20.0, -1)
        assert (x, y, z) == tuple(np.floor(origin + 20.0 * direction))
        return
    assert distance == pytest.approx(nearest, abs=1e-7)
    cell = (x - AT, y - AT // 4, z - AT)
    assert block == places[cell]
    assert found[cell] == pytest.approx(nearest, abs=1e-7)
    # The hit is on the returned face.
    hit = (origin + distance * direction - ORIGIN - cell)[(1, 2, 0)[face // 2]]
    assert hit == pytest.approx(BOX[block, (1, 2, 0)[face // 2] + 3 * (face % 2)], abs=1e-6)


@pytest.mark.parametrize(
    ("direction", "face"),
    [((0, 1, 0), 0), ((0, -1, 0), 1), ((0, 0, 1), 2), ((0, 0, -1), 3), ((1, 0, 0), 4), ((-1, 0, 0), 5)],
)
def test_faces_have_the_numbers_of_the_game(direction: tuple[int, int, int], face: int) -> None:
    fill({(2, 2, 2): ID["stone"]})
    start = ORIGIN + 2.5 - 2.0 * np.array(direction)
    assert trace(WORLD, *start, *map(float, direction), 4.5, False) == (1, 1.5, AT + 2, AT // 4 + 2, AT + 2, face)


@pytest.mark.parametrize("level", [0, 3, 8])
def test_only_fluid_sources_stop_a_ray_if_fluids_are_included(level: int) -> None:
    fill({(2, 2, 2): ID["water"], (4, 2, 2): ID["stone"]}, level)
    start = ORIGIN + np.array([0.5, 2.5, 2.5])
    seen = TABLE[trace(WORLD, *start, 1.0, 0.0, 0.0, 10.0, True)[0]].key
    assert seen == ("water" if level == 0 else "stone")
    assert trace(WORLD, *start, 1.0, 0.0, 0.0, 10.0, False)[:2] == (ID["stone"], 3.5)


def test_only_air_fluids_and_fire_let_rays_pass() -> None:
    assert {TABLE[i].key for i in np.flatnonzero(~AIMABLE)} == {"air", "water", "lava", "fire"}
    assert WHOLE[ID["stone"]]
    assert not WHOLE[ID["tallgrass"]]
    assert ((BOX >= 0) & (BOX <= 1)).all()
    assert (BOX[:, :3] < BOX[:, 3:]).all()


@pytest.mark.parametrize("start", [(0.5, 5.0, 0.5), (SIZE - 0.5, HEIGHT + 5.0, 3.5), (-3.0, 200.0, -8.0)])
def test_a_ray_that_leaves_or_starts_outside_the_world_hits_air(start: tuple[float, float, float]) -> None:
    for yaw in range(0, 360, 30):
        for pitch in (-90, -30, 0, 30, 90):
            assert trace(WORLD, *start, *look(float(yaw), float(pitch)), 60.0, True)[0] == AIR


def test_eye_height_depends_on_the_pose_and_look_direction_on_the_angles() -> None:
    world = empty(0)
    player = world.player
    player["x"], player["y"], player["z"] = 1.5, 64.0, 2.5
    assert eyes(world) == (1.5, 65.62, 2.5)
    player["sneaking"] = True
    assert eyes(world)[1] == 65.54
    player["sleeping"] = True
    assert eyes(world)[1] == pytest.approx(64.2)
    assert look(0.0, 0.0) == pytest.approx((0, 0, 1))
    assert look(90.0, 0.0) == pytest.approx((-1, 0, 0))
    assert look(0.0, 90.0) == pytest.approx((0, -1, 0))


@given(
    st.lists(st.tuples(st.sampled_from(sorted(KIND)), POINTS), max_size=6),
    st.lists(POINTS, max_size=4),
    ANGLES,
    PITCHES,
)
@settings(max_examples=80)
def test_aim_returns_the_nearest_mob_or_item(
    mobs: list[tuple[str, tuple[float, float, float]]],
    items: list[tuple[float, float, float]],
    yaw: float,
    pitch: float,
) -> None:
    world = empty(0)
    origin, direction = np.full(3, 3.0), np.array(look(yaw, pitch))
    found: dict[tuple[int, int], float] = {}

    def measure(what: int, index: int, at: Box, half: float, tall: float) -> None:
        low, high = at - np.array([half, 0, half]), at + np.array([half, tall, half])
        inside = bool(((low < origin) & (origin < high)).all())
        found[what, index] = 0.0 if inside else crossed(origin, direction, low, high)

    for i, (name, at) in enumerate(mobs):
        world.mobs[i]["kind"] = KIND[name]
        world.mobs[i]["x"], world.mobs[i]["y"], world.mobs[i]["z"] = at
        measure(MOB, i, np.array(at), HALF[KIND[name]], TALL[KIND[name]])
    for i, at in enumerate(items):
        world.drops[i]["alive"] = True
        world.drops[i]["x"], world.drops[i]["y"], world.drops[i]["z"] = at
        measure(DROP, i, np.array(at), 0.125, 0.25)
    for drops in (False, True):
        counted = {key: at for key, at in found.items() if drops or key[0] == MOB}
        what, index, distance = aim(world, *origin, *direction, 5.0, drops)
        nearest = min(counted.values(), default=math.inf)
        if nearest >= 5.0 - 1e-9:
            assert (what, index, distance) == (NOTHING, -1, 5.0) or nearest == pytest.approx(5.0)
        else:
            assert distance == pytest.approx(nearest, abs=1e-9)
            assert counted[what, index] == pytest.approx(nearest, abs=1e-9)
