"""Tests of placing blocks and using buckets: resulting blocks, consumed items and refusals."""

from __future__ import annotations

from typing import Any

import pytest
from voxeldojo.footing import can_stand
from voxeldojo.world.blocks import AIR, ID
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.mob_kinds import COW

FLOOR, MIDDLE = 64, 256


def aim(scene: Any, x: float, y: float, z: float) -> None:
    """Look at a point relative to the centre of the floor."""
    scene.look_at(MIDDLE + x, FLOOR + y, MIDDLE + z)


def use(scene: Any) -> None:
    scene.tick(1, use=True)
    scene.tick(1)


@pytest.mark.parametrize(
    ("item", "variant", "block"),
    [
        ("planks", 0, "planks"),
        ("planks", 2, "birch_planks"),
        ("cobblestone", 0, "cobblestone"),
        ("sand", 0, "sand"),
        ("crafting_table", 0, "crafting_table"),
        ("furnace", 0, "furnace"),
        ("torch", 0, "torch"),
        ("wool", 14, "red_wool"),
    ],
)
def test_a_block_is_placed_on_top_of_the_floor_and_consumes_one_item(
    scene: Any, item: str, variant: int, block: str
) -> None:
    scene.hold(item, 3, variant)
    aim(scene, 0.5, 0, 2.5)
    scene.tick(1, use=True)
    assert scene.at(0, 0, 2) == ID[block]
    assert scene.held()[:3] == (ITEM[item], 2, variant)
    assert scene.events["placed"] == ID[block]
    assert scene.events["used"]


def test_placing_the_last_block_empties_the_hand(scene: Any) -> None:
    scene.hold("dirt")
    aim(scene, 0.5, 0, 2.5)
    use(scene)
    assert scene.held() == (0, 0, 0, 0)
    aim(scene, 1.5, 0, 2.5)
    use(scene)
    assert scene.at(1, 0, 2) == AIR


@pytest.mark.parametrize(("point", "cell"), [((0.5, 1.5, 2), (0, 1, 1)), ((0.9, 0.5, 2), (0, 0, 1))])
def test_a_block_is_placed_in_front_of_the_side_at_which_the_player_looks(
    scene: Any, point: tuple[float, float, float], cell: tuple[int, int, int]
) -> None:
    scene.put(0, 0, 2, "stone")
    scene.put(0, 1, 2, "stone")
    scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE - 0.5)
    scene.hold("dirt", 9)
    aim(scene, *point)
    use(scene)
    assert scene.at(*cell) == ID["dirt"]


def test_a_block_cannot_be_placed_into_the_player_or_a_mob(scene: Any) -> None:
    scene.hold("dirt", 9)
    aim(scene, 0.5, 0, 0.5)
    use(scene)
    assert scene.at(0, 0, 0) == AIR
    mob = scene.world.mobs[0]
    for name, value in {"kind": COW, "x": MIDDLE + 0.5, "y": FLOOR, "z": MIDDLE + 4.2, "life": 10, "age": 1}.items():
        mob[name] = value
    scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
    aim(scene, 0.5, 0, 3.2)
    use(scene)
    assert scene.at(0, 0, 3) == AIR
    mob["kind"] = 0
    use(scene)
    assert scene.at(0, 0, 3) == ID["dirt"]


def test_a_torch_can_be_placed_at_the_players_feet(scene: Any) -> None:
    scene.hold("torch")
    aim(scene, 0.5, 0, 0.5)
    use(scene)
    assert scene.at(0, 0, 0) == ID["torch"]


def test_placing_reaches_four_and_a_half_blocks(scene: Any) -> None:
    scene.hold("dirt", 9)
    aim(scene, 0.5, 0, 5)
    use(scene)
    assert scene.at(0, 0, 5) == AIR
    aim(scene, 0.5, 0, 4.5)
    use(scene)
    assert scene.at(0, 0, 4) == ID["dirt"]


def test_a_placed_block_replaces_tall_grass(scene: Any) -> None:
    scene.put(0, -1, 2, "grass")
    scene.put(0, 0, 2, "tallgrass")
    scene.hold("dirt")
    aim(scene, 0.5, 0.4, 2.5)
    use(scene)
    assert scene.at(0, 0, 2) == ID["dirt"]
    assert scene.at(0, 1, 2) == AIR


def test_a_block_is_placed_on_a_crafting_table_only_while_sneaking(scene: Any) -> None:
    scene.put(0, 0, 2, "crafting_table")
    scene.hold("dirt", 9)
    aim(scene, 0.5, 1, 2.5)
    use(scene)
    assert scene.at(0, 1, 2) == AIR
    scene.tick(1, sneak=True)
    aim(scene, 0.5, 0.92, 2.5)
    scene.tick(1, use=True, sneak=True)
    assert scene.at(0, 1, 2) == ID["dirt"] or scene.at(0, 0, 1) == ID["dirt"]


