"""Motion and behaviour of mobs, and the effects of the world on them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from voxeldojo.saving import pack, unpack
from voxeldojo.world.blocks import ID as BLOCK
from voxeldojo.world.chunks import generate
from voxeldojo.world.collide import overlaps
from voxeldojo.world.items import ID
from voxeldojo.world.mob_kinds import FLEES, HALF, HOPS, LIFE, MORE_LIFE, NAMES, SPEED, STROLLS, TABLE, TALL
from voxeldojo.world.mob_kinds import ID as KIND
from voxeldojo.world.spawn import summon
from voxeldojo.world.state import ACTION, SIZE, World
from voxeldojo.world.tick import tick

FLOOR, MIDDLE, NOON, NIGHT = 64, 256, 6000, 18000


def bring(scene: Any, kind: str, x: float = 0.5, z: float = 10.5, y: float = 0.0) -> Any:
    """Put a mob at a place relative to the centre of the floor. Return its record."""
    return scene.world.mobs[summon(scene.world, KIND[kind], MIDDLE + x, FLOOR + y, MIDDLE + z)]


def send(mob: Any, x: float, z: float, panic: int = 0) -> None:
    """Make a mob walk to a place."""
    mob["goal_x"], mob["goal_z"], mob["wander"], mob["panic"] = MIDDLE + x, MIDDLE + z, 160, panic


@pytest.mark.parametrize("kind", [kind.name for kind in TABLE])
@pytest.mark.parametrize("runs", [False, True])
def test_mobs_walk_and_run_at_the_speed_of_the_game(scene: Any, kind: str, runs: bool) -> None:
    if (runs and FLEES[KIND[kind]] == 0) or HOPS[KIND[kind]] or kind == "bat":
        return
    scene.world.clock["time"] = NIGHT
    scene.stand(MIDDLE - 39, FLOOR + 40, MIDDLE)
    mob = bring(scene, kind, z=-20.5)
    send(mob, 0.5, 30.5, panic=100 if runs else 0)
    scene.tick(25)
    z = float(mob["z"])
    scene.tick()
    pace = SPEED[KIND[kind]] * (FLEES if runs else STROLLS)[KIND[kind]]
    assert mob["z"] - z == pytest.approx(0.98 * pace**2 / (1 - 0.91 * 0.6), rel=1e-3)
    assert mob["x"] == pytest.approx(MIDDLE + 0.5, abs=0.05)


def test_a_mob_walks_over_a_slab_and_jumps_onto_a_block(scene: Any) -> None:
    cow = bring(scene, "cow", z=5.5)
    for x in range(-3, 4):
        scene.put(x, 0, 9, "stone_slab")
        scene.put(x, 0, 12, "stone")
        scene.put(x, 0, 16, "stone")
        scene.put(x, 1, 16, "stone")
    heights = set()
    for _ in range(5):
        send(cow, 0.5, 25.5)
        for _ in range(60):
            scene.tick()
            heights.add(float(cow["y"]))
    assert {64.0, 64.5} <= heights
    assert max(heights) > 65
    assert 14 < cow["z"] - MIDDLE < 16


@pytest.mark.parametrize("depth", [2, 3, 4, 10])
def test_a_walking_mob_stops_before_a_fall_of_more_than_three_blocks(scene: Any, depth: int) -> None:
    cow = bring(scene, "cow", y=depth, z=0.5)
    for x in range(-2, 3):
        for z in range(-2, 3):
            for y in range(depth):
                scene.put(x, y, z, "stone")
    for _ in range(10):
        send(cow, 8.5, 0.5)
        scene.tick(30)
    assert (cow["y"] == FLOOR) == (depth <= 3)
    assert cow["life"] == 10


@pytest.mark.parametrize(("kind", "most"), [("zombie", 12), ("husk", 12), ("spider", 9), ("wolf", 4)])
def test_a_hunting_mob_jumps_down_as_far_as_its_life_allows(scene: Any, kind: str, most: int) -> None:
    scene.world.clock["time"], scene.world.clock["time_passes"] = NIGHT, False
    for depth in (most, most + 1):
        mob = bring(scene, kind, y=depth, z=4.5)
        for x in range(-3, 4):
            for z in range(3, 8):
                for y in range(16):
                    scene.put(x, y, z, "stone" if y < depth else "air")
        for _ in range(150):
            scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE - 20.5)
            mob["panic"] = 60
            scene.tick()
        assert (mob["y"] == FLOOR) == (depth == most)
        mob["kind"] = 0


@pytest.mark.parametrize("block", ["water", "lava", "fire", "cactus"])
def test_a_walking_mob_avoids_dangerous_blocks(scene: Any, block: str) -> None:
    pig = bring(scene, "pig", z=5.5)
    for x in range(-30, 31):
        for z in (8, 9):
            scene.world.blocks[MIDDLE + x, FLOOR, MIDDLE + z] = BLOCK[block]
            if block in ("water", "lava"):
                scene.world.blocks[MIDDLE + x, FLOOR, MIDDLE + z] = 0
                scene.world.blocks[MIDDLE + x, FLOOR - 1, MIDDLE + z] = BLOCK[block]
    for _ in range(10):
        send(pig, 0.5, 20.5)
        scene.tick(30)
    assert pig["z"] - MIDDLE < 8.0
    assert pig["life"] == 10


@pytest.mark.parametrize(
    ("kind", "height", "left"), [("cow", 3, 10), ("cow", 9, 4), ("chicken", 30, 4), ("zombie", 10, 13)]
)
def test_mobs_except_chickens_take_fall_damage(scene: Any, kind: str, height: int, left: int) -> None:
    scene.world.clock["time"] = NIGHT
    mob = bring(scene, kind, y=height, z=39)
    scene.tick(400 if kind == "chicken" else 150)
    assert mob["y"] == FLOOR
    assert mob["life"] == left


def test_a_mob_swims_up_to_the_surface_of_water(scene: Any) -> None:
    for x in range(-3, 4):
        for z in range(7, 14):
            for y in (-3, -2, -1):
                scene.world.blocks[MIDDLE + x, FLOOR + y, MIDDLE + z] = BLOCK["water"]
    cow = bring(scene, "cow", y=-3)
    scene.tick(100)
    assert cow["y"] > FLOOR - 1.2
    assert cow["life"] == 10


def test_lava_burns_and_kills_a_mob(scene: Any) -> None:
    scene.world.blocks[MIDDLE, FLOOR, MIDDLE + 10] = BLOCK["lava"]
    cow = bring(scene, "cow")
    scene.tick()
    assert cow["life"] == 6
    assert cow["fire_ticks"] > 290
    scene.tick(60)
    assert cow["kind"] == 0


def test_crowded_mobs_push_each_other_apart(scene: Any) -> None:
    cows = [bring(scene, "cow", x=0.5 + 0.02 * i, z=10.5 + 0.03 * i) for i in range(4)]
    scene.tick(60)
    for i, one in enumerate(cows):
        for other in cows[:i]:
            assert max(abs(one["x"] - other["x"]), abs(one["z"] - other["z"])) > 0.85


def test_a_mob_pushes_a_player_at_the_same_place(scene: Any) -> None:
    bring(scene, "cow", x=0.4, z=0.4)
    scene.tick(40)
    assert math.hypot(scene.player["x"] - MIDDLE - 0.5, scene.player["z"] - MIDDLE - 0.5) > 0.2


def test_animals_walk_around_during_a_small_share_of_the_time(scene: Any) -> None:
    cows = [bring(scene, "cow", x=-20 + 10 * i, z=20.5) for i in range(5)]
    starts = [(float(c["x"]), float(c["z"])) for c in cows]
    walking = 0
    for _ in range(1200):
        scene.tick()
        walking += sum(int(c["wander"] > 0) for c in cows)
    assert 0.02 < walking / 6000 < 0.5
    assert sum(math.dist(s, (c["x"], c["z"])) > 1 for s, c in zip(starts, cows, strict=True)) >= 3


def test_a_chicken_lays_an_egg_at_the_end_of_its_cooldown(scene: Any) -> None:
    hen = bring(scene, "chicken")
    assert 6000 <= hen["cooldown"] < 12000
    hen["cooldown"] = 3
    scene.tick(3)
    assert scene.drops() == {ID["egg"]: 1}
    assert 6000 <= hen["cooldown"] < 12000


def test_a_zombie_hits_the_player_at_most_every_twenty_ticks(scene: Any) -> None:
    scene.world.clock["time"], scene.world.clock["time_passes"] = NIGHT, False
    zombie = bring(scene, "zombie", z=15.5)
    scene.player["food"] = 10
    blows, lives = [], [20.0]
    for i in range(220):
        scene.tick()
        lives.append(float(scene.player["life"]))
        if lives[-1] < lives[-2]:
            blows.append(i)
            assert lives[-2] - lives[-1] == 3
            assert 0 < scene.events["distance"] < 2
            assert not scene.events["fire"]
    assert len(blows) >= 3
    assert min(np.diff(blows)) >= 20
    assert math.dist((zombie["x"], zombie["z"]), scene.place[::2]) < 4


def test_a_zombie_does_not_follow_a_player_behind_a_wall(scene: Any) -> None:
    scene.world.clock["time"] = NIGHT
    for x in range(-40, 40):
        for y in range(4):
            scene.put(x, y, 5, "stone")
    zombie = bring(scene, "zombie", z=12.5)
    scene.tick(200)
    assert zombie["panic"] == 0
    assert scene.player["life"] == 20


def test_a_zombie_does_not_follow_a_dead_player(scene: Any) -> None:
    scene.world.clock["time"] = NIGHT
    scene.player["dead"] = True
    zombie = bring(scene, "zombie", z=5.5)
    scene.tick(50)
    assert zombie["panic"] == 0


@pytest.mark.parametrize(("roof", "time", "burns"), [(False, 6000, True), (True, 6000, False), (False, NIGHT, False)])
def test_zombies_burn_only_in_sunlight(scene: Any, roof: bool, time: int, burns: bool) -> None:
    scene.world.clock["time"], scene.world.clock["time_passes"] = time, False
    scene.player["dead"] = True
    zombie = bring(scene, "zombie")
    if roof:
        scene.world.blocks[MIDDLE - 40 : MIDDLE + 40, FLOOR + 4, MIDDLE - 40 : MIDDLE + 40] = BLOCK["stone"]
        scene.world.top[MIDDLE - 40 : MIDDLE + 40, MIDDLE - 40 : MIDDLE + 40] = FLOOR + 4
    scene.tick(700)
    assert (zombie["kind"] == 0) == burns
    if burns:
        assert scene.world.kills.sum() == 0


def test_a_zombie_outside_the_world_does_not_burn(scene: Any) -> None:
    scene.world.clock["time"], scene.world.clock["time_passes"] = 6000, False
    scene.player["dead"] = True
    zombie = bring(scene, "zombie")
    zombie["z"], zombie["life"], scene.player["z"] = SIZE, 1e5, SIZE - 20
    for _ in range(300):
        scene.tick()
        assert (zombie["kind"], zombie["fire_ticks"]) == (KIND["zombie"], 0)


def lit(scene: Any, level: int) -> None:
    """Give all cells the same sky light, at noon."""
    scene.world.light[...] = level << 4
    scene.world.clock["time"], scene.world.clock["time_passes"] = NOON, False


@pytest.mark.parametrize(("light", "hunts"), [(15, False), (12, False), (11, True), (0, True)])
def test_a_spider_begins_to_hunt_only_in_the_dark(scene: Any, light: int, hunts: bool) -> None:
    lit(scene, light)
    spider = bring(scene, "spider", z=8.5)
    scene.tick(40)
    assert (spider["panic"] > 0) == hunts
    scene.tick(160)
    assert (scene.player["life"] < 20) == hunts


def test_a_spider_that_hunts_when_the_sun_rises_hunts_on_for_about_a_hundred_ticks(scene: Any) -> None:
    lasted = []
    for _ in range(40):
        lit(scene, 0)
        spider = bring(scene, "spider", z=8.5)
        scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
        scene.player["life"] = 20
        scene.tick(10)
        assert spider["panic"] > 0
        lit(scene, 15)
        lasted.append(0)
        while spider["panic"] > 0:
            scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
            scene.player["life"] = 20
            scene.tick()
            lasted[-1] += 1
        spider["kind"] = 0
    assert 60 < np.mean(lasted) < 160


def test_a_spider_in_the_light_hunts_a_player_who_hit_it(scene: Any) -> None:
    lit(scene, 15)
    spider = bring(scene, "spider", z=2.5)
    scene.tick(2)
    scene.look_at(float(spider["x"]), FLOOR + 0.4, float(spider["z"]))
    scene.player["attack_ticks"] = 100
    scene.tick(attack=True)
    assert scene.events["hit_mob"] == KIND["spider"]
    assert spider["panic"] > 0


def test_a_spider_does_two_half_hearts_of_damage_within_its_reach(scene: Any) -> None:
    spider = bring(scene, "spider", z=2.5)
    for _ in range(30):
        spider["x"], spider["z"], spider["vx"], spider["vz"] = MIDDLE + 0.5, MIDDLE + 2.6, 0, 0
        scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
        scene.tick()
        if scene.player["life"] < 20:
            break
    assert scene.player["life"] == 18
    assert 1.9 < scene.events["distance"] < math.sqrt(2**2 + 0.6)


def test_a_hunting_spider_leaps_at_a_player_between_two_and_four_blocks_away(scene: Any) -> None:
    heights: dict[float, float] = {}
    for far in (1.5, 3.0, 5.5):
        spider = bring(scene, "spider", z=0.5 + far)
        spider["panic"] = 60
        highest, speed = 0.0, 0.0
        for _ in range(60):
            if spider["on_ground"]:
                spider["x"], spider["z"], spider["vx"], spider["vz"] = MIDDLE + 0.5, MIDDLE + 0.5 + far, 0, 0
            scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
            scene.player["life"] = 20
            scene.tick()
            highest, speed = max(highest, float(spider["y"]) - FLOOR), max(speed, -float(spider["vz"]))
        heights[far] = highest
        spider["kind"] = 0
        if far == 3.0:
            assert 0.35 < speed < 0.5
    assert heights[1.5] == heights[5.5] == 0
    assert 1.0 < heights[3.0] < 1.2


def test_a_leaping_spider_does_not_hit_before_it_lands(scene: Any) -> None:
    spider = bring(scene, "spider", z=3.0)
    spider["panic"] = 60
    for _ in range(200):
        scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
        life = float(scene.player["life"])
        scene.tick()
        assert spider["y"] == FLOOR or scene.player["life"] >= life
    assert scene.player["life"] < 20


@pytest.mark.parametrize(("kind", "climbs"), [("spider", True), ("zombie", False)])
def test_only_a_spider_climbs_a_wall_to_the_player(scene: Any, kind: str, climbs: bool) -> None:
    scene.world.clock["time"] = NIGHT
    for x in range(-3, 5):
        for z in range(-6, 4):
            for y in range(5):
                scene.put(x, y, z, "stone")
    scene.stand(MIDDLE + 0.5, FLOOR + 5, MIDDLE + 3.5)
    mob = bring(scene, kind, z=7.5)
    highest = 0.0
    for _ in range(120):
        scene.tick()
        highest = max(highest, float(mob["y"]))
    assert (highest >= FLOOR + 5) == climbs
    assert (scene.player["life"] < 20) == climbs


def test_a_climbing_spider_rises_at_the_speed_of_the_game(scene: Any) -> None:
    for x in range(-3, 5):
        for y in range(12):
            scene.put(x, y, 12, "stone")
    scene.player["dead"] = True
    spider = bring(scene, "spider", z=10.5)
    heights = []
    for _ in range(60):
        send(spider, 0.5, 30.5)
        scene.tick()
        heights.append(float(spider["y"]))
    assert np.diff(heights)[-20:] == pytest.approx((0.2 - 0.08) * 0.98)


def test_a_husk_does_not_burn_in_sunlight(scene: Any) -> None:
    scene.world.clock["time"], scene.world.clock["time_passes"] = NOON, False
    scene.player["dead"] = True
    husk, zombie = bring(scene, "husk"), bring(scene, "zombie", x=10.5)
    scene.tick(700)
    assert husk["life"] == 20
    assert zombie["kind"] == 0


def strike(scene: Any, mob: Any, damage: float = 1.0) -> None:
    """Let the player hit a mob once, from two blocks away. The mob has ``damage`` half hearts more than before."""
    mob["x"], mob["y"], mob["z"], mob["vx"], mob["vz"] = MIDDLE + 0.5, FLOOR, MIDDLE + 2.6, 0, 0
    mob["life"] += damage
    scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
    scene.look_at(MIDDLE + 0.5, FLOOR + float(TALL[mob["kind"]]) / 2, MIDDLE + 2.6)
    scene.player["attack_ticks"], scene.player["attack_held"] = 100, False
    scene.tick(attack=True)
    assert scene.events["hit_mob"] == mob["kind"]


def test_a_wolf_attacks_only_a_player_who_hit_it(scene: Any) -> None:
    wolf = bring(scene, "wolf", z=3.5)
    scene.tick(200)
    assert wolf["panic"] == 0
    assert scene.player["life"] == 20
    strike(scene, wolf)
    for _ in range(100):
        scene.tick()
        if scene.player["life"] < 20:
            break
    assert scene.player["life"] == 18
    assert wolf["panic"] > 0


@pytest.mark.parametrize(("away", "helps"), [(14.0, True), (20.0, False)])
def test_wolves_near_a_hit_wolf_also_attack_but_other_mobs_do_not(scene: Any, away: float, helps: bool) -> None:
    wolf, other, cow = bring(scene, "wolf"), bring(scene, "wolf", z=2.6 + away), bring(scene, "cow", x=6.5, z=2.6)
    strike(scene, wolf)
    assert (other["panic"] > 0) == helps
    assert cow["panic"] == 0


def test_a_wolf_gives_up_three_hundred_ticks_after_it_saw_the_player(scene: Any) -> None:
    wolf = bring(scene, "wolf")
    strike(scene, wolf)
    scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE - 39)
    lasted = 0
    while wolf["panic"] > 0:
        wolf["x"], wolf["z"] = MIDDLE + 0.5, MIDDLE + 2.6
        scene.tick()
        lasted += 1
    assert 295 <= lasted <= 301


@pytest.mark.parametrize("kind", ["horse", "donkey", "llama"])
def test_horses_have_a_random_life_between_15_and_30(scene: Any, kind: str) -> None:
    lives = []
    for _ in range(400):
        mob = bring(scene, kind)
        lives.append(float(mob["life"]))
        mob["kind"] = 0
    assert min(lives) >= 15
    assert max(lives) <= 30
    assert np.mean(lives) == pytest.approx(22.5, abs=0.8)
    assert np.std(lives) == pytest.approx(math.sqrt((8**2 - 1 + 9**2 - 1) / 12), abs=0.4)


def test_a_horse_walks_up_a_block_without_a_jump(scene: Any) -> None:
    heights = {}
    for kind in ("horse", "cow"):
        mob = bring(scene, kind, z=5.5)
        for x in range(-3, 4):
            for z in range(9, 20):
                scene.put(x, 0, z, "stone")
        heights[kind] = 0.0
        for _ in range(80):
            send(mob, 0.5, 25.5)
            scene.tick()
            heights[kind] = max(heights[kind], float(mob["y"]) - FLOOR)
        assert mob["y"] == FLOOR + 1
        mob["kind"] = 0
    assert heights["horse"] == 1
    assert heights["cow"] > 1.1


@pytest.mark.parametrize(("kind", "height", "damage"), [("horse", 6, 0), ("donkey", 10, 2), ("wolf", 6, 3)])
def test_a_fall_counts_half_for_a_horse(scene: Any, kind: str, height: int, damage: int) -> None:
    mob = bring(scene, kind, y=height, z=39)
    life = float(mob["life"])
    scene.tick(60)
    assert mob["y"] == FLOOR
    assert mob["life"] == life - damage


@pytest.mark.parametrize(("panic", "height", "ticks"), [(0, 0.3544, 16), (100, 0.7003, 10)])
def test_a_rabbit_hops_at_the_height_and_the_rate_of_the_game(
    scene: Any, panic: int, height: float, ticks: int
) -> None:
    scene.player["dead"] = True
    rabbit = bring(scene, "rabbit", z=-30.5)
    scene.tick(5)
    heights = []
    for _ in range(60):
        send(rabbit, 0.5, 35.5, panic=panic)
        rabbit["hit_ticks"] = panic
        scene.tick()
        heights.append(float(rabbit["y"]) - FLOOR)
    takes_off = [i for i in range(1, 60) if heights[i] > 0 and heights[i - 1] == 0]
    assert max(heights) == pytest.approx(height, abs=1e-3)
    assert set(np.diff(takes_off)) == {ticks}
    assert rabbit["x"] == pytest.approx(MIDDLE + 0.5, abs=0.05)


def test_a_rabbit_hops_onto_a_block(scene: Any) -> None:
    scene.player["dead"] = True
    for x in range(-3, 4):
        for z in range(9, 20):
            scene.put(x, 0, z, "stone")
    rabbit = bring(scene, "rabbit", z=7.5)
    for _ in range(300):
        send(rabbit, 0.5, 15.5)
        scene.tick()
    assert rabbit["y"] >= FLOOR + 1
    assert rabbit["z"] > MIDDLE + 9


def test_a_fleeing_rabbit_does_not_hop_into_lava(scene: Any) -> None:
    scene.player["dead"] = True
    for x in range(-30, 31):
        for z in (8, 9):
            scene.world.blocks[MIDDLE + x, FLOOR - 1, MIDDLE + z] = BLOCK["lava"]
    rabbit = bring(scene, "rabbit", z=-5.5)
    for _ in range(200):
        send(rabbit, 0.5, 20.5, panic=100)
        rabbit["hit_ticks"] = 100
        scene.tick()
    assert rabbit["kind"] > 0
    assert 3 < rabbit["z"] - MIDDLE < 8


@pytest.mark.parametrize(("away", "wall", "flees"), [(5.5, False, True), (5.5, True, False), (12.5, False, False)])
def test_a_rabbit_flees_from_a_player_whom_it_sees_within_eight_blocks(
    scene: Any, away: float, wall: bool, flees: bool
) -> None:
    if wall:
        for x in range(-8, 9):
            for y in range(3):
                scene.put(x, y, 3, "stone")
    rabbit = bring(scene, "rabbit", z=away)
    fled = False
    for _ in range(12):
        scene.tick()
        fled = fled or bool(rabbit["panic"] > 0)
    assert fled == flees
    if flees:
        scene.tick(60)
        assert math.dist((rabbit["x"], rabbit["z"]), scene.place[::2]) > 8


def test_a_hit_llama_spits_once_and_then_flees(scene: Any) -> None:
    hits, delays, projectiles, ways = 0, set(), 0, []
    for _ in range(40):
        llama = bring(scene, "llama")
        strike(scene, llama)
        scene.player["life"] = 20
        for tick_number in range(1, 120):
            scene.tick()
            if scene.player["life"] < 20:
                assert scene.player["life"] == 19
                hits += 1
                delays.add(tick_number)
                projectiles += int(scene.events["projectile"])
                scene.player["life"] = 20
            scene.player["food"] = 10
        ways.append(math.dist((llama["x"], llama["z"]), (MIDDLE + 0.5, MIDDLE + 2.6)))
        llama["kind"] = 0
    assert 25 <= hits <= 40, "a spit of 40 can miss, because it spreads"
    assert np.mean(ways) > 2.5
    assert delays <= {40, 41}
    assert projectiles == hits


def test_a_llama_does_not_spit_through_a_wall(scene: Any) -> None:
    llama = bring(scene, "llama")
    strike(scene, llama)
    for x in range(-8, 9):
        for y in range(4):
            scene.put(x, y, 1, "stone")
    scene.tick(90)
    assert scene.player["life"] == 20


def flying(scene: Any) -> Any:
    """Return the records of the projectiles in flight."""
    drops = scene.world.drops
    return drops[drops["alive"] & (drops["quantity"] == 0)]


def test_a_skeleton_shoots_every_sixty_ticks_and_its_arrows_hurt_a_player_who_stands_still(scene: Any) -> None:
    scene.world.clock["time"], scene.world.clock["time_passes"] = NIGHT, False
    bring(scene, "skeleton", z=8.5)
    shots, damages, known = [], [], 0
    for number in range(1200):
        scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
        scene.player["life"], scene.player["food"], scene.player["hurt_ticks"] = 20, 10, 0
        scene.tick()
        if len(flying(scene)) > known:
            shots.append(number)
        known = len(flying(scene))
        if scene.events["amount"] > 0:
            damages.append(float(scene.events["amount"]))
            assert scene.events["projectile"]
            assert 3 < scene.events["distance"] < 16
    assert 15 <= len(shots) <= 20
    assert min(np.diff(shots)) == 60
    assert len(damages) > len(shots) / 2, "arrows spread"
    assert set(damages) <= {2, 3, 4, 5}


def test_a_skeleton_keeps_its_distance_and_comes_nearer_from_afar(scene: Any) -> None:
    scene.world.clock["time"], scene.world.clock["time_passes"] = NIGHT, False
    for z in (3.5, 15.5):
        skeleton, ways = bring(scene, "skeleton", z=z), []
        for _ in range(400):
            scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
            scene.player["life"] = 20
            scene.tick()
            ways.append(math.dist((skeleton["x"], skeleton["z"]), scene.place[::2]))
        assert min(ways[200:]) > 5
        assert max(ways[200:]) < 15.5
        skeleton["kind"] = 0


def test_a_player_who_steps_aside_dodges_an_arrow_and_a_wall_stops_an_arrow(scene: Any) -> None:
    scene.world.clock["time"], scene.world.clock["time_passes"] = NIGHT, False
    skeleton = bring(scene, "skeleton", z=12.5)
    while not len(flying(scene)):
        scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
        scene.tick()
    skeleton["kind"] = 0
    arrows = flying(scene).copy()
    assert arrows["item"].tolist() == [ID["arrow"]]
    scene.stand(MIDDLE + 3.5, FLOOR, MIDDLE + 0.5)
    scene.tick(40)
    assert scene.player["life"] == 20
    scene.world.drops[0] = arrows[0]
    scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
    for x in range(-2, 3):
        for y in range(4):
            scene.put(x, y, 2, "stone")
    scene.tick(40)
    assert scene.player["life"] == 20
    assert not len(flying(scene))
    assert not scene.drops(), "nobody can pick up an arrow of a skeleton"


def test_a_skeleton_burns_in_sunlight(scene: Any) -> None:
    scene.world.clock["time"], scene.world.clock["time_passes"] = NOON, False
    scene.player["dead"] = True
    skeleton = bring(scene, "skeleton")
    scene.tick(700)
    assert skeleton["kind"] == 0


def fuse(scene: Any, creeper: Any, ticks: int = 80) -> int:
    """Run ticks until a creeper explodes, at most ``ticks``. Return their number."""
    for number in range(1, ticks + 1):
        scene.player["life"], scene.player["food"] = 20, 10
        scene.tick()
        if creeper["kind"] == 0:
            return number
    return ticks


def test_a_creeper_approaches_swells_for_thirty_ticks_and_explodes(scene: Any) -> None:
    creeper = bring(scene, "creeper", z=10.5)
    modes, damage = [], 0.0
    while creeper["kind"]:
        scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)
        modes.append(int(creeper["mode"]))
        scene.tick()
        damage = max(damage, float(scene.events["amount"]))
        assert len(modes) < 300
    assert modes[-1] == 2 * 29 + 1
    assert len([mode for mode in modes if mode > 0]) == 29
    assert damage > 10
    assert scene.events["explosion"]
    assert not scene.drops().keys() & {ID["gunpowder"]}
    assert scene.player["xp"] == 0


@pytest.mark.parametrize(("away", "armour"), [(1.0, False), (2.5, False), (2.5, True)])
def test_the_damage_of_an_explosion_is_that_of_the_games_formula(scene: Any, away: float, armour: bool) -> None:
    creeper = bring(scene, "creeper", z=0.5 + away)
    for slot, name in ((39, "iron_helmet"), (38, "iron_chestplate"), (37, "iron_leggings"), (36, "iron_boots")):
        scene.world.slots[slot] = (ID[name], int(armour), 0, 0)
    creeper["panic"], creeper["mode"] = 60, 2 * 29 + 1
    scene.player["life"] = 20
    scene.tick()
    assert creeper["kind"] == 0
    far = math.dist((creeper["x"], FLOOR + 1.7 / 2, creeper["z"]), (MIDDLE + 0.5, FLOOR, MIDDLE + 0.5))
    impact = 1 - far / 6
    amount = math.floor((impact**2 + impact) / 2 * 7 * 6 + 1)
    taken = amount * (1 - max(15 / 5, 15 - amount / 2) / 25) if armour else amount
    assert scene.events["amount"] == pytest.approx(taken)


def test_a_player_who_leaves_or_hides_stops_the_swelling(scene: Any) -> None:
    creeper = bring(scene, "creeper", z=2.5)
    creeper["panic"] = 60
    scene.tick(20)
    assert creeper["mode"] > 20
    scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE - 8.5)
    scene.tick(3)
    assert creeper["mode"] % 2 == 0
    scene.tick(17)
    assert creeper["mode"] <= 8
    assert creeper["kind"] > 0


def test_an_explosion_breaks_weak_blocks_spares_strong_ones_and_drops_a_third(scene: Any) -> None:
    dirt, broken = 0, 0
    for _ in range(20):
        for x in range(-6, 7):
            for z in range(-6, 7):
                scene.world.blocks[MIDDLE + x, FLOOR - 4 : FLOOR, MIDDLE + z] = BLOCK["dirt" if x < 1 else "obsidian"]
        scene.stand(MIDDLE + 20.5, FLOOR, MIDDLE + 0.5)
        creeper = bring(scene, "creeper", z=0.5)
        creeper["panic"], creeper["mode"] = 60, 2 * 29 + 1
        scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 3.5)
        assert fuse(scene, creeper) == 1
        area = scene.world.blocks[MIDDLE - 6 : MIDDLE + 7, FLOOR - 4 : FLOOR, MIDDLE - 6 : MIDDLE + 7]
        broken += 7 * 4 * 13 - int((area == BLOCK["dirt"]).sum())
        assert (area == BLOCK["obsidian"]).sum() == 6 * 4 * 13
        dirt += scene.drops().get(ID["dirt"], 0)
        scene.world.drops["alive"] = False
    assert 5 * 20 < broken < 60 * 20
    assert broken / 3 * 0.8 < dirt < broken / 3 * 1.2


@pytest.mark.parametrize(("holes", "life"), [((1,), 20), ((0, 1), 5)])
def test_a_wall_shields_from_an_explosion(scene: Any, holes: tuple[int, ...], life: float) -> None:
    for x in range(-6, 7):
        for y in range(6):
            scene.put(x, y, 2, "obsidian")
    creeper = bring(scene, "creeper", z=3.5)
    creeper["panic"], creeper["mode"] = 60, 2 * 29 + 1
    for y in holes:
        scene.put(0, y, 2, "air")
    scene.tick()
    assert creeper["kind"] == 0
    assert scene.player["life"] == life


def test_an_explosion_also_damages_mobs(scene: Any) -> None:
    creeper, near, far = bring(scene, "creeper", z=2.5), bring(scene, "cow", z=4.5), bring(scene, "cow", z=12.5)
    creeper["panic"], creeper["mode"] = 60, 2 * 29 + 1
    scene.tick()
    assert near["kind"] == 0
    assert far["life"] == 10


def stare(scene: Any, mob: Any, above: float = 0.0) -> None:
    """Let the player look at a mob's eyes, or above them."""
    scene.look_at(float(mob["x"]), float(mob["y"]) + 2.55 + above, float(mob["z"]))


