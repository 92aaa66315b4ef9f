"""Tests of farming: tilling, planting, moisture, growth, harvest, trampling, and random ticks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from voxeldojo.chat import execute
from voxeldojo.names import CRAFTS
from voxeldojo.saving import pack, unpack
from voxeldojo.world.blocks import AIR, DIRT, FARMLAND, ID
from voxeldojo.world.blocks import TABLE as BLOCKS
from voxeldojo.world.crops import RIPE, TABLE
from voxeldojo.world.dig import dig
from voxeldojo.world.inventory import count, put
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.lidar import lidar
from voxeldojo.world.loot import break_block
from voxeldojo.world.mob_kinds import ID as KIND
from voxeldojo.world.recipes import craft
from voxeldojo.world.render import Camera
from voxeldojo.world.spawn import summon
from voxeldojo.world.state import HEIGHT, QUEUE
from voxeldojo.world.voxels import voxels

FLOOR, MIDDLE = 64, 256
LIT = 0xF0
"""A byte of ``World.light`` with the full light of the sky."""
CROPS = [crop.block for crop in TABLE]
MEAN_WAIT = 4096 / 3
"""Mean number of ticks between two random ticks of a block."""


@pytest.fixture
def field(scene: Any) -> Any:
    """The scene at noon, in the open."""
    scene.world.light[MIDDLE - 60 : MIDDLE + 60, FLOOR - 2 : FLOOR + 20, MIDDLE - 60 : MIDDLE + 60] = LIT
    scene.world.clock["time"], scene.world.clock["time_passes"] = 6000, False
    scene.player["life"] = scene.player["food"] = 20
    return scene


def aim(scene: Any, x: float, y: float, z: float) -> None:
    scene.look_at(MIDDLE + x, FLOOR + y, MIDDLE + z)


def use(scene: Any) -> None:
    scene.tick(1, use=True)
    scene.tick(1)


def waiting(scene: Any) -> list[tuple[int, int, int]]:
    """Return the places of the queued random ticks."""
    clock = scene.world.clock[0]
    count = (clock["queue_end"] - clock["queue_start"]) % QUEUE
    entries = scene.world.queue[(clock["queue_start"] + np.arange(count)) % QUEUE]
    return [(int(e["x"]), int(e["y"]) - HEIGHT, int(e["z"])) for e in entries if e["y"] >= HEIGHT]


@pytest.mark.parametrize(
    ("block", "made"),
    [
        ("dirt", "farmland"),
        ("grass", "farmland"),
        ("grass_path", "farmland"),
        ("coarse_dirt", "dirt"),
        ("sand", "sand"),
    ],
)
def test_a_hoe_tills_the_soil_and_wears(field: Any, block: str, made: str) -> None:
    field.put(0, -1, 2, block)
    field.hold("wooden_hoe")
    aim(field, 0.5, 0, 2.5)
    field.tick(1, use=True)
    assert field.at(0, -1, 2) == ID[made]
    assert field.events["tilled"] == field.events["used"] == (block != made)
    assert field.held() == (ITEM["wooden_hoe"], 1, 0, int(block != made))


def test_a_hoe_tills_neither_below_a_block_nor_from_below(field: Any) -> None:
    field.put(0, 0, 2, "dirt")
    field.put(0, 1, 2, "torch")
    field.hold("wooden_hoe")
    aim(field, 0.5, 0.5, 2)
    use(field)
    assert field.at(0, 0, 2) == DIRT
    field.put(0, 3, 1, "dirt")
    aim(field, 0.5, 3, 1.5)
    use(field)
    assert field.at(0, 3, 1) == DIRT


def test_a_hoe_breaks_after_its_durability(field: Any) -> None:
    field.put(0, -1, 2, "dirt")
    field.hold("wooden_hoe")
    field.world.slots["damage"][0] = 59
    aim(field, 0.5, 0, 2.5)
    use(field)
    assert field.at(0, -1, 2) == FARMLAND
    assert field.held() == (0, 0, 0, 0)


@pytest.mark.parametrize("crop", CROPS)
def test_seeds_grow_only_on_top_of_farmland(field: Any, crop: str) -> None:
    seed = BLOCKS[ID[crop]].item
    field.hold(seed, 3)
    field.put(0, -1, 2, "dirt")
    aim(field, 0.5, 0, 2.5)
    use(field)
    assert (field.at(0, 0, 2), field.held()[1]) == (AIR, 3)
    field.put(0, -1, 2, "farmland")
    field.tick(1, use=True)
    assert field.events["placed"] == ID[crop]
    assert (field.at(0, 0, 2), field.level(0, 0, 2), field.held()[1]) == (ID[crop], 0, 2)


def test_seeds_are_not_planted_at_the_side_of_farmland(field: Any) -> None:
    field.put(0, 0, 3, "farmland")
    field.put(0, -1, 2, "farmland")
    field.hold("wheat_seeds", 3)
    aim(field, 0.5, 0.5, 3)
    field.tick(1, use=True)
    assert field.held()[1] == 3


def test_a_hungry_player_eats_a_carrot_except_at_farmland(field: Any) -> None:
    field.player["food"] = 10
    field.hold("carrot", 2)
    aim(field, 0.5, 0, 2.5)
    field.tick(40, use=True)
    assert (field.held()[1], field.player["food"]) == (1, 13)
    field.tick(1)
    field.put(0, -1, 2, "farmland")
    use(field)
    assert (field.held()[1], field.at(0, 0, 2)) == (0, ID["carrots"])


def test_farmland_near_water_gets_wet_at_the_rate_of_random_ticks(field: Any) -> None:
    field.put(10, -1, 10, "water")
    for x in range(5, 16):
        for z in range(5, 16):
            if (x, z) != (10, 10):
                field.put(x, -1, z, "farmland")
                field.put(x, 0, z, "wheat")  # farmland with a crop does not turn to dirt
    field.tick(int(MEAN_WAIT))
    near = np.array([[field.level(x, -1, z) for x in range(6, 15)] for z in range(6, 15)])
    assert 0.5 < (near == 7).sum() / 80 < 0.78  # 1 - 1 / e
    field.tick(int(12 * MEAN_WAIT))
    levels = np.array([[field.level(x, -1, z) for x in range(5, 16)] for z in range(5, 16)])
    assert (levels[1:-1, 1:-1] == 7).sum() == 80
    assert (levels == 7).sum() == 80, "water farther than four blocks counts"


def test_farmland_without_water_dries_and_turns_to_dirt(field: Any) -> None:
    for x in range(5, 10):
        field.put(x, -1, 5, "farmland", 2)
    field.put(5, 0, 5, "wheat")
    field.tick(int(20 * MEAN_WAIT))
    assert [field.at(x, -1, 5) for x in range(6, 10)] == [DIRT] * 4
    assert (field.at(5, -1, 5), field.level(5, -1, 5)) == (FARMLAND, 0)
    assert waiting(field) == [(MIDDLE + 5, FLOOR - 1, MIDDLE + 5), (MIDDLE + 5, FLOOR, MIDDLE + 5)]


def test_rain_wets_farmland_under_the_open_sky(field: Any) -> None:
    field.world.clock["raining"] = True
    for x, roof in ((5, False), (9, True)):
        field.put(x, -1, 5, "farmland")
        field.put(x, 0, 5, "torch" if roof else "wheat")
        if roof:
            field.put(x, 3, 5, "stone")
            field.put(x, 0, 5, "wheat")
    field.tick(int(12 * MEAN_WAIT))
    assert (field.level(5, -1, 5), field.level(9, -1, 5)) == (7, 0)


@pytest.mark.parametrize(("wet", "odds"), [(0, 13), (7, 7)])
def test_a_single_crop_grows_at_the_known_rate(field: Any, wet: int, odds: int) -> None:
    """Points: 1, and 1 for dry or 3 for wet farmland. A random tick grows one of floor(25 / points) + 1 crops."""
    places = [(x, z) for x in range(-36, 37, 4) for z in range(-36, 37, 4) if x or z]
    field.world.clock["raining"] = wet > 0
    for x, z in places:
        field.put(x, -1, z, "farmland", wet)
        field.put(x, 0, z, "wheat")
    field.world.light[...] = LIT
    ticks = int(odds * MEAN_WAIT)
    field.tick(ticks)
    ages = [field.level(x, 0, z) for x, z in places]
    assert np.mean(ages) == pytest.approx(1.0, abs=4 / len(places) ** 0.5)


def test_seeds_become_bread(field: Any) -> None:
    field.put(0, -1, 3, "water")
    for x in range(-1, 2):
        field.put(x, -1, 2, "dirt")
        for item in ("iron_hoe", "wheat_seeds"):
            field.hold(item)
            aim(field, x + 0.5, -1 / 16, 2.3)
            use(field)
    for _ in range(200):
        if all(field.level(x, 0, 2) == 7 for x in range(-1, 2)):
            break
        field.tick(1000)
    for x in range(-1, 2):
        aim(field, x + 0.5, 0.3, 2.5)
        field.tick(1, attack=True)
        field.tick(1)
    for slot, (item, quantity) in enumerate(field.drops().items(), start=20):
        put(field.world, slot, item, quantity, 0, 0)
    assert count(field.world, ITEM["wheat"]) == 3
    field.put(0, 1, 3, "crafting_table")
    aim(field, 0.5, 1.5, 3.5)
    assert craft(field.world, CRAFTS.index("bread"))
    assert count(field.world, ITEM["bread"]) == 1


def test_a_row_of_a_crop_grows_twice_as_fast_as_a_full_field(field: Any) -> None:
    """In wet farmland, a crop in a row has 10 points and a crop in a full field 5."""
    field.world.clock["raining"] = True
    for x in range(20):
        for z in range(3, 23):
            for east, crop in ((2, "wheat"), (-22, "wheat" if z % 2 else "carrots")):
                field.put(east + x, -1, z, "farmland", 7)
                field.put(east + x, 0, z, crop)
    field.world.light[...] = LIT
    field.tick(int(3 * MEAN_WAIT))
    ages = field.world.level[:, FLOOR, MIDDLE + 4 : MIDDLE + 22]
    full, rows = ages[MIDDLE + 3 : MIDDLE + 21].mean(), ages[MIDDLE - 21 : MIDDLE - 3].mean()
    assert full == pytest.approx(3 / 6, abs=0.14)
    assert rows == pytest.approx(3 / 3, abs=0.2)


def test_crops_do_not_grow_at_night_or_beyond_their_ripe_age(field: Any) -> None:
    field.world.clock["time"] = 18_000
    for x, crop in enumerate(CROPS):
        for age, z in ((0, 5), (int(RIPE[ID[crop]]), 9)):
            field.put(4 * x, -1, z, "farmland")
            field.put(4 * x, 0, z, crop, age)
    field.tick(int(10 * MEAN_WAIT))
    assert [field.level(4 * x, 0, 5) for x in range(4)] == [0] * 4
    field.world.clock["time"] = 6000
    field.tick(int(10 * MEAN_WAIT))
    assert [field.level(4 * x, 0, 9) for x in range(4)] == [7, 7, 7, 3]


def test_a_crop_breaks_without_its_farmland_and_under_water(field: Any) -> None:
    for x in (-8, 12):
        field.put(x, -1, 5, "farmland")
        field.put(x, 0, 5, "wheat")
    field.put(-8, -1, 5, "dirt")
    field.put(12, 0, 6, "water")
    field.tick(10)
    assert field.at(-8, 0, 5) == AIR
    assert field.at(12, 0, 5) == ID["water"]
    assert field.drops() == {ITEM["wheat_seeds"]: 2}


def test_a_crop_breaks_in_the_dark_but_not_in_the_light(field: Any) -> None:
    for x in (4, 12):
        field.put(x, -1, 5, "farmland")
        field.put(x, 0, 5, "wheat")
        field.put(x, 2, 5, "stone")
    field.tick()
    field.world.light[MIDDLE + 4, FLOOR, MIDDLE + 5] = 0x77
    field.world.light[MIDDLE + 12, FLOOR, MIDDLE + 5] = 0x08
    field.tick(int(12 * MEAN_WAIT))
    assert (field.at(4, 0, 5), field.at(12, 0, 5)) == (AIR, ID["wheat"])


def test_a_solid_block_above_farmland_turns_it_to_dirt(field: Any) -> None:
    field.put(4, -1, 5, "farmland")
    field.put(6, -1, 5, "farmland")
    field.put(4, 0, 5, "stone_slab")
    field.put(6, 0, 5, "torch")
    field.tick(3)
    assert (field.at(4, -1, 5), field.at(6, -1, 5)) == (DIRT, FARMLAND)


@pytest.mark.parametrize(
    ("crop", "age", "always", "seed", "chance", "rare"),
    [
        ("wheat", 7, "wheat", "wheat_seeds", 4 / 7, ""),
        ("wheat", 6, "wheat_seeds", "", 0, ""),
        ("carrots", 7, "carrot", "carrot", 4 / 7, ""),
        ("potatoes", 7, "potato", "potato", 4 / 7, "poisonous_potato"),
        ("beetroots", 3, "beetroot", "beetroot_seeds", 4 / 6, ""),
        ("beetroots", 2, "beetroot_seeds", "", 0, ""),
    ],
)
def test_ripe_crops_drop_their_produce_and_seeds(
    field: Any, crop: str, age: int, always: str, seed: str, chance: float, rare: str
) -> None:
    breaks, total = 600, dict.fromkeys(ITEM.values(), 0)
    for _ in range(breaks):
        field.put(0, 5, 5, crop, age)
        break_block(field.world, MIDDLE, FLOOR + 5, MIDDLE + 5, 0, True)
        for item, quantity in field.drops().items():
            total[item] += quantity
        field.world.drops["alive"] = False
    expected = {ITEM[always]: float(breaks)}
    if seed:
        expected[ITEM[seed]] = expected.get(ITEM[seed], 0.0) + 3 * chance * breaks
    assert {item for item, count in total.items() if count} == set(expected) | ({ITEM[rare]} if rare else set())
    for item, mean in expected.items():
        assert total[item] == pytest.approx(mean, abs=0.12 * breaks)
    if rare:
        assert 1 <= total[ITEM[rare]] <= 30  # one in fifty


def test_digging_a_ripe_crop_takes_one_tick_and_no_use_of_the_tool(field: Any) -> None:
    field.put(0, -1, 2, "farmland")
    field.put(0, 0, 2, "wheat", 7)
    field.hold("iron_sword")
    aim(field, 0.5, 0.8, 2.5)
    assert dig(field.world)
    assert field.events["broke"] == ID["wheat"]
    assert field.drops()[ITEM["wheat"]] == 1
    assert field.held()[3] == 0


def test_a_ray_hits_a_crop_only_up_to_its_height(field: Any) -> None:
    field.put(0, -1, 2, "farmland")
    for age, hit in ((0, False), (7, True)):
        field.put(0, 0, 2, "wheat", age)
        aim(field, 0.5, 0.9, 2.01)
        field.events["broke"] = -1
        dig(field.world)
        assert (field.events["broke"] == ID["wheat"]) == hit


def test_jumping_tramples_farmland_and_walking_does_not(field: Any) -> None:
    for x in range(-2, 3):
        for z in range(-2, 20):
            field.put(x, -1, z, "farmland", 7)
    field.put(0, 0, 0, "wheat", 3)
    field.player["y"] = FLOOR - 0.0625
    field.tick(60, forward=1)
    walked = [field.at(x, -1, z) for x in range(-2, 3) for z in range(-2, 20)]
    assert set(walked) == {FARMLAND}
    field.stand(MIDDLE + 0.5, FLOOR - 0.0625, MIDDLE + 0.5)
    for _ in range(60):
        field.tick(1, jump=True)
    assert field.at(0, -1, 0) == DIRT
    assert field.at(0, 0, 0) == AIR
    field.tick(20)
    assert field.player["y"] == FLOOR
    assert sum(field.drops().values()) + int(field.world.slots["quantity"].sum()) == 1


def test_bodies_on_drying_farmland_are_lifted(field: Any) -> None:
    field.put(0, -1, 0, "farmland")
    field.player["y"] = FLOOR - 0.0625
    summon(field.world, KIND["cow"], MIDDLE + 0.5, FLOOR - 0.0625, MIDDLE + 0.5)
    field.put(0, 0, 0, "snow_layer")
    field.put(0, 0, 0, "air")
    field.tick(2)
    field.put(0, 0, 0, "stone_slab")
    field.tick(2)
    assert field.at(0, -1, 0) == DIRT
    assert field.player["y"] >= FLOOR
    assert field.world.mobs["y"][0] >= FLOOR


@pytest.mark.parametrize(("kind", "tramples"), [("cow", True), ("chicken", False)])
def test_large_mobs_trample_farmland(field: Any, kind: str, tramples: bool) -> None:
    for x in range(3, 9):
        for z in range(3, 9):
            field.put(x, -1, z, "farmland", 7)
    summon(field.world, KIND[kind], MIDDLE + 6.0, FLOOR + 3.0, MIDDLE + 6.0)
    field.world.mobs["vy"][0] = -0.5 if kind == "chicken" else 0.0
    field.tick(60)
    assert any(field.at(x, -1, z) == DIRT for x in range(3, 9) for z in range(3, 9)) == tramples


def test_a_block_has_at_most_one_entry_of_random_ticks(field: Any) -> None:
    for _ in range(5):
        field.put(4, -1, 5, "farmland")
        field.put(4, 0, 5, "wheat")
        field.put(4, 0, 5, "air")
        field.put(4, -1, 5, "dirt")
    field.put(4, -1, 5, "farmland")
    field.tick(3)
    assert waiting(field) == [(MIDDLE + 4, FLOOR - 1, MIDDLE + 5)]
    field.put(4, -1, 5, "dirt")
    field.tick(2)
    assert waiting(field) == []


def test_random_ticks_that_a_full_queue_loses_are_found_again(field: Any) -> None:
    world = field.world
    world.clock["queue_end"] = QUEUE - 1
    world.queue["due"][:] = 0
    field.put(4, -1, 5, "farmland", 7)
    assert waiting(field) == []
    field.tick(1100)
    assert waiting(field) == [(MIDDLE + 4, FLOOR - 1, MIDDLE + 5)]


def test_a_saved_field_continues_like_the_original(field: Any) -> None:
    for x in range(4, 10):
        for z in range(4, 10):
            field.put(x, -1, z, "farmland", (x + z) % 8)
            field.put(x, 0, z, CROPS[x % 4], (x + z) % 3)
    field.tick(10)
    copy, _ = unpack(pack(field.world, {}))
    original, other = field.world, copy
    for _ in range(2):
        field.tick(2000)
        field.world = other
    for name in original._fields:
        assert np.array_equal(getattr(original, name), getattr(other, name)), name


def test_random_ticks_end_far_from_the_player(field: Any) -> None:
    for x in range(4, 9):
        field.put(x, -1, 5, "farmland")
    field.world.blocks[100:104, FLOOR - 1, MIDDLE] = ID["stone"]
    field.stand(102.5, FLOOR, MIDDLE + 0.5)
    field.tick(int(8 * MEAN_WAIT))
    assert [field.at(x, -1, 5) for x in range(4, 9)] == [FARMLAND] * 5


def test_setblock_takes_the_age_and_observations_show_it(field: Any) -> None:
    execute(field.world, f"/setblock {MIDDLE} {FLOOR - 1} {MIDDLE + 2} farmland 5")
    execute(field.world, f"/setblock {MIDDLE} {FLOOR} {MIDDLE + 2} wheat 6")
    seen = voxels(field.world, (0, -1, 2), (0, 0, 2))
    assert seen["block_name"].ravel().tolist() == ["farmland", "crops"]
    assert seen["block_meta"].ravel().tolist() == [5, 6]
    assert not seen["blocks_movement"][0, 1, 0]
    aim(field, 0.5, 0.5, 2.5)
    ray = lidar(field.world, np.array([[0.0, 0.0, 10.0]]))
    assert (ray["block_name"][0], ray["block_meta"][0]) == ("crops", 6)
    with pytest.raises(Exception, match="no beetroots has data value 4"):
        execute(field.world, "/setblock ~ ~ ~ beetroots 4")


def test_a_field_has_no_dark_seams(field: Any) -> None:
    for x in range(-3, 4):
        for z in range(-3, 8):
            field.put(x, -1, z, "farmland", 7)
    field.tick()
    lit = field.world.blocks != FARMLAND
    field.world.light[...] = np.where(lit, LIT, 0)
    field.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5, 20.0, 60.0)
    picture = Camera(64, 64).picture(field.world)
    assert picture[:48, :32].max(axis=2).min() > 20


def test_the_picture_shows_the_age_of_a_crop_and_wet_farmland(field: Any) -> None:
    pictures = []
    for moisture, age in ((0, 0), (7, 0), (7, 3), (7, 7)):
        field.put(0, -1, 2, "farmland", moisture)
        field.put(0, 0, 2, "wheat", age)
        aim(field, 0.5, 0.2, 2.5)
        pictures.append(Camera(48, 64).picture(field.world).astype(int))
    for first, second in pairwise(pictures):
        assert np.abs(first - second).sum() > 1000
