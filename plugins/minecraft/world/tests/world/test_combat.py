"""Tests of attacks: damage, immunity after a hit, reach, knockback and drops."""

from __future__ import annotations

from typing import Any

import pytest
from voxeldojo.world.items import ATTACK_SPEED, DAMAGE, ID
from voxeldojo.world.mob_kinds import ID as KIND
from voxeldojo.world.mob_kinds import LIFE
from voxeldojo.world.spawn import summon

FLOOR, MIDDLE = 64, 256


def face(scene: Any, kind: str = "cow", away: float = 2.0, tall: float = 0.7) -> Any:
    """Put a mob south of a player who looks at it and whose attack is fully recovered. Return the mob's record."""
    x, z = MIDDLE + 0.5, MIDDLE + 0.5 + away
    index = summon(scene.world, KIND[kind], x, float(FLOOR), z)
    scene.look_at(x, FLOOR + tall, z)
    scene.tick(2)
    scene.player["attack_ticks"] = 100
    mob = scene.world.mobs[index]
    mob["x"], mob["z"], mob["vx"], mob["vz"] = x, z, 0, 0
    return mob


@pytest.mark.parametrize("tool", ["air", "wooden_sword", "iron_sword", "diamond_axe", "stone_pickaxe", "wooden_hoe"])
def test_a_recovered_attack_does_the_full_damage_of_the_tool(scene: Any, tool: str) -> None:
    if tool != "air":
        scene.hold(tool)
    pig = face(scene, "pig", tall=0.45)
    pig["life"] = 100
    scene.tick(attack=True)
    assert pig["life"] == pytest.approx(100 - DAMAGE[ID[tool]])
    assert scene.events["hit_mob"] == KIND["pig"]
    worn = {"air": 0, "wooden_sword": 1, "iron_sword": 1, "wooden_hoe": 1}.get(tool, 2)
    assert scene.held()[3] == worn


def test_an_attack_before_full_recovery_does_less_damage(scene: Any) -> None:
    scene.hold("iron_axe")
    cow = face(scene)
    cow["life"] = 100
    scene.player["attack_ticks"] = 4
    scene.tick(attack=True)
    ready = 5.5 * ATTACK_SPEED[ID["iron_axe"]] / 20
    assert cow["life"] == pytest.approx(100 - DAMAGE[ID["iron_axe"]] * (0.2 + 0.8 * ready**2))


def test_changing_the_item_in_the_hand_restarts_the_attack_recovery(scene: Any) -> None:
    cow = face(scene)
    cow["life"] = 100
    scene.hold("iron_sword")
    scene.tick(attack=True)
    assert 100 - cow["life"] < 0.3 * DAMAGE[ID["iron_sword"]]


def test_an_attack_hits_only_when_the_key_is_pressed_anew(scene: Any) -> None:
    cow = face(scene)
    cow["life"] = 100
    scene.tick(attack=True)
    cow["hurt_ticks"] = 0
    for _ in range(30):
        cow["x"], cow["z"], cow["vx"], cow["vz"], cow["hurt_ticks"] = MIDDLE + 0.5, MIDDLE + 2.5, 0, 0, 0
        scene.tick(attack=True)
    assert cow["life"] == 99
    scene.tick()
    scene.tick(attack=True)
    assert cow["life"] < 99


def test_a_hit_mob_is_immune_for_ten_ticks_except_to_greater_damage(scene: Any) -> None:
    cow = face(scene)
    cow["life"] = 100
    lives = []
    for _ in range(13):
        cow["x"], cow["y"], cow["z"], cow["vx"], cow["vy"], cow["vz"] = MIDDLE + 0.5, FLOOR, MIDDLE + 2.5, 0, 0, 0
        scene.player["attack_ticks"], scene.player["attack_held"] = 100, False
        scene.tick(attack=True)
        lives.append(float(cow["life"]))
    assert lives == [99.0] * 10 + [98.0] * 3
    scene.hold("iron_sword")
    scene.tick()
    scene.player["attack_ticks"] = 100
    cow["x"], cow["y"], cow["z"], cow["vx"], cow["vy"], cow["vz"] = MIDDLE + 0.5, FLOOR, MIDDLE + 2.5, 0, 0, 0
    scene.tick(attack=True)
    assert cow["life"] == 98 - 5, "the sword's damage is 6, and 1 was already done"


@pytest.mark.parametrize(("away", "hit"), [(3.4, True), (3.5, False)])
def test_an_attack_reaches_three_blocks_from_the_eyes(scene: Any, away: float, hit: bool) -> None:
    cow = face(scene, away=away, tall=1.3)
    scene.player["pitch"] = 0.0
    cow["y"] = FLOOR + 0.5
    scene.player["pitch"] = 0.0
    scene.tick(attack=True)
    assert (cow["life"] < 10) == hit