def test_an_enderman_hunts_a_player_who_looks_at_its_head_for_five_ticks(scene: Any) -> None:
    enderman = bring(scene, "enderman")
    for _ in range(200):
        stare(scene, enderman, above=-1.5)
        scene.tick()
    assert enderman["panic"] == 0, "the look at the body does not count"
    for _ in range(5):
        assert enderman["panic"] == 0
        stare(scene, enderman)
        scene.tick()
    assert enderman["panic"] > 0
    scene.player["pitch"] = 90
    places = []
    for _ in range(120):
        scene.tick()
        places.append((float(enderman["x"]), float(enderman["z"])))
        if scene.player["life"] < 20:
            break
    assert scene.player["life"] == 13
    assert max(math.dist(a, b) for a, b in pairwise(places)) < 1


@pytest.mark.parametrize("hides", ["pumpkin", "wall"])
def test_a_pumpkin_or_a_wall_hides_the_look_at_an_enderman(scene: Any, hides: str) -> None:
    enderman = bring(scene, "enderman", z=6.5)
    if hides == "pumpkin":
        scene.world.slots[39] = (ID["pumpkin"], 1, 0, 0)
    else:
        for x in range(-20, 21):
            for y in range(5):
                scene.put(x, y, 2, "stone")
    for _ in range(60):
        stare(scene, enderman)
        scene.tick()
    assert enderman["panic"] == 0