@pytest.mark.parametrize(
    ("x", "z", "torch"),
    [
        (0, 2, "torch_north"),
        (0, -2, "torch_south"),
        (2, 0, "torch_west"),
        (-2, 0, "torch_east"),
    ],
)
def test_a_torch_on_a_wall_drops_when_the_wall_is_removed(scene: Any, x: int, z: int, torch: str) -> None:
    scene.put(x, 1, z, "stone")
    scene.hold("torch")
    aim(scene, x + 0.5 - 0.5 * (x > 0) + 0.5 * (x < 0), 1.5, z + 0.5 - 0.5 * (z > 0) + 0.5 * (z < 0))
    use(scene)
    cell = (x - (x > 0) + (x < 0), 1, z - (z > 0) + (z < 0))
    assert scene.at(*cell) == ID[torch]
    scene.put(x, 1, z, "air")
    scene.tick(3)
    assert scene.at(*cell) == AIR
    assert scene.drops() == {ITEM["torch"]: 1}


@pytest.mark.parametrize(
    ("item", "floor", "stands"),
    [
        ("sapling", "grass", True),
        ("sapling", "stone", False),
        ("cactus", "sand", True),
        ("cactus", "dirt", False),
        ("reeds", "dirt", False),
        ("red_flower", "dirt", True),
        ("carpet", "stone", True),
    ],
)
def test_plants_and_carpets_can_be_placed_only_on_suitable_ground(
    scene: Any, item: str, floor: str, stands: bool
) -> None:
    scene.put(0, -1, 2, floor)
    scene.hold(item)
    aim(scene, 0.5, 0, 2.5)
    use(scene)
    assert (scene.at(0, 0, 2) != AIR) == stands


def test_reeds_can_be_placed_beside_water_and_break_without_ground(scene: Any) -> None:
    scene.put(0, -1, 2, "sand")
    scene.put(1, -1, 2, "water")
    scene.hold("reeds", 2)
    aim(scene, 0.3, 0, 2.5)
    use(scene)
    assert scene.at(0, 0, 2) == ID["reeds"]
    scene.put(1, -1, 2, "stone")
    scene.put(0, -1, 2, "stone")
    scene.tick(3)
    assert scene.at(0, 0, 2) == AIR


def test_a_bed_is_placed_in_the_direction_in_which_the_player_looks(scene: Any) -> None:
    scene.hold("bed")
    aim(scene, 0.5, 0, 2.5)
    use(scene)
    assert scene.at(0, 0, 2) == ID["bed_foot_south"]
    assert scene.at(0, 0, 3) == ID["bed_head_south"]
    assert scene.held()[1] == 0


def test_a_bed_cannot_be_placed_without_two_free_blocks(scene: Any) -> None:
    scene.put(0, 0, 3, "stone")
    scene.hold("bed")
    aim(scene, 0.5, 0, 2.5)
    use(scene)
    assert scene.at(0, 0, 2) == AIR
    assert scene.held()[1] == 1


def test_a_tall_flower_is_placed_and_broken_with_both_halves(scene: Any) -> None:
    scene.put(0, -1, 2, "grass")
    scene.hold("double_plant", 1, 4)
    aim(scene, 0.5, 0, 2.5)
    use(scene)
    assert (scene.at(0, 0, 2), scene.at(0, 1, 2)) == (ID["rose_bush"], ID["double_plant_top"])
    scene.put(0, -1, 2, "stone")
    scene.tick(3)
    assert (scene.at(0, 0, 2), scene.at(0, 1, 2)) == (AIR, AIR)
    assert scene.drops() == {ITEM["double_plant"]: 1}


@pytest.mark.parametrize("fluid", ["water", "lava"])
def test_a_bucket_takes_and_places_a_fluid_source(scene: Any, fluid: str) -> None:
    scene.put(0, -1, 2, fluid)
    scene.hold("bucket", 2)
    aim(scene, 0.5, 0, 2.5)
    use(scene)
    assert scene.at(0, -1, 2) == AIR
    slots = scene.world.slots
    assert slots["quantity"][slots["item"] == ITEM["bucket"]].sum() == 1
    assert slots["quantity"][slots["item"] == ITEM[f"{fluid}_bucket"]].sum() == 1
    slots["item"] = slots["quantity"] = 0
    scene.hold(f"{fluid}_bucket")
    aim(scene, 0.5, -0.5, 3)
    use(scene)
    assert (scene.at(0, -1, 2), scene.level(0, -1, 2)) == (ID[fluid], 0)
    assert scene.held()[:2] == (ITEM["bucket"], 1)


def test_a_bucket_does_not_take_flowing_water(scene: Any) -> None:
    scene.put(0, -1, 2, "water", 1)
    scene.hold("bucket")
    aim(scene, 0.5, -0.5, 2.5)
    scene.tick(1, use=True)
    assert scene.held()[:2] == (ITEM["bucket"], 1)


def test_a_lily_pad_can_be_placed_on_water(scene: Any) -> None:
    scene.put(0, -1, 2, "water")
    scene.hold("waterlily")
    aim(scene, 0.5, 0, 2.5)
    use(scene)
    assert scene.at(0, 0, 2) == ID["waterlily"]


def test_player_can_stand_on_solid_ground_with_free_space(scene: Any) -> None:
    def clear(x: int, z: int) -> bool:
        return bool(can_stand(scene.world, MIDDLE + x, FLOOR, MIDDLE + z))

    assert clear(3, 3)
    for block, y, free in [
        ("stone", 1, False),
        ("poppy", 0, True),
        ("lava", 0, False),
        ("air", -1, False),
        ("fence", -1, False),
    ]:
        scene.put(3, y, 3, block)
        assert clear(3, 3) == free
        scene.put(3, y, 3, "air" if y >= 0 else "stone")
