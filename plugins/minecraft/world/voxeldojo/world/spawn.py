"""Spawning and removal of mobs.

When a chunk is generated, a group of four animals spawns in the chunk with probability 1/10
(``WorldEntitySpawner.performWorldGenSpawning``). Animals rarely spawn later. Monsters spawn in the dark, at least
``SPAWN_AWAY`` blocks from the player, and vanish far from the player (``EntityLiving.despawnEntity``, 1.11.2). The game
allows 70 monsters around a player; this world has fewer kinds of monsters and allows ``MOST_MONSTERS``. The world has
at most 64 mobs; if it is full, a new mob can replace a mob that is far away.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voxeldojo.names import BIOMES
from voxeldojo.world.blocks import FULL, GRASS, LIQUID, TOP
from voxeldojo.world.collide import Blocks, block_at, overlaps
from voxeldojo.world.constants import (
    ANIMAL_LIGHT,
    ANIMALS_EVERY,
    CAVE_SEARCH,
    CAVE_SHARE,
    EGG_TICKS,
    FADES_AFTER,
    FADES_BEYOND,
    FADES_ODDS,
    GIVE_WAY,
    GONE_BEYOND,
    HERD_CHANCE,
    HERD_SPREAD,
    HERD_TRIES,
    MONSTER_LIGHT,
    MONSTER_SKY_LIGHT,
    MONSTERS_EVERY,
    MOST_ANIMALS,
    MOST_MONSTERS,
    SHEEP_BROWN,
    SHEEP_DARK,
    SHEEP_PINK_ODDS,
    SPAWN_AROUND,
    SPAWN_AWAY,
)
from voxeldojo.world.jit import jit, part
from voxeldojo.world.light import sky_light
from voxeldojo.world.mob_kinds import CHICKEN, GROUP, HALF, LIFE, MONSTER, MORE_LIFE, SHEEP, TALL, WEIGHT
from voxeldojo.world.rng import GAMMA, draw, mix, pick
from voxeldojo.world.state import CHUNK, MOBS, SIZE, World
from voxeldojo.world.sun import light_for_spawning

FADES = MONSTERS_EVERY / FADES_ODDS
"""Probability that a distant monster vanishes at each check."""
DARK = 3 * SHEEP_DARK
"""Percentages of black, gray and light gray sheep."""
KINDS = len(WEIGHT)
_BARREN = ("desert", "mesa", "ice", "mushroom", "nether", "the_end", "the_void")
NO_ANIMALS = np.zeros(256, np.bool_)
"""By biome: whether none of the animals spawn (minecraft.wiki, Spawn, 1.11)."""
for _name, _id in BIOMES.items():
    NO_ANIMALS[_id] = _name.startswith(_BARREN) or _name.endswith(("ocean", "river", "beach"))
NO_ANIMALS.flags.writeable = False


@part
def _place_of_new(mobs: NDArray[Any], p: Any) -> int:
    """Return the index in ``world.mobs`` that a new mob gets. The result is a free index, or, if no index is free, that
    of the farthest mob if the mob is farther away than ``GIVE_WAY``. Otherwise return -1.
    """
    index, far = -1, float(GIVE_WAY * GIVE_WAY)
    for i in range(MOBS):
        m = mobs[i]
        if m.kind == 0:
            return i
        distance = (m.x - p.x) ** 2 + (m.z - p.z) ** 2
        if distance > far:
            index, far = i, distance
    return index


@part
def _colour(clock: Any) -> int:
    """Draw the random colour of a sheep (black, gray, light gray, brown, pink or white), as the metadata of wool."""
    hundredth = pick(clock, 100)
    if hundredth < DARK:
        return 15 if hundredth < SHEEP_DARK else 7 if hundredth < 2 * SHEEP_DARK else 8
    if hundredth < DARK + SHEEP_BROWN:
        return 12
    return 6 if pick(clock, SHEEP_PINK_ODDS) == 0 else 0


@jit
def summon(world: World, kind: int, x: float, y: float, z: float) -> int:
    """Put a mob of the kind ``kind`` (``mob_kinds.ID``) at a position. Return the index of the mob in ``world.mobs``,
    or -1 if ``world.mobs`` has no room.
    """
    index = _place_of_new(world.mobs, world.player[0])
    if index < 0:
        return -1
    m, clock = world.mobs[index], world.clock[0]
    m.kind, m.id, m.life = kind, clock.next_id, LIFE[kind]
    clock.next_id += 1
    for most in MORE_LIFE[kind]:
        m.life += pick(clock, most + 1) if most > 0 else 0
    m.x, m.y, m.z, m.yaw = x, y, z, draw(clock) * 360.0 - 180.0
    m.vx = m.vy = m.vz = m.fall = m.goal_x = m.goal_z = m.last_damage = 0.0
    m.age = m.wander = m.panic = m.hurt_ticks = m.fire_ticks = m.hit_ticks = m.mode = 0
    m.sheared = m.on_ground = False
    m.colour = _colour(clock) if kind == SHEEP else 0
    m.cooldown = EGG_TICKS + pick(clock, EGG_TICKS) if kind == CHICKEN else 0
    return index


@part
def _fits(blocks: Blocks, kind: int, x: float, y: int, z: float) -> bool:
    """Return whether a mob of the kind ``kind`` can spawn at a position. At its position, a new mob must be on a full
    block, collide with nothing and not be in a fluid.
    """
    cx, cz = math.floor(x), math.floor(z)
    here = block_at(blocks, cx, y, cz)
    firm = FULL[block_at(blocks, cx, y - 1, cz)] and not LIQUID[here]
    return bool(firm and not overlaps(blocks, x, float(y), z, HALF[kind], TALL[kind]))


@part
def _draw(clock: Any, monsters: bool) -> int:
    """Draw a random kind of monster or animal, with probabilities proportional to the kinds' ``weight``. Return 0 if
    there is no kind.
    """
    total = 0
    for kind in range(1, KINDS):
        if MONSTER[kind] == monsters:
            total += WEIGHT[kind]
    left = pick(clock, total)
    for kind in range(1, KINDS):
        if MONSTER[kind] == monsters:
            left -= WEIGHT[kind]
            if left < 0:
                return kind
    return 0


@part
def _herd(world: World, x0: int, z0: int, x: int, z: int) -> None:
    """Spawn a group of animals around a position, but only within the chunk whose corner is ``x0``, ``z0``."""
    clock = world.clock[0]
    kind = _draw(clock, False)
    for _ in range(GROUP[kind]):
        for _ in range(HERD_TRIES):
            y = int(world.top[x, z]) + 1
            if block_at(world.blocks, x, y - 1, z) == GRASS and _fits(world.blocks, kind, x + 0.5, y, z + 0.5):
                summon(world, kind, x + 0.5, float(y), z + 0.5)
                break
            x = min(max(x + pick(clock, HERD_SPREAD) - pick(clock, HERD_SPREAD), x0), x0 + CHUNK - 1)
            z = min(max(z + pick(clock, HERD_SPREAD) - pick(clock, HERD_SPREAD), z0), z0 + CHUNK - 1)
        x = min(max(x + pick(clock, HERD_SPREAD) - pick(clock, HERD_SPREAD), x0), x0 + CHUNK - 1)
        z = min(max(z + pick(clock, HERD_SPREAD) - pick(clock, HERD_SPREAD), z0), z0 + CHUNK - 1)


@jit
def populate(world: World, chunk_x: int, chunk_z: int) -> None:
    """Spawn the initial animals of a generated chunk. The initial animals of a chunk depend only on the seed and the
    chunk.
    """
    clock = world.clock[0]
    if not clock.mobs_spawn:
        return
    before = clock.rng
    clock.rng = mix(mix(clock.seed + GAMMA * np.uint64(chunk_x + 1)) + GAMMA * np.uint64(chunk_z + 1))
    x0, z0 = chunk_x * CHUNK, chunk_z * CHUNK
    while draw(clock) < HERD_CHANCE:
        x, z = x0 + pick(clock, CHUNK), z0 + pick(clock, CHUNK)
        if not NO_ANIMALS[world.biome[x, z]]:
            _herd(world, x0, z0, x, z)
    clock.rng = before


@part
def _monster(world: World) -> None:
    """Try to spawn a monster in the dark, on the surface or on the floor of a cave."""
    p, clock = world.player[0], world.clock[0]
    x = p.x + (draw(clock) * 2.0 - 1.0) * SPAWN_AROUND
    z = p.z + (draw(clock) * 2.0 - 1.0) * SPAWN_AROUND
    cx, cz = math.floor(x), math.floor(z)
    if not (0 <= cx < SIZE and 0 <= cz < SIZE) or not world.generated[cx // CHUNK, cz // CHUNK]:
        return
    y = int(world.top[cx, cz]) + 1
    if draw(clock) < CAVE_SHARE:
        y = 1 + pick(clock, max(y, 1))
        for _ in range(CAVE_SEARCH):
            if TOP[block_at(world.blocks, cx, y - 1, cz)] == 0.0:
                y -= 1
    away = (x - p.x) ** 2 + (y - p.y) ** 2 + (z - p.z) ** 2
    home = (x - p.spawn_x) ** 2 + (y - p.spawn_y) ** 2 + (z - p.spawn_z) ** 2
    if y < 1 or away < SPAWN_AWAY * SPAWN_AWAY or home < SPAWN_AWAY * SPAWN_AWAY:
        return
    if sky_light(world, cx, y, cz) > pick(clock, MONSTER_SKY_LIGHT):
        return
    kind = _draw(clock, True)
    if light_for_spawning(world, cx, y, cz) <= pick(clock, MONSTER_LIGHT) and _fits(world.blocks, kind, x, y, z):
        summon(world, kind, x, float(y), z)


@part
def _animals(world: World) -> None:
    """Try to spawn a group of animals on lit grass, outside of the player's view."""
    p, clock = world.player[0], world.clock[0]
    x = math.floor(p.x) + pick(clock, 2 * SPAWN_AROUND) - SPAWN_AROUND
    z = math.floor(p.z) + pick(clock, 2 * SPAWN_AROUND) - SPAWN_AROUND
    if not (0 <= x < SIZE and 0 <= z < SIZE) or (x - p.x) ** 2 + (z - p.z) ** 2 < SPAWN_AWAY * SPAWN_AWAY:
        return
    lit = light_for_spawning(world, x, int(world.top[x, z]) + 1, z) > ANIMAL_LIGHT
    if lit and world.generated[x // CHUNK, z // CHUNK] and not NO_ANIMALS[world.biome[x, z]]:
        _herd(world, x // CHUNK * CHUNK, z // CHUNK * CHUNK, x, z)


@part
def spawn_mobs(world: World) -> None:
    """Spawn and remove mobs for one tick."""
    clock, p = world.clock[0], world.player[0]
    if clock.tick % MONSTERS_EVERY != 0:
        return
    monsters, animals = 0, 0
    for index in range(MOBS):
        m = world.mobs[index]
        if m.kind > 0 and MONSTER[m.kind]:
            away = (m.x - p.x) ** 2 + (m.y - p.y) ** 2 + (m.z - p.z) ** 2
            if away < FADES_BEYOND * FADES_BEYOND:
                m.age = 0
            elif away > GONE_BEYOND * GONE_BEYOND or (m.age > FADES_AFTER and draw(clock) < FADES):
                m.kind = 0
                continue
            monsters += 1
        elif m.kind > 0:
            animals += 1
    if clock.mobs_spawn and monsters < MOST_MONSTERS:
        _monster(world)
    if clock.mobs_spawn and animals < MOST_ANIMALS and clock.tick % ANIMALS_EVERY == 0:
        _animals(world)