def test_a_hit_enderman_hunts_the_player_and_runs_at_the_speed_of_the_game(scene: Any) -> None:
    enderman = bring(scene, "enderman")
    strike(scene, enderman)
    assert enderman["panic"] > 0
    enderman["z"] = MIDDLE - 14.5
    scene.player["pitch"] = 90
    scene.tick(15)
    z = float(enderman["z"])
    scene.tick()
    assert enderman["z"] - z == pytest.approx(0.98 * 0.45**2 / (1 - 0.91 * 0.6), rel=2e-2)


def test_a_hunting_enderman_teleports_away_from_a_look_nearby_and_nearer_from_afar(scene: Any) -> None:
    enderman = bring(scene, "enderman", z=3.0)
    enderman["panic"] = 300
    stare(scene, enderman)
    for _ in range(20):
        enderman["panic"] = 300
        stare(scene, enderman)
        scene.tick()
        if math.dist((enderman["x"], enderman["z"]), (MIDDLE + 0.5, MIDDLE + 3.0)) > 5:
            break
    away = math.dist((enderman["x"], enderman["z"]), (MIDDLE + 0.5, MIDDLE + 3.0))
    assert 5 < away < 46
    assert enderman["y"] == FLOOR
    scene.player["pitch"], nearest = 90, []
    for _ in range(10):
        enderman["x"], enderman["y"], enderman["z"], enderman["mode"] = MIDDLE + 0.5, FLOOR, MIDDLE + 30.5, 30
        enderman["panic"], enderman["vx"], enderman["vz"] = 300, 0, 0
        scene.tick()
        nearest.append(float(enderman["z"]) - MIDDLE)
    assert min(nearest) < 20
    assert max(nearest) <= 31


