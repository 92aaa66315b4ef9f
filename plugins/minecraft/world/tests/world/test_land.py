"""Generated land is deterministic, independent of the order of its chunks, and has the statistics of the game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from voxeldojo.errors import ConfigError, UnknownNameError
from voxeldojo.world import biomes, chunks
from voxeldojo.world.blocks import AIR, BEDROCK, ID, OPACITY, TABLE, TOP
from voxeldojo.world.light import light_region
from voxeldojo.world.state import CHUNK, HEIGHT, SIZE, World, empty

MIDDLE = SIZE // 2


def generated_world(seed: int, biome: str | None = None, radius: int = 5) -> World:
    world = empty(seed)
    world.clock["biome"] = biomes.biome_id(biome)
    chunks.ensure(world, MIDDLE, MIDDLE, radius)
    return world


def square(world: World, array: NDArray[Any]) -> NDArray[Any]:
    """Return the generated part of an array, a square of chunks."""
    where = np.flatnonzero(world.generated.any(axis=1))
    first, last = where[0] * CHUNK, (where[-1] + 1) * CHUNK
    return array[first:last, :, first:last] if array.ndim == 3 else array[first:last, first:last]


@pytest.fixture(scope="module")
def wide() -> World:
    """Return a world of mixed biomes with 31 x 31 generated chunks."""
    return generated_world(3, radius=15)


@given(st.integers(0, 2**64 - 1), st.permutations([(i, k) for i in range(-1, 2) for k in range(-1, 2)]))
@settings(max_examples=12)
def test_land_does_not_depend_on_the_order_of_chunks(seed: int, order: list[tuple[int, int]]) -> None:
    at_once, one_by_one = empty(seed), empty(seed)
    for world in (at_once, one_by_one):
        world.clock["mobs_spawn"] = False  # the order of the animals is the order of the chunks
    chunks.ensure(at_once, MIDDLE, MIDDLE, 1)
    for i, k in order:
        assert chunks.ensure(one_by_one, MIDDLE + i * CHUNK, MIDDLE + k * CHUNK, 0) == 1
    for one, other in zip(at_once, one_by_one, strict=True):
        assert np.array_equal(one, other)


def test_generated_chunk_is_not_regenerated() -> None:
    world = generated_world(5, radius=1)
    world.blocks[MIDDLE, 100, MIDDLE] = ID["gold_block"]
    assert chunks.ensure(world, MIDDLE, MIDDLE, 1) == 0
    assert world.blocks[MIDDLE, 100, MIDDLE] == ID["gold_block"]


def test_chunks_outside_the_world_are_not_generated() -> None:
    world = empty(5)
    assert chunks.ensure(world, 0, SIZE - 1, 1) == 4


def test_different_seeds_give_different_land() -> None:
    assert not np.array_equal(generated_world(1, radius=1).blocks, generated_world(2, radius=1).blocks)


@given(st.integers(0, 2**32), st.sampled_from([None, "forest", "desert"]))
@settings(max_examples=5)
def test_reset_world_equals_a_new_world(seed: int, biome: str | None) -> None:
    used = chunks.generate(99, "taiga")
    used.level[MIDDLE, 70, MIDDLE] = 4
    used.slots["quantity"] = 3
    used.player["life"] = 2.0
    chunks.reset_world(used, seed, biome)
    for one, other in zip(used, chunks.generate(seed, biome), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("biome", ["plains", "forest", "birch_forest", "extreme_hills", "desert", "river", "mesa"])
def test_a_world_of_one_biome_has_only_this_biome_and_a_safe_start(biome: str) -> None:
    world = chunks.generate(7, biome)
    columns = np.repeat(np.repeat(world.generated, CHUNK, axis=0), CHUNK, axis=1)
    assert np.all(world.biome[columns] == biomes.ID[biome])
    x, y, z = (int(world.player[axis][0]) for axis in "xyz")
    assert abs(x - MIDDLE) < 100
    assert world.top[x, z] == y - 1
    assert TABLE[world.blocks[x, y - 1, z]].full
    assert all(TOP[world.blocks[x, layer, z]] == 0 for layer in (y, y + 1))
    around = world.blocks[x - 2 : x + 3, y - 2 : y + 2, z - 2 : z + 3]
    assert not np.isin(around, [ID["water"], ID["lava"], ID["cactus"]]).any()
    assert (world.player["spawn_x"][0], world.player["spawn_y"][0]) == (x + 0.5, y)


def test_an_ocean_world_starts_on_the_water() -> None:
    world = chunks.generate(7, "ocean")
    x, y, z = (int(world.player[axis][0]) for axis in "xyz")
    assert world.blocks[x, y - 1, z] == ID["water"]
    assert not chunks.spawn(world)


@pytest.mark.parametrize("biome", ["nether", "the_end", "plain"])
def test_generate_refuses_an_unknown_biome(biome: str) -> None:
    with pytest.raises(UnknownNameError, match="Overworld"):
        chunks.generate(0, biome)


def test_bedrock_is_at_the_bottom_and_the_height_map_matches_the_blocks(wide: World) -> None:
    blocks, top = square(wide, wide.blocks), square(wide, wide.top)
    assert np.all(blocks[:, 0] == BEDROCK)
    assert not np.any(blocks[:, 5:] == BEDROCK)
    dims = OPACITY[blocks] > 0
    assert np.array_equal(top, HEIGHT - 1 - dims[:, ::-1].argmax(axis=1))


@pytest.mark.parametrize(
    ("ore", "highest", "a_chunk"),
    # blocks per chunk: minecraft.wiki, page Ore, Java Edition before 1.18 (coal reaches higher than the land here)
    [
        *(("coal_ore", HEIGHT, 120.0), ("iron_ore", 66, 77.0), ("gold_ore", 34, 8.2)),
        *(("redstone_ore", 18, 24.8), ("diamond_ore", 18, 3.1), ("lapis_ore", 34, 3.4)),
    ],
)
def test_ore_depth_and_density_match_the_game(wide: World, ore: str, highest: int, a_chunk: float) -> None:
    there = square(wide, wide.blocks) == ID[ore]
    assert np.flatnonzero(there.any(axis=(0, 2))).max() <= highest
    assert there.sum() / wide.generated.sum() == pytest.approx(a_chunk, rel=0.2)


@pytest.mark.parametrize("fluid", ["water", "lava"])
def test_fluids_in_new_land_have_no_air_beside_or_below(wide: World, fluid: str) -> None:
    blocks = square(wide, wide.blocks)
    wet, air = blocks == ID[fluid], blocks == AIR
    assert wet.sum() > 1000
    assert not np.any(wet[1:] & air[:-1])
    assert not np.any(wet[:-1] & air[1:])
    assert not np.any(wet[:, :, 1:] & air[:, :, :-1])
    assert not np.any(wet[:, :, :-1] & air[:, :, 1:])
    assert not np.any(wet[:, 1:] & air[:, :-1])


def test_caves_continue_across_chunks(wide: World) -> None:
    caves = square(wide, wide.blocks)[:, 12:50] == AIR
    assert 0.01 < caves.mean() < 0.2
    for axis in (0, 2):
        changes = np.diff(caves.astype(np.int8), axis=axis) != 0
        counts = changes.sum(axis=tuple(i for i in range(3) if i != axis))
        border, inside = counts[CHUNK - 1 :: CHUNK].mean(), np.delete(counts, np.s_[CHUNK - 1 :: CHUNK]).mean()
        assert border == pytest.approx(inside, rel=0.12)


def test_every_plant_has_its_support(wide: World) -> None:
    swamp = generated_world(16, "swampland")
    blocks = square(wide, wide.blocks)
    soil, sand = [ID["grass"], ID["dirt"]], [ID["sand"], ID["red_sand"]]
    allowed = {
        "soil": soil,
        "desert": sand + soil,
        "cactus": [*sand, ID["cactus"]],
        "reeds": [*soil, *sand, ID["reeds"]],
        "water": [ID["water"]],
        "double_plant": [ID[key] for key in ("sunflower", "rose_bush", "lilac", "peony")],
    }
    seen = set()
    for land in (blocks, square(swamp, swamp.blocks)):
        for number in np.unique(land):
            block = TABLE[number]
            if block.on in allowed:
                x, y, z = np.nonzero(land == number)
                assert np.isin(land[x, y - 1, z], allowed[block.on]).all(), block.key
                seen.add(block.on)
    assert seen == set(allowed)
    x, y, z = np.nonzero(blocks[1:-1, :, 1:-1] == ID["cactus"])
    for i, k in ((0, 1), (2, 1), (1, 0), (1, 2)):
        assert np.all(TOP[blocks[x + i, y, z + k]] == 0.0)


def test_trees_are_complete_across_chunks() -> None:
    world = generated_world(4, "forest")
    blocks = square(world, world.blocks)
    logs = np.isin(blocks, [ID["log"], ID["birch_log"]])
    trunks = logs[:, 1:] & ~logs[:, :-1]
    assert 5 < trunks.sum() / world.generated.sum() < 14
    assert min((blocks == ID[key]).sum() for key in ("log", "birch_log")) > 500
    leaves = np.isin(blocks, [ID["leaves"], ID["birch_leaves"]])
    for axis in (0, 2):
        counts = (np.diff(leaves.astype(np.int8), axis=axis) != 0).sum(axis=tuple(i for i in range(3) if i != axis))
        inside = np.delete(counts, np.s_[CHUNK - 1 :: CHUNK]).mean()
        assert counts[CHUNK - 1 :: CHUNK].mean() == pytest.approx(inside, rel=0.2)


def test_map_has_many_biomes_rivers_and_shores(wide: World) -> None:
    found = {biomes.NAMES[int(number)] for number in np.unique(square(wide, wide.biome))}
    assert len(found) >= 8
    assert {"river", "ocean", "beach"} <= found


def test_snow_covers_high_mountains_and_cold_biomes() -> None:
    snow = ID["snow_layer"]
    hills = generated_world(13, "extreme_hills")
    high = hills.top >= 96
    assert np.any(hills.blocks == snow)
    assert np.nonzero(hills.blocks == snow)[1].min() > 90
    assert high.any()
    ice = generated_world(13, "ice_plains", radius=2)
    covered = (square(ice, ice.blocks) == snow).any(axis=1).mean()
    assert covered > 0.8


def test_new_land_has_complete_light(wide: World) -> None:
    world = generated_world(8, radius=1)
    chunks.ensure(world, MIDDLE + 2 * CHUNK, MIDDLE, 1)
    light = world.light.copy()
    light_region(world, 0, 0, SIZE, SIZE)
    assert np.array_equal(world.light, light)


def test_a_flat_world_is_fully_generated_and_needs_a_layer() -> None:
    world = chunks.flat(0, [BEDROCK, ID["dirt"], ID["grass"]])
    assert world.generated.all()
    assert np.all(world.top == 2)
    assert float(world.player["y"][0]) == 3.0
    with pytest.raises(ConfigError, match="layers"):
        chunks.flat(0, [])
