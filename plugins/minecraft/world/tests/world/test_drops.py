"""Items on the ground: motion, pickup, merging and lifetime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from voxeldojo.world.inventory import count, put
from voxeldojo.world.items import ID
from voxeldojo.world.state import DROPS

FLOOR, MIDDLE = 64, 256
DIRT, EGG = ID["dirt"], ID["egg"]


def lay(scene: Any, x: float, z: float, item: int = DIRT, quantity: int = 1, **fields: Any) -> int:
    """Put a resting drop at a place relative to the centre of the floor. Return its index in ``drops``."""
    index = int(np.flatnonzero(~scene.world.drops["alive"])[0])
    drop = scene.world.drops[index]
    for name, value in {"alive": True, "item": item, "quantity": quantity, "y": FLOOR, **fields}.items():
        drop[name] = value
    drop["x"], drop["z"] = MIDDLE + x, MIDDLE + z
    return index


def test_a_thrown_item_lands_ahead_and_is_picked_up_after_forty_ticks(scene: Any) -> None:
    scene.hold("dirt", 3)
    scene.tick(drop=True)
    assert scene.held()[1] == 2
    assert scene.drops() == {DIRT: 1}
    scene.tick(30)
    drop = scene.world.drops[0]
    assert drop["y"] == FLOOR
    assert 1.0 < drop["z"] - scene.player["z"] < 3.0
    assert abs(drop["x"] - scene.player["x"]) < 0.5
    scene.stand(float(drop["x"]), FLOOR, float(drop["z"]))
    scene.tick(8)
    assert scene.drops() == {DIRT: 1}
    scene.tick(2)
    assert scene.drops() == {}
    assert count(scene.world, DIRT) == 3


@pytest.mark.parametrize(("away", "got"), [(1.42, True), (1.43, False), (-1.42, True)])
def test_a_player_picks_up_items_up_to_one_block_from_the_body(scene: Any, away: float, got: bool) -> None:
    lay(scene, 0.5 + away, 0.5)
    scene.tick(2)
    assert (scene.drops() == {}) == got


def test_a_nearly_full_inventory_picks_up_only_as_many_items_as_fit(scene: Any) -> None:
    world = scene.world
    world.slots["item"][:36], world.slots["quantity"][:36] = ID["log"], 64
    put(world, 5, DIRT, 60, 0, 0)
    lay(scene, 0.5, 0.5, quantity=10)
    scene.tick(2)
    assert count(world, DIRT) == 64
    assert scene.drops() == {DIRT: 6}


def test_an_item_on_the_ground_vanishes_after_five_minutes(scene: Any) -> None:
    lay(scene, 10, 10, age=5997)
    scene.tick(2)
    assert scene.drops() == {DIRT: 1}
    scene.tick()
    assert scene.drops() == {}


def test_equal_items_on_the_ground_merge_up_to_a_full_stack(scene: Any) -> None:
    for i in range(5):
        lay(scene, 10 + 0.1 * i, 10, item=EGG, quantity=5)
    lay(scene, 10, 10, item=EGG, variant=1)
    lay(scene, 12, 10, item=EGG)
    scene.tick(26)
    lying = sorted(scene.world.drops["quantity"][scene.world.drops["alive"]].tolist())
    assert lying == [1, 1, 10, 15]


def test_used_tools_on_the_ground_do_not_merge(scene: Any) -> None:
    for _ in range(2):
        lay(scene, 10, 10, item=ID["iron_sword"], damage=3)
    scene.tick(30)
    assert scene.world.drops["alive"].sum() == 2


@pytest.mark.parametrize("block", ["lava", "fire", "cactus"])
def test_an_item_in_lava_fire_or_cactus_is_destroyed(scene: Any, block: str) -> None:
    scene.put(10, -1, 10, "sand" if block == "cactus" else "netherrack" if block == "fire" else "stone")
    scene.world.blocks[MIDDLE + 10, FLOOR, MIDDLE + 10] = scene_id(block)
    lay(scene, 10.5, 10.5)
    scene.tick()
    assert scene.drops() == {}


def scene_id(block: str) -> int:
    from voxeldojo.world.blocks import ID as BLOCK

    return BLOCK[block]


def test_an_item_falls_with_the_acceleration_and_drag_of_the_game(scene: Any) -> None:
    index = lay(scene, 10, 10, y=FLOOR + 20.0)
    y, vy = FLOOR + 20.0, 0.0
    for _ in range(25):
        scene.tick()
        vy -= 0.04
        y += vy
        vy *= 0.98
        assert scene.world.drops[index]["y"] == pytest.approx(y, abs=1e-9)
    scene.tick(100)
    assert scene.world.drops[index]["y"] == FLOOR


def test_a_block_placed_at_an_item_moves_the_item_onto_the_block(scene: Any) -> None:
    index = lay(scene, 10.5, 10.5)
    scene.put(10, 0, 10, "stone")
    scene.tick(3)
    assert scene.world.drops[index]["y"] == FLOOR + 1


def test_a_new_drop_replaces_the_oldest_drop_if_all_places_are_taken(scene: Any) -> None:
    for i in range(DROPS):
        lay(scene, 10 + i % 16, 10 + i // 16, item=ID["iron_sword"], damage=1, age=i)
    scene.hold("dirt")
    scene.tick(drop=True)
    assert scene.world.drops["alive"].sum() == DROPS
    assert scene.world.drops[DROPS - 1]["item"] == DIRT


def test_a_dead_player_drops_the_whole_inventory(scene: Any) -> None:
    put(scene.world, 0, DIRT, 5, 0, 0)
    put(scene.world, 39, ID["iron_helmet"], 1, 0, 7)
    scene.player["life"], scene.player["fall"] = 1, 20
    scene.tick(2)
    assert scene.player["dead"]
    assert scene.drops() == {DIRT: 5, ID["iron_helmet"]: 1}
    assert not scene.world.slots["quantity"].any()