@pytest.mark.parametrize("wet", ["water", "rain", "roof"])
def test_water_and_rain_hurt_an_enderman_and_make_it_teleport(scene: Any, wet: str) -> None:
    scene.world.clock["raining"] = wet != "water"
    enderman = bring(scene, "enderman")
    if wet == "roof":
        scene.world.blocks[MIDDLE - 40 : MIDDLE + 40, FLOOR + 5, MIDDLE - 40 : MIDDLE + 40] = BLOCK["stone"]
        scene.world.top[MIDDLE - 40 : MIDDLE + 40, MIDDLE - 40 : MIDDLE + 40] = FLOOR + 5
    elif wet == "water":
        scene.put(0, 0, 10, "water")
    scene.tick(25)
    place = math.dist((enderman["x"], enderman["z"]), (MIDDLE + 0.5, MIDDLE + 10.5))
    assert enderman["life"] == {"water": 39, "rain": 37, "roof": 40}[wet]
    assert (place > 2) == (wet != "roof")


def test_a_bat_flies_around_above_the_ground_and_harms_nobody(scene: Any) -> None:
    bat, places = bring(scene, "bat", y=4), []
    for _ in range(600):
        scene.tick()
        places.append((float(bat["x"]), float(bat["y"]), float(bat["z"])))
        assert not overlaps(scene.world.blocks, *places[-1], 0.25, 0.9)
    assert np.ptp([y for _, y, _ in places]) > 3
    assert np.ptp([x for x, _, _ in places]) > 3
    speeds = [math.dist(a, b) for a, b in pairwise(places)]
    assert 0.05 < np.mean(speeds) < 0.5
    assert bat["life"] == 6
    assert scene.player["life"] == 20


