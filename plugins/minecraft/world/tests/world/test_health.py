"""Tests of damage, healing, food and death. The numbers are from the pages Damage and Hunger of minecraft.wiki."""

from __future__ import annotations

from typing import Any

import pytest
from voxeldojo.world.blocks import ID
from voxeldojo.world.health import FIRE, PLAIN, UNBLOCKABLE, heal, hurt, respawn
from voxeldojo.world.items import ID as ITEM

FLOOR, MIDDLE = 64, 256


def drop_from(scene: Any, height: float) -> None:
    scene.stand(MIDDLE + 0.5, FLOOR + height, MIDDLE + 0.5)
    scene.player["on_ground"], scene.player["fall"], scene.player["food"] = False, 0.0, 17
    scene.tick(80)
    assert scene.place[1] == FLOOR


@pytest.mark.parametrize(
    ("height", "damage"), [(1, 0), (3, 0), (3.5, 1), (4, 1), (4.5, 2), (10, 7), (22.5, 20), (23, 20), (40, 20)]
)
def test_a_fall_does_damage_beyond_three_blocks(scene: Any, height: float, damage: int) -> None:
    drop_from(scene, height)
    assert scene.player["life"] == 20 - damage
    assert scene.player["dead"] == (damage == 20)


def test_a_fall_into_water_does_no_damage(scene: Any) -> None:
    for x in range(-1, 2):
        for z in range(-1, 2):
            scene.put(x, -1, z, "water")
    scene.stand(MIDDLE + 0.5, FLOOR + 30, MIDDLE + 0.5)
    scene.player["on_ground"] = False
    scene.tick(80)
    assert scene.player["life"] == 20
    assert scene.place[1] == FLOOR - 1


def test_jumping_causes_no_damage(scene: Any) -> None:
    scene.tick(60, jump=True)
    assert scene.player["life"] == 20
    assert scene.player["exhaustion"] == pytest.approx(5 * 0.05)


def test_drowning_damage_begins_when_the_air_is_used_up(scene: Any) -> None:
    """The air lasts 300 ticks. Afterwards the player loses 2 points of life every 20 ticks."""
    for y in range(3):
        for x in range(-1, 2):
            for z in range(-1, 2):
                scene.put(x, y, z, "water" if (x, z) == (0, 0) else "glass")
    scene.put(0, 3, 0, "glass")
    scene.player["food"] = 17
    scene.tick(300)
    assert (scene.player["air"], scene.player["life"]) == (0, 20)
    scene.tick(19)
    assert scene.player["life"] == 20
    scene.tick(1)
    assert scene.player["life"] == 18
    assert scene.events["unblockable"]
    assert scene.events["amount"] == 2
    scene.tick(40)
    assert scene.player["life"] == 14
    for y in range(3):
        scene.put(0, y, 0, "air")
    scene.tick(10)
    assert scene.player["air"] == 300


def test_lava_does_damage_every_half_second_and_sets_the_player_on_fire(scene: Any) -> None:
    scene.player["food"] = 17
    for x in range(-1, 2):
        for z in range(-1, 2):
            scene.put(x, 0, z, "lava" if (x, z) == (0, 0) else "stone")
    scene.tick(1)
    assert scene.player["life"] == 16
    scene.tick(9)
    assert scene.player["life"] == 16
    scene.tick(1)
    assert scene.player["life"] == 12
    scene.put(0, 0, 0, "air")
    scene.tick(1)
    burning = int(scene.player["fire_ticks"])
    assert burning >= 298
    scene.tick(100)
    assert scene.player["life"] == 7
    scene.put(0, 0, 0, "water")
    scene.tick(1)
    assert scene.player["fire_ticks"] == 0


def test_fire_and_cactus_damage_the_player(scene: Any) -> None:
    scene.player["food"] = 17
    scene.put(0, -1, 1, "sand")
    scene.put(0, 0, 1, "cactus")
    scene.tick(30, forward=1)
    assert 17 <= scene.player["life"] <= 18
    assert scene.place[2] == pytest.approx(MIDDLE + 1 + 1 / 16 - 0.3, abs=1e-6)
    scene.player["life"] = 20
    scene.stand(MIDDLE + 5.5, FLOOR, MIDDLE + 0.5)
    scene.tick(20)
    scene.put(5, 0, 0, "fire")
    scene.tick(1)
    assert scene.player["life"] == 19
    assert scene.events["fire"]


def test_rain_extinguishes_a_burning_player_without_a_roof(scene: Any) -> None:
    scene.world.clock["raining"] = True
    scene.player["fire_ticks"] = 100
    scene.put(0, 5, 0, "stone")
    scene.tick(1)
    assert scene.player["fire_ticks"] == 99
    scene.put(0, 5, 0, "air")
    scene.tick(1)
    assert scene.player["fire_ticks"] == 0