def test_an_attack_does_not_hit_through_a_wall(scene: Any) -> None:
    cow = face(scene, away=2.5)
    scene.put(0, 0, 1, "stone")
    scene.put(0, 1, 1, "stone")
    scene.tick(attack=True)
    assert cow["life"] == 10


def test_a_hit_animal_is_knocked_back_and_runs_away(scene: Any) -> None:
    cow = face(scene)
    scene.tick(attack=True)
    assert cow["vz"] > 0.1
    assert cow["y"] > FLOOR
    start = float(cow["z"]), float(cow["x"])
    scene.tick(60)
    assert abs(cow["z"] - start[0]) + abs(cow["x"] - start[1]) > 3


def test_an_attack_while_falling_does_one_and_a_half_times_the_damage(scene: Any) -> None:
    cow = face(scene)
    cow["life"] = 100
    scene.player["on_ground"], scene.player["y"], scene.player["fall"] = False, FLOOR + 0.5, 0.4
    scene.look_at(MIDDLE + 0.5, FLOOR + 0.7, MIDDLE + 2.5)
    scene.tick(attack=True)
    assert cow["life"] == 98.5


def test_an_attack_while_sprinting_knocks_a_mob_back_faster(scene: Any) -> None:
    far = []
    for sprint in (False, True):
        cow = face(scene)
        scene.player["sprinting"] = sprint
        scene.tick(attack=True)
        far.append(float(cow["vz"]))
        assert not scene.player["sprinting"]
        cow["kind"] = 0
        scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
        scene.player["vz"] = 0
    assert far[1] > far[0] + 0.2


def test_a_sword_also_hits_a_mob_beside_the_target(scene: Any) -> None:
    scene.hold("iron_sword")
    face(scene)
    beside = summon(scene.world, KIND["pig"], MIDDLE + 1.6, float(FLOOR), MIDDLE + 2.2)
    scene.tick(attack=True)
    assert scene.world.mobs[beside]["life"] == 9


def test_a_zombies_armour_reduces_damage(scene: Any) -> None:
    zombie = face(scene, "zombie", tall=1.0)
    scene.player["attack_ticks"] = 100
    scene.tick(attack=True)
    assert zombie["life"] == pytest.approx(LIFE[KIND["zombie"]] - (1 - max(2 - 0.5, 0.4) / 25))


def test_a_killed_cow_drops_beef_leather_and_experience(scene: Any) -> None:
    leather = beef = 0
    for _ in range(40):
        cow = face(scene)
        cow["life"] = 1
        scene.tick(attack=True)
        assert scene.events["killed_mob"] == KIND["cow"]
        assert cow["kind"] == 0
        got = scene.drops()
        assert 1 <= got.get(ID["beef"], 0) <= 3
        assert 0 <= got.get(ID["leather"], 0) <= 2
        assert set(got) <= {ID["beef"], ID["leather"]}
        beef, leather = beef + got[ID["beef"]], leather + got.get(ID["leather"], 0)
        scene.world.drops["alive"] = False
    assert scene.world.kills[KIND["cow"]] == 40
    assert 60 <= beef <= 100
    assert 20 <= leather <= 60
    assert 40 <= scene.player["xp"] <= 120


def killed(scene: Any, kind: str, count: int, tall: float) -> tuple[dict[int, int], dict[int, int]]:
    """Kill mobs. Return the quantity of each item, and the number of mobs that dropped the item."""
    quantities: dict[int, int] = {}
    mobs: dict[int, int] = {}
    for _ in range(count):
        scene.player["life"] = 20
        mob = face(scene, kind, tall=tall)
        mob["life"] = 0.5
        scene.tick(attack=True)
        assert scene.events["killed_mob"] == KIND[kind]
        for item, quantity in scene.drops().items():
            quantities[item], mobs[item] = quantities.get(item, 0) + quantity, mobs.get(item, 0) + 1
        scene.world.drops["alive"] = False
        scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
    assert scene.world.kills[KIND[kind]] == count
    return quantities, mobs


def test_a_killed_spider_drops_string_and_in_a_third_of_cases_an_eye(scene: Any) -> None:
    quantities, mobs = killed(scene, "spider", 120, 0.45)
    assert set(mobs) == {ID["string"], ID["spider_eye"]}
    assert 95 <= quantities[ID["string"]] <= 145
    assert 60 <= mobs[ID["string"]] <= 98
    assert quantities[ID["spider_eye"]] == mobs[ID["spider_eye"]]
    assert 24 <= mobs[ID["spider_eye"]] <= 56
    assert scene.player["xp"] == 5 * 120