def test_a_bat_hangs_below_a_block_until_a_player_comes_near_or_the_block_is_gone(scene: Any) -> None:
    scene.stand(MIDDLE + 20.5, FLOOR, MIDDLE + 20.5)
    scene.put(0, 4, 5, "stone")
    for wakes in ("player", "block", "blow"):
        bat = bring(scene, "bat", y=3.2, z=5.5)
        bat["mode"] = 1
        scene.tick(100)
        assert (bat["mode"], bat["vx"], bat["vy"]) == (1, 0, 0)
        assert bat["y"] == pytest.approx(FLOOR + 4 - 0.9)
        if wakes == "player":
            scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 4.5)
        elif wakes == "block":
            scene.put(0, 4, 5, "air")
        else:
            bat["hurt_ticks"] = 10
        scene.tick(1)
        assert bat["mode"] == 0
        scene.stand(MIDDLE + 20.5, FLOOR, MIDDLE + 20.5)
        scene.put(0, 4, 5, "stone")
        bat["kind"] = 0


def test_a_flying_bat_finally_hangs_below_a_roof(scene: Any) -> None:
    scene.player["dead"] = True
    scene.world.blocks[MIDDLE - 40 : MIDDLE + 40, FLOOR + 3, MIDDLE - 40 : MIDDLE + 40] = BLOCK["stone"]
    bat = bring(scene, "bat", y=1)
    for _ in range(4000):
        scene.tick()
        if bat["mode"] == 1:
            break
    assert bat["mode"] == 1


