"""Light updated step by step equals light computed directly from the rule of light."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from voxeldojo.world.blocks import ID, LIGHT, OPACITY
from voxeldojo.world.chunks import ensure, flat, generate
from voxeldojo.world.edit import set_block
from voxeldojo.world.light import block_light, can_see_sky, light_region, settle, sky_light
from voxeldojo.world.state import CHUNK, HEIGHT, RELIT, SIZE, World, empty
from voxeldojo.world.sun import celestial_angle, light_for_spawning, light_level, sky_brightness, sun_brightness

LOW, HIGH = 15 * CHUNK, 16 * CHUNK
"""Range of the columns of the only generated chunk, along both axes."""
KEYS = ("air", "stone", "leaves", "water", "torch", "lava", "glass", "lit_furnace", "glowstone")
EDITS = st.lists(
    st.tuples(st.integers(0, CHUNK - 1), st.integers(50, 80), st.integers(0, CHUNK - 1), st.sampled_from(KEYS)),
    max_size=60,
)


def by_rule(world: World, low: int, high: int) -> NDArray[np.int64]:
    """Return the light of the columns from ``low`` to ``high``, by repeating the rule until nothing changes."""
    blocks = world.blocks[low:high, :, low:high]
    cost = np.maximum(OPACITY[blocks], 1).astype(np.int64)
    under_sky = np.arange(HEIGHT)[None, :, None] > world.top[low:high, None, low:high]
    lights = []
    for light in (np.where(under_sky, 15, 0), LIGHT[blocks].astype(np.int64)):
        while True:
            around = np.pad(light, 1)
            new = light
            for axis in range(3):
                for side in (0, 2):
                    cut = [slice(1, -1)] * 3
                    cut[axis] = slice(side, side + light.shape[axis])
                    new = np.maximum(new, around[tuple(cut)] - cost)
            if np.array_equal(new, light):
                break
            light = new
        lights.append(light)
    return lights[0] * 16 + lights[1]


def ground() -> World:
    world = empty(0)
    world.generated[LOW // CHUNK, LOW // CHUNK] = True
    world.blocks[LOW:HIGH, :60, LOW:HIGH] = ID["stone"]
    world.top[LOW:HIGH, LOW:HIGH] = 59
    light_region(world, LOW, LOW, HIGH, HIGH)
    return world


@given(EDITS, st.integers(1, 60))
@settings(max_examples=40)
def test_light_satisfies_the_rule_after_random_edits(edits: list[tuple[int, int, int, str]], batch: int) -> None:
    world = ground()
    for first in range(0, len(edits), batch):
        for x, y, z, key in edits[first : first + batch]:
            set_block(world, LOW + x, y, LOW + z, ID[key], 0)
        settle(world)
    assert np.array_equal(world.light[LOW:HIGH, :, LOW:HIGH], by_rule(world, LOW, HIGH))


def test_all_light_is_recomputed_after_too_many_changes() -> None:
    world = ground()
    draw = np.random.default_rng(0)
    for x, y, z, key in zip(
        *(
            draw.integers(LOW, HIGH, RELIT + 500),
            draw.integers(40, 90, RELIT + 500),
            draw.integers(LOW, HIGH, RELIT + 500),
        ),
        draw.choice(KEYS, RELIT + 500),
        strict=True,
    ):
        set_block(world, int(x), int(y), int(z), ID[str(key)], 0)
    assert world.clock["relit"][0] > RELIT
    settle(world)
    assert world.clock["relit"][0] == 0
    assert np.array_equal(world.light[LOW:HIGH, :, LOW:HIGH], by_rule(world, LOW, HIGH))


def test_light_of_new_land_satisfies_the_rule_in_every_order_of_chunks() -> None:
    """Compare chunks generated one by one, in another order, with chunks generated all at once."""
    worlds = [empty(5), empty(5)]
    for world in worlds:
        world.clock["biome"] = 4  # forest
    for i, k in ((1, 0), (-1, -1), (0, 0), (1, 1), (0, 1), (-1, 0), (0, -1), (-1, 1), (1, -1)):
        ensure(worlds[0], 256 + i * CHUNK, 256 + k * CHUNK, 0)
    ensure(worlds[1], 256, 256, 1)
    low, high = 256 - CHUNK, 256 + 2 * CHUNK
    assert np.array_equal(worlds[0].light, worlds[1].light)
    assert np.array_equal(worlds[0].light[low:high, :, low:high], by_rule(worlds[0], low, high))


def test_light_of_a_torch_in_a_dark_cave_falls_from_fourteen_by_one_per_block() -> None:
    world = flat(0, [ID["bedrock"], *[ID["stone"]] * 20])
    for x in range(250, 275):
        set_block(world, x, 10, 256, 0, 0)
    settle(world)
    assert sky_light(world, 260, 10, 256) == block_light(world, 260, 10, 256) == 0
    set_block(world, 255, 10, 256, ID["torch"], 0)
    settle(world)
    assert [block_light(world, 255 + i, 10, 256) for i in range(16)] == [*range(14, 0, -1), 0, 0]
    set_block(world, 255, 10, 256, 0, 0)
    settle(world)
    assert not world.light[250:275, 10, 256].any()


def test_water_absorbs_three_light_levels_per_block_and_leaves_absorb_one() -> None:
    world = flat(0, [ID["bedrock"], ID["stone"], *[ID["water"]] * 4])
    assert [sky_light(world, 9, y, 9) for y in range(6, 0, -1)] == [15, 12, 9, 6, 3, 0]
    world = flat(0, [ID["bedrock"], *[ID["leaves"]] * 3])
    assert [sky_light(world, 9, y, 9) for y in range(4, -1, -1)] == [15, 14, 13, 12, 0]


def test_can_see_sky_is_false_under_a_roof() -> None:
    world = flat(0, [1, 1, 1])
    assert can_see_sky(world, 9, 3, 9)
    assert not can_see_sky(world, 9, 2, 9)
    set_block(world, 9, 40, 9, ID["glass"], 0)
    assert can_see_sky(world, 9, 3, 9)
    set_block(world, 9, 40, 9, ID["leaves"], 0)
    assert not can_see_sky(world, 9, 3, 9)


def test_light_outside_the_world_is_full_above_and_zero_below() -> None:
    world = generate(0, "plains")
    assert sky_light(world, 5, HEIGHT, 5) == sky_light(world, -1, 5, 5) == sky_light(world, 5, 5, SIZE) == 15
    assert sky_light(world, 5, -1, 5) == block_light(world, -1, 5, 5) == block_light(world, 5, HEIGHT, 5) == 0


# time, sky light that decides about spawning on open ground; see minecraft.wiki, page Daylight cycle
@pytest.mark.parametrize(("time", "light"), [(6000, 15), (13669, 5), (13670, 4), (22330, 4), (22331, 5)])
def test_the_light_for_spawning_depends_on_the_time_but_the_sky_light_does_not(time: int, light: int) -> None:
    world = flat(0, [1])
    world.clock["time"] = time
    assert light_for_spawning(world, 9, 5, 9) == light
    assert light_level(world, 9, 5, 9) == 15


def test_celestial_angle_grows_all_day_and_repeats_every_day() -> None:
    angles = [celestial_angle(6000 + time) for time in range(0, 24000, 100)]
    assert angles[0] == 0.0
    assert celestial_angle(18000) == pytest.approx(0.5)
    assert all(one < other for one, other in pairwise(angles))
    assert celestial_angle(-1) == celestial_angle(23999)


@given(st.integers(0, 23999), st.booleans(), st.booleans())
@settings(max_examples=60)
def test_sun_and_sky_brightness_follow_their_formulas(time: int, raining: bool, thundering: bool) -> None:
    world = empty(0)
    world.clock["time"], world.clock["raining"], world.clock["thundering"] = time, raining, thundering
    high = math.cos(2 * math.pi * celestial_angle(time))
    dull = (11 / 16) ** (raining + thundering)
    assert sun_brightness(world) == pytest.approx(min(max(2 * high + 0.5, 0), 1) * dull)
    assert sky_brightness(world) == pytest.approx(min(max(2 * high + 0.2, 0), 1) * dull * 0.8 + 0.2)