def test_a_player_with_the_head_in_a_block_suffocates_until_moving_out(scene: Any) -> None:
    scene.put(0, 1, 0, "stone")
    scene.player["food"] = 17
    scene.tick(1)
    assert scene.player["life"] == 19
    scene.tick(20, forward=1)
    life = scene.player["life"]
    scene.tick(40)
    assert scene.player["life"] == life
    assert scene.place[2] > MIDDLE + 1


def test_only_the_excess_over_the_last_damage_counts_during_immunity(scene: Any) -> None:
    scene.player["food"] = 17
    assert hurt(scene.world, 4.0, PLAIN)
    assert not hurt(scene.world, 4.0, PLAIN)
    assert hurt(scene.world, 6.0, FIRE)
    assert scene.player["life"] == 14
    scene.tick(10)
    assert hurt(scene.world, 1.0, PLAIN)
    assert scene.player["life"] == 13


def test_armour_absorbs_a_share_of_blockable_damage_only(scene: Any) -> None:
    """Full iron armour has 15 points. It absorbs (15 - 4 / 2) / 25 of a damage of 4."""
    for slot, item in zip(range(36, 40), ("boots", "leggings", "chestplate", "helmet"), strict=True):
        scene.world.slots[slot] = (ITEM[f"iron_{item}"], 1, 0, 0)
    scene.player["food"] = 17
    hurt(scene.world, 4.0, PLAIN)
    assert scene.player["life"] == pytest.approx(20 - 4 * (1 - 13 / 25))
    assert scene.world.slots["damage"][36:40].tolist() == [1, 1, 1, 1]
    scene.tick(10)
    before = float(scene.player["life"])
    hurt(scene.world, 4.0, UNBLOCKABLE)
    assert scene.player["life"] == before - 4


def test_a_well_fed_player_heals_over_time(scene: Any) -> None:
    """With 18 or 19 food points, life grows by 1 every 80 ticks. With 20 and saturation, by up to 1 every 10 ticks."""
    scene.player["life"], scene.player["food"], scene.player["saturation"] = 10, 18, 0
    scene.tick(79)
    assert scene.player["life"] == 10
    scene.tick(1)
    assert scene.player["life"] == 11
    assert scene.player["exhaustion"] == 6
    scene.player["life"], scene.player["food"], scene.player["saturation"] = 10, 20, 6
    scene.player["exhaustion"], scene.player["food_timer"] = 0, 0
    scene.tick(10)
    assert scene.player["life"] == 11
    scene.player["food"] = 17
    scene.tick(200)
    assert scene.player["life"] == 11


def test_exhaustion_reduces_saturation_before_food(scene: Any) -> None:
    scene.player["saturation"], scene.player["exhaustion"] = 1, 12.5
    scene.tick(3)
    assert scene.player["saturation"] == 0
    assert scene.player["food"] == 18
    assert scene.player["exhaustion"] == pytest.approx(0.5)


def test_sprinting_adds_a_tenth_of_exhaustion_per_block(scene: Any) -> None:
    scene.tick(1, forward=1, sprint=True)
    start, before = scene.place[2], float(scene.player["exhaustion"])
    scene.tick(40, forward=1, sprint=True)
    assert scene.player["exhaustion"] - before == pytest.approx((scene.place[2] - start) * 0.1)


def test_starvation_does_not_reduce_life_below_half_a_heart(scene: Any) -> None:
    scene.player["food"], scene.player["saturation"], scene.player["life"] = 0, 0, 3
    scene.tick(80)
    assert scene.player["life"] == 2
    scene.tick(400)
    assert scene.player["life"] == 1
    assert not scene.player["dead"]


def test_a_dead_player_drops_the_inventory_and_respawns_with_full_life(scene: Any) -> None:
    for name, value in {"spawn_x": MIDDLE + 10.5, "spawn_y": FLOOR, "spawn_z": MIDDLE + 10.5}.items():
        scene.player[name] = value
    scene.hold("log", 12)
    scene.world.slots[37] = (ITEM["iron_leggings"], 1, 0, 5)
    hurt(scene.world, 100.0, PLAIN)
    assert scene.player["dead"]
    assert scene.player["life"] == 0
    assert scene.drops() == {ITEM["log"]: 12, ITEM["iron_leggings"]: 1}
    assert not scene.world.slots["quantity"].any()
    place, tick = scene.place, int(scene.world.clock["tick"][0])
    scene.tick(20, forward=1, attack=True, jump=True)
    assert scene.place == place
    assert scene.world.clock["tick"][0] == tick + 20
    heal(scene.world, 5.0)
    assert scene.player["life"] == 0
    respawn(scene.world)
    assert scene.place == (MIDDLE + 10.5, FLOOR, MIDDLE + 10.5)
    assert (scene.player["life"], scene.player["food"], scene.player["dead"]) == (20, 20, False)
    scene.tick(20, forward=1)
    assert scene.place[2] > MIDDLE + 11
    assert scene.at(0, -1, 0) == ID["stone"]