def throws(scene: Any, away: float, **player: float) -> Any:
    """Return the first potion that a witch throws."""
    scene.world.clock["time"], scene.world.clock["time_passes"] = NIGHT, False
    witch = bring(scene, "witch", z=0.5 + away)
    for name, value in player.items():
        scene.player[name] = value
    for _ in range(100):
        scene.tick()
        if len(flying(scene)):
            break
    witch["kind"] = 0
    potion = flying(scene).copy()
    assert potion["item"].tolist() == [ID["splash_potion"]]
    return potion


@pytest.mark.parametrize(
    ("away", "player", "potion"),
    [
        (9.0, {}, 1),
        (9.0, {"slowness": 90}, 2),
        (5.0, {}, 2),
        (5.0, {"poison": 30}, 0),
        (5.0, {"life": 7, "food": 10}, 0),
    ],
)
def test_a_witch_chooses_its_potion_as_in_the_game(
    scene: Any, away: float, player: dict[str, float], potion: int
) -> None:
    assert throws(scene, away, **player)["variant"].tolist() == [potion]


def test_a_potion_of_harming_that_hits_the_player_does_six_half_hearts_despite_armour(scene: Any) -> None:
    for slot, name in ((39, "iron_helmet"), (38, "iron_chestplate"), (37, "iron_leggings"), (36, "iron_boots")):
        scene.world.slots[slot] = (ID[name], 1, 0, 0)
    throws(scene, 5.0, poison=30, life=20)
    scene.player["poison"], scene.player["life"], amounts = 0, 20, []
    for _ in range(30):
        scene.tick()
        if scene.events["magic"]:
            amounts.append(float(scene.events["amount"]))
    assert len(amounts) == 1
    assert 3 <= amounts[0] <= 6, "a potion that lands beside the player does less"
    assert scene.world.slots["damage"][36:40].sum() == 0


