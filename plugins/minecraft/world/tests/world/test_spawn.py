"""Tests of the spawning and removal of mobs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from voxeldojo.world.blocks import GRASS
from voxeldojo.world.chunks import ensure, generate
from voxeldojo.world.constants import MOST_MONSTERS
from voxeldojo.world.mob_kinds import ID as KIND
from voxeldojo.world.mob_kinds import NAMES, SIGHT
from voxeldojo.world.spawn import summon
from voxeldojo.world.state import MOBS, World

FLOOR, MIDDLE, NIGHT = 64, 256, 18000


def there(world: World) -> Any:
    return world.mobs[world.mobs["kind"] > 0]


def test_colours_of_new_sheep_have_the_probabilities_of_the_game(scene: Any) -> None:
    world, drawn = scene.world, np.zeros(16)
    count = 20_000
    for _ in range(count):
        world.mobs["kind"] = 0
        drawn[world.mobs["colour"][summon(world, KIND["sheep"], 0.0, 0.0, 0.0)]] += 1
    odds = np.zeros(16)
    odds[[15, 7, 8, 12]] = 0.05, 0.05, 0.05, 0.03
    odds[6] = 0.82 / 500
    odds[0] = 0.82 - odds[6]
    spread = np.sqrt(count * odds * (1 - odds))
    assert (np.abs(drawn - count * odds) <= 4.5 * spread).all()


def test_initial_animals_do_not_depend_on_the_order_of_chunks() -> None:
    worlds = [generate(21, "plains") for _ in range(2)]
    x, z = (int(worlds[0].player[name][0]) for name in ("x", "z"))
    for offset in (64, -64):
        ensure(worlds[0], x + offset, z, 1)
    for offset in (-64, 64):
        ensure(worlds[1], x + offset, z, 1)
    herds = [{(m["kind"], m["x"], m["y"], m["z"], m["colour"]) for m in there(world)} for world in worlds]
    assert herds[0] == herds[1]


def test_initial_animals_stand_on_grass_with_the_density_of_the_game() -> None:
    found = 0
    for seed in range(6):
        world = generate(seed, "plains")
        for mob in there(world):
            assert world.blocks[int(mob["x"]), int(mob["y"]) - 1, int(mob["z"])] == GRASS
            assert SIGHT[mob["kind"]] == 0
        found += len(there(world))
    chunks = 6 * 49
    assert 0.2 < found / chunks < 0.8, "0.111 groups of four animals per chunk of open ground are expected"


@pytest.mark.parametrize("biome", ["desert", "ocean"])
def test_deserts_and_oceans_have_no_animals(biome: str) -> None:
    assert len(there(generate(4, biome))) == 0


def test_no_mob_spawns_if_the_mission_excludes_mobs(scene: Any) -> None:
    scene.world.clock["time"] = NIGHT
    scene.tick(3000)
    assert len(there(scene.world)) == 0


def test_monsters_spawn_on_the_surface_only_at_night_and_far_from_the_player() -> None:
    world = generate(8, "plains")
    world.mobs["kind"] = 0
    scene_tick(world, 1200)
    caves = [m for m in there(world) if SIGHT[m["kind"]] > 0 and m["y"] > world.top[int(m["x"]), int(m["z"])]]
    assert caves == [], "no monster may spawn on the surface by day"
    world.mobs["kind"] = 0
    world.clock["time"], world.clock["time_passes"] = NIGHT, False
    seen: set[int] = set()
    x, y, z = (float(world.player[name][0]) for name in ("x", "y", "z"))
    for _ in range(2400):
        scene_tick(world, 1)
        world.player["life"] = 20
        for mob in there(world):
            if mob["id"] not in seen and SIGHT[mob["kind"]] > 0:
                seen.add(int(mob["id"]))
                assert (mob["x"] - x) ** 2 + (mob["y"] - y) ** 2 + (mob["z"] - z) ** 2 > 22**2
        assert (SIGHT[there(world)["kind"]] > 0).sum() <= MOST_MONSTERS
    assert seen


def scene_tick(world: World, count: int) -> None:
    from voxeldojo.world.state import ACTION
    from voxeldojo.world.tick import tick

    action = np.zeros(1, ACTION)
    for _ in range(count):
        tick(world, action)


@pytest.mark.parametrize(("away", "gone"), [(20, False), (130, True)])
def test_only_monsters_beyond_128_blocks_vanish_at_once(scene: Any, away: float, gone: bool) -> None:
    scene.world.clock["time"] = NIGHT
    summon(scene.world, KIND["zombie"], MIDDLE + away, float(FLOOR), float(MIDDLE))
    scene.world.blocks[:, FLOOR - 1] = 1
    scene.tick(8)
    assert (len(there(scene.world)) == 0) == gone


def test_a_neutral_mob_does_not_vanish(scene: Any) -> None:
    scene.world.blocks[:, FLOOR - 1] = 1
    summon(scene.world, KIND["wolf"], MIDDLE + 130.0, float(FLOOR), float(MIDDLE))
    scene.tick(8)
    assert len(there(scene.world)) == 1


def test_only_the_first_five_kinds_spawn_by_themselves() -> None:
    kinds = set()
    for seed in range(6):
        world = generate(seed, "plains")
        kinds |= set(there(world)["kind"].tolist())
    world.clock["time"], world.clock["time_passes"] = NIGHT, False
    for _ in range(1200):
        scene_tick(world, 1)
        world.player["life"] = 20
        kinds |= set(there(world)["kind"].tolist())
    assert KIND["zombie"] in kinds
    assert kinds <= {KIND[name] for name in ("cow", "sheep", "pig", "chicken", "zombie")}


def test_monsters_at_a_medium_distance_vanish_gradually(scene: Any) -> None:
    scene.world.blocks[:, FLOOR - 1] = 1
    scene.world.clock["time"], scene.world.clock["time_passes"] = NIGHT, False
    scene.player["dead"] = True
    for i in range(20):
        summon(scene.world, KIND["zombie"], MIDDLE + 60 + i, float(FLOOR), MIDDLE - 30.0 + 3 * i)
    scene.tick(600)
    assert len(there(scene.world)) == 20
    scene.tick(1600)
    assert 0 < len(there(scene.world)) < 12, (
        "each vanishes with a chance of 1 in 800 per tick, so about a seventh must remain"
    )


def test_a_new_mob_replaces_the_farthest_mob_if_all_places_are_taken(scene: Any) -> None:
    world = scene.world
    for i in range(MOBS):
        assert summon(world, KIND["cow"], MIDDLE + 2.0 * i, float(FLOOR), float(MIDDLE)) == i
    index = summon(world, KIND["pig"], float(MIDDLE), float(FLOOR), float(MIDDLE))
    assert index == MOBS - 1
    assert NAMES[world.mobs["kind"][index]] == "pig"
    world.mobs["x"] = MIDDLE
    assert summon(world, KIND["pig"], float(MIDDLE), float(FLOOR), float(MIDDLE)) == -1
