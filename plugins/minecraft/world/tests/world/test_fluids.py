"""Tests of water and lava: distance and speed of the flow, drying and mixing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from voxeldojo.world.blocks import AIR, ID, WATER
from voxeldojo.world.items import ID as ITEM

FLOOR, MIDDLE = 64, 256


@pytest.mark.parametrize(("fluid", "loss", "delay"), [("water", 1, 5), ("lava", 2, 30)])
def test_a_fluid_spreads_on_flat_ground_to_its_maximum_distance(scene: Any, fluid: str, loss: int, delay: int) -> None:
    """The level increases by ``loss`` per step from the source. The flow gets one step wider every ``delay`` ticks."""
    scene.player["x"] += 20
    scene.put(0, 0, 0, fluid)
    scene.tick()
    reach = 7 // loss
    for ring in range(1, reach + 2):
        scene.tick(delay)
        assert scene.at(min(ring, reach), 0, 0) == ID[fluid]
        assert scene.at(min(ring, reach) + 1, 0, 0) == AIR
    scene.tick(2 * delay)
    for x in range(-9, 10):
        for z in range(-9, 10):
            steps = abs(x) + abs(z)
            assert scene.at(x, 0, z) == (ID[fluid] if steps <= reach else AIR)
            assert scene.level(x, 0, z) == (steps * loss if steps <= reach else 0)


def test_flowing_water_dries_up_without_its_source(scene: Any) -> None:
    scene.put(0, 0, 0, "water")
    scene.tick(60)
    scene.put(0, 0, 0, "air")
    scene.tick(120)
    assert not (scene.world.blocks == WATER).any()
    assert not scene.world.level.any()


def test_water_flows_only_towards_a_hole_and_falls_into_the_hole(scene: Any) -> None:
    scene.player["x"] += 20
    scene.put(3, -1, 0, "air")
    scene.put(0, 0, 0, "water")
    scene.tick(60)
    assert (scene.at(3, -1, 0), scene.level(3, -1, 0)) == (WATER, 8)
    assert scene.at(1, 0, 0) == scene.at(2, 0, 0) == scene.at(3, 0, 0) == WATER
    assert scene.at(-1, 0, 0) == scene.at(0, 0, 1) == scene.at(4, 0, 0) == AIR


def test_two_water_sources_turn_the_block_between_into_a_source(scene: Any) -> None:
    for z in (-1, 1):
        for x in range(-1, 4):
            scene.put(x, 0, z, "stone")
    scene.put(-1, 0, 0, "stone")
    scene.put(3, 0, 0, "stone")
    scene.stand(MIDDLE + 20.5, FLOOR, MIDDLE + 0.5)
    scene.put(0, 0, 0, "water")
    scene.put(2, 0, 0, "water")
    scene.tick(20)
    assert [scene.level(x, 0, 0) for x in range(3)] == [0, 0, 0]
    assert all(scene.at(x, 0, 0) == WATER for x in range(3))


def test_two_lava_sources_do_not_turn_the_block_between_into_a_source(scene: Any) -> None:
    for z in (-1, 1):
        for x in range(-1, 4):
            scene.put(x, 0, z, "stone")
    scene.put(-1, 0, 0, "stone")
    scene.put(3, 0, 0, "stone")
    scene.stand(MIDDLE + 20.5, FLOOR, MIDDLE + 0.5)
    scene.put(0, 0, 0, "lava")
    scene.put(2, 0, 0, "lava")
    scene.tick(100)
    assert scene.level(1, 0, 0) == 2


@pytest.mark.parametrize(("level", "result"), [(0, "obsidian"), (2, "cobblestone"), (4, "cobblestone"), (6, "lava")])
def test_water_turns_lava_into_obsidian_or_cobblestone_by_its_level(scene: Any, level: int, result: str) -> None:
    scene.stand(MIDDLE + 20.5, FLOOR, MIDDLE + 0.5)
    for x in range(-1, 4):
        for z in (-1, 1):
            scene.put(x, 0, z, "stone")
    scene.put(-1, 0, 0, "stone")
    scene.put(3, 0, 0, "stone")
    scene.put(2, 0, 0, "lava", level)
    scene.put(0, 0, 0, "water")
    scene.tick(11)
    assert scene.at(2, 0, 0) == ID[result]


def test_lava_that_flows_onto_water_turns_the_water_into_stone(scene: Any) -> None:
    scene.stand(MIDDLE + 20.5, FLOOR, MIDDLE + 0.5)
    for x, z in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        for y in range(3):
            scene.put(x, y, z, "stone")
    scene.put(0, 0, 0, "water")
    scene.put(0, 2, 0, "lava")
    scene.tick(100)
    assert scene.at(0, 0, 0) == ID["stone"]


def test_flowing_water_breaks_a_torch_which_drops_its_item(scene: Any) -> None:
    scene.stand(MIDDLE + 20.5, FLOOR, MIDDLE + 0.5)
    scene.put(1, 0, 0, "torch")
    scene.put(0, 0, 0, "water")
    scene.tick(20)
    assert scene.at(1, 0, 0) == WATER
    assert scene.drops() == {ITEM["torch"]: 1}


def test_water_does_not_flow_into_missing_chunks(scene: Any) -> None:
    scene.world.generated[17, :] = False
    scene.put(14, 0, 0, "water")
    scene.tick(60)
    assert scene.at(15, 0, 0) == WATER
    assert not (scene.world.blocks[17 * 16 : 18 * 16] == WATER).any()


@pytest.mark.parametrize("seed", range(4))
def test_water_in_a_closed_basin_stops_flowing(scene: Any, seed: int) -> None:
    """Updates end although the basin contains random stones, and each level follows from its neighbours."""
    rng = np.random.default_rng(seed)
    for x in range(-6, 7):
        for z in range(-6, 7):
            for y in range(5):
                wall = max(abs(x), abs(z)) == 6
                if wall or rng.random() < 0.3:
                    scene.put(x, y, z, "stone")
    scene.stand(MIDDLE + 20.5, FLOOR, MIDDLE + 0.5)
    for _ in range(3):
        x, z = rng.integers(-5, 6, 2)
        scene.put(int(x), 4, int(z), "water")
    scene.tick(600)
    clock = scene.world.clock[0]
    assert clock["queue_start"] == clock["queue_end"]
    fluid = scene.world.blocks == WATER
    assert fluid.any()
    for x, y, z in np.argwhere(fluid & (scene.world.level > 0)):
        level, blocks, levels = scene.world.level[x, y, z], scene.world.blocks, scene.world.level
        if level == 8:
            assert blocks[x, y + 1, z] == WATER
            continue
        around = [
            levels[x + i, y, z + k] % 8
            for i, k in ((1, 0), (-1, 0), (0, 1), (0, -1))
            if blocks[x + i, y, z + k] == WATER
        ]
        assert level == min(around) + 1


def test_all_unsupported_sand_falls_although_the_update_queue_overflows(scene: Any) -> None:
    """More sand than fits into the queue loses its support at the same time. All of the sand falls."""
    scene.world.blocks[MIDDLE - 10 : MIDDLE + 10, FLOOR + 4 : FLOOR + 20, MIDDLE - 10 : MIDDLE + 10] = ID["sand"]
    scene.stand(MIDDLE + 12.5, FLOOR, MIDDLE + 0.5)
    clock = scene.world.clock
    clock["overflow"] = 1
    scene.tick(6000)
    sand = scene.world.blocks == ID["sand"]
    assert sand.sum() == 20 * 20 * 16
    assert sand[:, FLOOR : FLOOR + 16, :].sum() == 20 * 20 * 16