def test_poison_costs_half_a_heart_every_25_ticks_and_leaves_one(scene: Any) -> None:
    scene.player["food"], scene.player["life"], scene.player["poison"] = 10, 5, 36
    lives = []
    for _ in range(200):
        scene.tick()
        lives.append(float(scene.player["life"]))
    assert set(np.diff([i for i in range(1, 200) if lives[i] < lives[i - 1]])) == {25}
    assert lives[-1] == 1
    scene.tick(750)
    assert scene.player["poison"] == 0


def test_slowness_slows_a_walk_by_fifteen_percent_and_ends(scene: Any) -> None:
    ways = []
    for slowness in (0, 90):
        scene.stand(MIDDLE + 0.5, FLOOR, MIDDLE - 30)
        scene.player["slowness"] = slowness
        scene.tick(40, forward=1)
        z = float(scene.player["z"])
        scene.tick(forward=1)
        ways.append(float(scene.player["z"]) - z)
    assert ways[1] == pytest.approx(0.85 * ways[0], rel=1e-3)
    scene.tick(90 * 20)
    assert scene.player["slowness"] == 0


def test_milk_and_death_end_the_effects(scene: Any) -> None:
    for ends in ("milk", "death"):
        for name in ("poison", "slowness", "weakness"):
            scene.player[name] = 20
        scene.hold("milk_bucket")
        scene.player["dead"] = ends == "death"
        scene.tick(40, use=True)
        assert [scene.player[name] for name in ("poison", "slowness", "weakness")] == [0, 0, 0]


