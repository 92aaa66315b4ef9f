"""Tests of milking, shearing and eating."""

from __future__ import annotations

from typing import Any

import pytest
from voxeldojo.world.inventory import count, put
from voxeldojo.world.items import ID
from voxeldojo.world.mob_kinds import ID as KIND
from voxeldojo.world.spawn import summon

FLOOR, MIDDLE = 64, 256


def face(scene: Any, kind: str, tall: float = 0.7) -> Any:
    """Put an immobile mob south of the player, who looks at it. Return its record."""
    x, z = MIDDLE + 0.5, MIDDLE + 2.3
    index = summon(scene.world, KIND[kind], x, float(FLOOR), z)
    scene.look_at(x, FLOOR + tall, z)
    return scene.world.mobs[index]


def test_a_cow_fills_one_bucket_with_milk_per_use(scene: Any) -> None:
    face(scene, "cow")
    scene.hold("bucket", 2)
    scene.tick(use=True)
    assert scene.events["milked"] == KIND["cow"]
    assert (count(scene.world, ID["bucket"]), count(scene.world, ID["milk_bucket"])) == (1, 1)
    scene.tick()
    scene.tick(use=True)
    assert (count(scene.world, ID["bucket"]), count(scene.world, ID["milk_bucket"])) == (0, 2)
    assert scene.held()[0] == ID["milk_bucket"]


@pytest.mark.parametrize("kind", ["sheep", "pig", "chicken"])
def test_animals_other_than_cows_give_no_milk(scene: Any, kind: str) -> None:
    face(scene, kind, tall=0.4)
    scene.hold("bucket")
    scene.tick(use=True)
    assert scene.held()[0] == ID["bucket"]
    assert scene.events["milked"] == -1


def test_a_sheep_is_sheared_only_once(scene: Any) -> None:
    sheep = face(scene, "sheep")
    sheep["colour"] = 15
    scene.hold("shears")
    scene.tick(use=True)
    assert sheep["sheared"]
    assert scene.events["sheared"] == KIND["sheep"]
    lying = scene.world.drops[scene.world.drops["alive"]]
    wool = int(lying["quantity"].sum())
    assert 1 <= wool <= 3
    assert set(lying["item"].tolist()) == {ID["wool"]}
    assert set(lying["variant"].tolist()) == {15}
    assert scene.held()[3] == 1
    scene.tick()
    scene.tick(use=True)
    assert scene.held()[3] == 1
    assert scene.drops() == {ID["wool"]: wool}


def test_shears_break_at_the_last_use(scene: Any) -> None:
    scene.hold("shears")
    scene.world.slots["damage"][0] = 238
    face(scene, "sheep")
    scene.tick(use=True)
    assert scene.held() == (0, 0, 0, 0)


def test_a_sheared_sheep_regrows_wool_after_eating_grass(scene: Any) -> None:
    sheep = face(scene, "sheep")
    sheep["sheared"] = True
    for x in range(-12, 13):
        for z in range(-12, 15):
            scene.put(x, -1, z, "grass")
    scene.tick(12000)
    assert not sheep["sheared"]
    from voxeldojo.world.blocks import ID as BLOCK

    patch = scene.world.blocks[MIDDLE - 12 : MIDDLE + 13, FLOOR - 1, MIDDLE - 12 : MIDDLE + 15]
    assert (patch == BLOCK["dirt"]).sum() == 1


def test_eating_takes_32_ticks(scene: Any) -> None:
    scene.player["food"], scene.player["saturation"] = 10, 0
    scene.hold("beef", 2)
    scene.tick(31, use=True)
    assert scene.held()[1] == 2
    scene.tick(use=True)
    assert scene.held()[1] == 1
    assert scene.events["ate"] == ID["beef"]
    assert scene.player["food"] == 13
    assert scene.player["saturation"] == pytest.approx(1.8)


def test_releasing_the_key_or_changing_the_item_restarts_eating(scene: Any) -> None:
    scene.player["food"] = 10
    scene.hold("beef")
    scene.tick(20, use=True)
    scene.tick()
    scene.tick(20, use=True)
    assert scene.held()[1] == 1
    put(scene.world, 0, ID["apple"], 1, 0, 0)
    scene.tick(20, use=True)
    assert scene.held()[1] == 1


def test_a_player_with_full_food_can_eat_only_a_golden_apple(scene: Any) -> None:
    scene.hold("beef")
    scene.tick(40, use=True)
    assert scene.held()[1] == 1
    scene.hold("golden_apple")
    scene.tick()
    scene.tick(32, use=True)
    assert scene.held()[1] == 0
    assert scene.player["food"] == 20


def test_the_bucket_or_bowl_of_a_meal_remains_in_the_hand(scene: Any) -> None:
    scene.hold("milk_bucket")
    scene.tick(32, use=True)
    assert scene.held()[:2] == (ID["bucket"], 1)
    scene.player["food"] = 5
    scene.hold("mushroom_stew")
    scene.tick()
    scene.tick(32, use=True)
    assert scene.held()[:2] == (ID["bowl"], 1)
    assert scene.player["food"] == 11
