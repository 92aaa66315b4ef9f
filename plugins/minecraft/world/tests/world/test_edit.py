"""Changes of single blocks keep the height map, the queue of updates and the world border correct."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from voxeldojo.world.blocks import BEDROCK, BLOCKS, DELAY, ID, OPACITY, SAND, STONE, WATER
from voxeldojo.world.crops import TICKS
from voxeldojo.world.edit import get, queue_update, set_block
from voxeldojo.world.state import HEIGHT, QUEUE, SIZE, World, empty

EDITS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, HEIGHT - 1), st.integers(0, 2), st.integers(0, BLOCKS - 1)),
    max_size=40,
)


def queued(world: World) -> list[tuple[int, int, int, int]]:
    clock = world.clock[0]
    places = [at % QUEUE for at in range(clock["queue_start"], clock["queue_end"])]
    return [tuple(int(world.queue[at][name]) for name in ("x", "y", "z", "due")) for at in places]  # type: ignore[misc]


@given(EDITS)
@settings(max_examples=60)
def test_height_map_matches_the_blocks_after_random_edits(edits: list[tuple[int, int, int, int]]) -> None:
    world = empty(0)
    for x, y, z, block in edits:
        assert set_block(world, x, y, z, block, 0)
        assert get(world, x, y, z) == block
    dims = OPACITY[world.blocks[:3, :, :3]] > 0
    highest = np.where(dims.any(axis=1), HEIGHT - 1 - dims[:, ::-1].argmax(axis=1), -1)
    assert np.array_equal(world.top[:3, :3], highest)


@given(EDITS)
@settings(max_examples=60)
def test_an_edit_queues_updates_of_the_block_and_its_neighbours_that_react(
    edits: list[tuple[int, int, int, int]],
) -> None:
    world = empty(0)
    for x, y, z, block in edits:
        world.clock["queue_start"] = world.clock["queue_end"] = 0
        grows = bool(TICKS[block] and not TICKS[world.blocks[x, y, z]])
        set_block(world, x, y, z, block, 0)
        around = [(x, y, z), (x + 1, y, z), (x - 1, y, z), (x, y + 1, z), (x, y - 1, z), (x, y, z + 1), (x, y, z - 1)]
        inside = [(i, j, k) for i, j, k in around if min(i, j, k) >= 0 and j < HEIGHT]
        delays = {place: int(DELAY[world.blocks[place]]) for place in inside}
        expected = [(*place, delay) for place, delay in delays.items() if delay]
        assert sorted(queued(world)) == sorted(expected + [(x, y + HEIGHT, z, 0)] * grows)


def test_world_border_is_bedrock_and_cannot_be_changed() -> None:
    world = empty(0)
    for x, y, z in ((-1, 5, 0), (SIZE, 5, 0), (0, 5, -1), (0, 5, SIZE), (0, -1, 0)):
        assert get(world, x, y, z) == BEDROCK
        assert not set_block(world, x, y, z, STONE, 0)
    assert get(world, 0, HEIGHT, 0) == 0
    assert not set_block(world, 0, HEIGHT, 0, STONE, 0)
    assert not world.blocks.any()


def test_a_fluid_has_a_level_which_a_solid_block_resets_to_zero() -> None:
    world = empty(0)
    set_block(world, 4, 4, 4, WATER, 3)
    assert world.level[4, 4, 4] == 3
    set_block(world, 4, 4, 4, SAND, 0)
    assert world.level[4, 4, 4] == 0


def test_a_full_queue_counts_the_lost_updates() -> None:
    world = empty(0)
    for _ in range(QUEUE + 4):
        queue_update(world, 1, 1, 1, 5)
    assert world.clock["overflow"][0] == 5
    assert (world.clock["queue_end"][0] + 1) % QUEUE == world.clock["queue_start"][0]


def test_placing_a_torch_queues_a_light_update() -> None:
    world = empty(0)
    set_block(world, 4, 4, 4, ID["torch"], 0)
    assert world.clock["relit"][0] == 1
    assert world.relit[0] == (4 * HEIGHT + 4) * SIZE + 4