def test_a_spider_that_the_player_did_not_kill_drops_no_eye_and_no_experience(scene: Any) -> None:
    strings = 0
    for _ in range(40):
        index = summon(scene.world, KIND["spider"], MIDDLE + 20.5, float(FLOOR + 40), MIDDLE + 20.5)
        scene.tick(80)
        assert scene.world.mobs[index]["kind"] == 0
        assert set(scene.drops()) <= {ID["string"]}
        strings += sum(scene.drops().values())
        scene.world.drops["alive"] = False
    assert 20 <= strings <= 60
    assert scene.player["xp"] == 0


def test_a_killed_witch_drops_up_to_three_of_seven_things_with_sticks_twice_as_often(scene: Any) -> None:
    quantities, mobs = killed(scene, "witch", 200, 1.0)
    names = "glowstone_dust", "sugar", "redstone", "spider_eye", "glass_bottle", "gunpowder", "stick"
    assert set(mobs) == {ID[name] for name in names}
    # two draws of eight entries on average, and one thing in each draw on average
    assert 300 <= sum(quantities.values()) <= 500
    for name in names[:-1]:
        assert 25 <= quantities[ID[name]] <= 80
    assert 65 <= quantities[ID["stick"]] <= 140
    assert scene.player["xp"] == 5 * 200


def test_weakness_takes_four_half_hearts_from_an_attack(scene: Any) -> None:
    scene.hold("iron_sword")
    scene.tick()
    for weak, damage in ((0, 6), (5, 2)):
        cow = face(scene)
        cow["life"], scene.player["weakness"], scene.player["attack_ticks"] = 20, weak, 100
        scene.tick(attack=True)
        assert cow["life"] == 20 - damage
        cow["kind"], scene.player["attack_held"] = 0, False


def test_a_killed_rabbit_drops_hide_meat_and_rarely_a_foot(scene: Any) -> None:
    quantities, mobs = killed(scene, "rabbit", 200, 0.25)
    assert set(mobs) == {ID["rabbit"], ID["rabbit_hide"], ID["rabbit_foot"]}
    assert quantities == mobs, "at most one of each"
    assert 75 <= mobs[ID["rabbit"]] <= 125
    assert 75 <= mobs[ID["rabbit_hide"]] <= 125
    assert 6 <= mobs[ID["rabbit_foot"]] <= 36
    assert 200 <= scene.player["xp"] <= 600


@pytest.mark.parametrize(
    ("kind", "tall", "items", "xp"),
    [
        ("wolf", 0.4, set(), (1, 3)),
        ("horse", 0.8, {"leather"}, (1, 3)),
        ("donkey", 0.8, {"leather"}, (1, 3)),
        ("llama", 0.9, {"leather"}, (1, 3)),
        ("husk", 1.0, {"rotten_flesh", "iron_ingot", "carrot", "potato"}, (5, 5)),
        ("skeleton", 1.0, {"bone", "arrow"}, (5, 5)),
        ("creeper", 0.9, {"gunpowder"}, (5, 5)),
        ("enderman", 1.0, {"ender_pearl"}, (5, 5)),
        ("bat", 0.45, set(), (0, 0)),
    ],
)
def test_killed_mobs_drop_the_items_of_the_game(
    scene: Any, kind: str, tall: float, items: set[str], xp: tuple[int, int]
) -> None:
    quantities, mobs = killed(scene, kind, 40, tall)
    assert set(mobs) <= {ID[name] for name in items}
    if items:
        usual = "leather", "bone", "gunpowder", "ender_pearl", "rotten_flesh"
        main = ID[next(name for name in usual if name in items)]
        assert 12 <= quantities[main] <= 60
    assert 40 * xp[0] <= scene.player["xp"] <= 40 * xp[1]


def test_a_killed_burning_sheep_drops_cooked_mutton_and_wool(scene: Any) -> None:
    sheep = face(scene, "sheep")
    sheep["life"], sheep["fire_ticks"], sheep["colour"] = 0.5, 50, 12
    scene.tick(attack=True)
    lying = scene.world.drops[scene.world.drops["alive"]]
    assert {int(i) for i in lying["item"]} == {ID["cooked_mutton"], ID["wool"]}
    assert lying["variant"][lying["item"] == ID["wool"]] == 12


def test_a_cow_that_dies_from_a_fall_drops_items_but_does_not_count_as_a_kill(scene: Any) -> None:
    cow = face(scene)
    cow["y"], cow["life"] = FLOOR + 30, 10
    scene.tick(80)
    assert cow["kind"] == 0
    assert scene.world.kills[KIND["cow"]] == 0
    assert ID["beef"] in scene.drops()