def test_a_hurt_witch_drinks_healing_and_a_burning_witch_puts_the_fire_out(scene: Any) -> None:
    scene.player["dead"] = True
    witch = bring(scene, "witch")
    witch["life"] = 10
    lives = []
    for _ in range(400):
        scene.tick()
        lives.append(float(witch["life"]))
    assert set(np.diff(lives)) == {0, 4}
    assert witch["life"] > 20
    burns = []
    for _ in range(20):
        witch["life"], witch["fire_ticks"], witch["mode"], witch["cooldown"] = 26, 200, 0, 0
        burns.append(0)
        while witch["fire_ticks"] > 0:
            scene.tick()
            burns[-1] += 1
    assert 33 <= np.median(burns) <= 120


def test_a_restored_world_with_an_arrow_in_flight_plays_on_equally() -> None:
    world, action = generate(3, "plains"), np.zeros(1, ACTION)
    world.clock["time"] = NIGHT
    player = world.player[0]
    for number, kind in enumerate(("skeleton", "creeper", "enderman", "bat", "witch")):
        summon(world, KIND[kind], float(player["x"]) + 6, float(player["y"]), float(player["z"]) + number - 2)
    for _ in range(200):
        tick(world, action)
        if (world.drops["alive"] & (world.drops["quantity"] == 0)).any():
            break
    assert (world.drops["alive"] & (world.drops["quantity"] == 0)).any()
    again, _ = unpack(pack(world, {}))
    for _ in range(100):
        tick(world, action)
        tick(again, action)
    assert [array.tolist() for array in (world.mobs, world.drops, world.player)] == [
        array.tolist() for array in (again.mobs, again.drops, again.player)
    ]


def state(world: World) -> tuple[bytes, ...]:
    return tuple(np.ascontiguousarray(part).tobytes() for part in (world.mobs, world.drops, world.player, world.clock))


def test_mobs_move_equally_in_two_worlds_with_the_same_seed() -> None:
    ends = []
    for _ in range(2):
        world = generate(11, "forest")
        world.clock["time"] = NIGHT
        action = np.zeros(1, ACTION)
        action["forward"], action["yaw"] = 1, 0.7
        for _ in range(400):
            tick(world, action)
        ends.append(state(world))
    assert ends[0] == ends[1]


@pytest.mark.parametrize(("seed", "biome"), [(1, "forest"), (2, "extreme_hills"), (5, "plains")])
def test_no_mob_moves_into_a_block(seed: int, biome: str) -> None:
    world = generate(seed, biome)
    rng, action = np.random.default_rng(seed), np.zeros(1, ACTION)
    x, z = float(world.player["x"][0]), float(world.player["z"][0])
    for _ in range(24):
        at = x + rng.uniform(-20, 20), z + rng.uniform(-20, 20)
        top = float(world.top[math.floor(at[0]), math.floor(at[1])])
        summon(world, int(rng.integers(1, len(NAMES))), at[0], top + 2, at[1])
    free = {int(m["id"]): False for m in world.mobs}
    for step in range(1500):
        tick(world, action)
        if step % 200 == 0:
            hit = int(rng.integers(24))
            world.mobs[hit]["panic"] = 100
        for mob in world.mobs[world.mobs["kind"] > 0]:
            kind, key = int(mob["kind"]), int(mob["id"])
            inside = overlaps(
                world.blocks, float(mob["x"]), float(mob["y"]), float(mob["z"]), float(HALF[kind]), float(TALL[kind])
            )
            assert not (inside and free.get(key, False)), NAMES[kind]
            free[key] = not inside
            assert mob["life"] <= LIFE[kind] + MORE_LIFE[kind].sum()
    assert sum(free.values()) > 10


def test_the_mob_table_begins_with_the_five_kinds_that_spawn() -> None:
    assert NAMES[:6] == ("", "cow", "sheep", "pig", "chicken", "zombie")
    assert [kind.name for kind in TABLE if kind.weight > 0] == list(NAMES[1:6])
    assert all(kind.life > 0 for kind in TABLE)
