"""Where mobs come from and where they go.

Animals come with the land: in every tenth chunk a group of four (``WorldEntitySpawner.performWorldGenSpawning``), and
rarely later. Monsters come wherever it is dark enough, 24 blocks from the player or more, and are gone far from them
(minecraft.wiki, Spawn, 1.11). The game lets 70 monsters of all kinds live around a player; of the kinds there are here
the world bears ``MONSTERS``. It holds 64 mobs in all: for a new one, one that is far away has to go.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgpt_minecraft.names import BIOMES
from rlgpt_minecraft.world.blocks import FULL, GRASS, LIQUID, TOP
from rlgpt_minecraft.world.collide import Blocks, block_at, overlaps
from rlgpt_minecraft.world.constants import EGG_TICKS
from rlgpt_minecraft.world.jit import jit, part
from rlgpt_minecraft.world.kinds import CHICKEN, GROUP, HALF, LIFE, SHEEP, SIGHT, TALL, WEIGHT
from rlgpt_minecraft.world.light import sky_light
from rlgpt_minecraft.world.rng import GAMMA, draw, mix, pick
from rlgpt_minecraft.world.state import CHUNK, MOBS, SIZE, World
from rlgpt_minecraft.world.sun import light_for_spawning

MONSTERS, ANIMALS = 8, 10
"""No more come while so many are there."""
NEAR, AROUND, GONE, FAR = 24, 64, 128, 32
"""Blocks from the player: monsters come no nearer; come within; are gone at once beyond, and in time beyond."""
TRIES_EVERY, ANIMALS_EVERY = 4, 400
IDLE, FADES = 600, TRIES_EVERY / 800
"""Ticks far away after which a monster may fade, and its chance to at each look."""
ROOM = 64
"""Blocks beyond which a mob gives way to a new one."""
CHANCE = 0.1
SPREAD = 5
ANIMAL_LIGHT = 8
CAVE = 16
"""Layers searched down for a floor."""
KINDS = len(WEIGHT)
_BARREN = ("desert", "mesa", "ice", "mushroom", "nether", "the_end", "the_void")
NO_ANIMALS = np.zeros(256, np.bool_)
"""By biome: where none of the animals there are here live (minecraft.wiki, Spawn, 1.11)."""
for _name, _id in BIOMES.items():
    NO_ANIMALS[_id] = _name.startswith(_BARREN) or _name.endswith(("ocean", "river", "beach"))
NO_ANIMALS.flags.writeable = False


@part
def _place_of_new(mobs: NDArray[Any], p: Any) -> int:
    """A free place in ``world.mobs``, or that of the farthest beyond ``ROOM``; -1 where there is none."""
    index, far = -1, float(ROOM * ROOM)
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
    """A sheep's colour: 5 % each black, gray and light gray, 3 % brown, 1 in 500 of the rest pink, else white."""
    hundredth = pick(clock, 100)
    if hundredth < 15:
        return 15 if hundredth < 5 else 7 if hundredth < 10 else 8
    if hundredth < 18:
        return 12
    return 6 if pick(clock, 500) == 0 else 0


@jit
def summon(world: World, kind: int, x: float, y: float, z: float) -> int:
    """Put a mob of ``kind`` (``kinds.ID``) somewhere; its place in ``world.mobs``, -1 where there is no room."""
    index = _place_of_new(world.mobs, world.player[0])
    if index < 0:
        return -1
    m, clock = world.mobs[index], world.clock[0]
    m.kind, m.id, m.life = kind, clock.next_id, LIFE[kind]
    clock.next_id += 1
    m.x, m.y, m.z, m.yaw = x, y, z, draw(clock) * 360.0 - 180.0
    m.vx = m.vy = m.vz = m.fall = m.goal_x = m.goal_z = m.last_damage = 0.0
    m.age = m.wander = m.panic = m.hurt_ticks = m.fire_ticks = m.hit_ticks = 0
    m.sheared = m.on_ground = False
    m.colour = _colour(clock) if kind == SHEEP else 0
    m.cooldown = EGG_TICKS + pick(clock, EGG_TICKS) if kind == CHICKEN else 0
    return index


@part
def _fits(blocks: Blocks, kind: int, x: float, y: int, z: float) -> bool:
    """Whether a mob can stand there: on a full block, its body in the clear, not in a fluid."""
    cx, cz = math.floor(x), math.floor(z)
    here = block_at(blocks, cx, y, cz)
    firm = FULL[block_at(blocks, cx, y - 1, cz)] and not LIQUID[here]
    return bool(firm and not overlaps(blocks, x, float(y), z, HALF[kind], TALL[kind]))


@part
def _draw(clock: Any, monsters: bool) -> int:
    """A kind of the sort wanted, by weight; 0 where there is none."""
    total = 0
    for kind in range(1, KINDS):
        if (SIGHT[kind] > 0) == monsters:
            total += WEIGHT[kind]
    left = pick(clock, total)
    for kind in range(1, KINDS):
        if (SIGHT[kind] > 0) == monsters:
            left -= WEIGHT[kind]
            if left < 0:
                return kind
    return 0


@part
def _herd(world: World, x0: int, z0: int, x: int, z: int) -> None:
    """A group of one kind of animals about a place, none outside the chunk that begins at ``x0``, ``z0``."""
    clock = world.clock[0]
    kind = _draw(clock, False)
    for _ in range(GROUP[kind]):
        for _ in range(4):
            y = int(world.top[x, z]) + 1
            if block_at(world.blocks, x, y - 1, z) == GRASS and _fits(world.blocks, kind, x + 0.5, y, z + 0.5):
                summon(world, kind, x + 0.5, float(y), z + 0.5)
                break
            x = min(max(x + pick(clock, SPREAD) - pick(clock, SPREAD), x0), x0 + CHUNK - 1)
            z = min(max(z + pick(clock, SPREAD) - pick(clock, SPREAD), z0), z0 + CHUNK - 1)
        x = min(max(x + pick(clock, SPREAD) - pick(clock, SPREAD), x0), x0 + CHUNK - 1)
        z = min(max(z + pick(clock, SPREAD) - pick(clock, SPREAD), z0), z0 + CHUNK - 1)


@jit
def populate(world: World, chunk_x: int, chunk_z: int) -> None:
    """Bring the animals that a chunk comes with, the same whenever it is made. Its land must be there."""
    clock = world.clock[0]
    if not clock.mobs_spawn:
        return
    before = clock.rng
    clock.rng = mix(mix(clock.seed + GAMMA * np.uint64(chunk_x + 1)) + GAMMA * np.uint64(chunk_z + 1))
    x0, z0 = chunk_x * CHUNK, chunk_z * CHUNK
    while draw(clock) < CHANCE:
        x, z = x0 + pick(clock, CHUNK), z0 + pick(clock, CHUNK)
        if not NO_ANIMALS[world.biome[x, z]]:
            _herd(world, x0, z0, x, z)
    clock.rng = before


@part
def _monster(world: World) -> None:
    """Try to bring a monster: on the surface or on the floor of a cave, where it is dark."""
    p, clock = world.player[0], world.clock[0]
    x, z = p.x + (draw(clock) * 2.0 - 1.0) * AROUND, p.z + (draw(clock) * 2.0 - 1.0) * AROUND
    cx, cz = math.floor(x), math.floor(z)
    if not (0 <= cx < SIZE and 0 <= cz < SIZE) or not world.made[cx // CHUNK, cz // CHUNK]:
        return
    y = int(world.top[cx, cz]) + 1
    if draw(clock) < 0.5:
        y = 1 + pick(clock, max(y, 1))
        for _ in range(CAVE):
            if TOP[block_at(world.blocks, cx, y - 1, cz)] == 0.0:
                y -= 1
    away = (x - p.x) ** 2 + (y - p.y) ** 2 + (z - p.z) ** 2
    home = (x - p.spawn_x) ** 2 + (y - p.spawn_y) ** 2 + (z - p.spawn_z) ** 2
    if y < 1 or away < NEAR * NEAR or home < NEAR * NEAR or sky_light(world, cx, y, cz) > pick(clock, 32):
        return
    kind = _draw(clock, True)
    if light_for_spawning(world, cx, y, cz) <= pick(clock, 8) and _fits(world.blocks, kind, x, y, z):
        summon(world, kind, x, float(y), z)


@part
def _animals(world: World) -> None:
    """Try to bring a group of animals onto lit grass, not under the player's eyes."""
    p, clock = world.player[0], world.clock[0]
    x = math.floor(p.x) + pick(clock, 2 * AROUND) - AROUND
    z = math.floor(p.z) + pick(clock, 2 * AROUND) - AROUND
    if not (0 <= x < SIZE and 0 <= z < SIZE) or (x - p.x) ** 2 + (z - p.z) ** 2 < NEAR * NEAR:
        return
    lit = light_for_spawning(world, x, int(world.top[x, z]) + 1, z) > ANIMAL_LIGHT
    if lit and world.made[x // CHUNK, z // CHUNK] and not NO_ANIMALS[world.biome[x, z]]:
        _herd(world, x // CHUNK * CHUNK, z // CHUNK * CHUNK, x, z)


@part
def spawn_mobs(world: World) -> None:
    """A tick of coming and going."""
    clock, p = world.clock[0], world.player[0]
    if clock.tick % TRIES_EVERY != 0:
        return
    monsters, animals = 0, 0
    for index in range(MOBS):
        m = world.mobs[index]
        if m.kind > 0 and SIGHT[m.kind] > 0:
            away = (m.x - p.x) ** 2 + (m.y - p.y) ** 2 + (m.z - p.z) ** 2
            if away < FAR * FAR:
                m.age = 0
            elif away > GONE * GONE or (m.age > IDLE and draw(clock) < FADES):
                m.kind = 0
                continue
            monsters += 1
        elif m.kind > 0:
            animals += 1
    if clock.mobs_spawn and monsters < MONSTERS:
        _monster(world)
    if clock.mobs_spawn and animals < ANIMALS and clock.tick % ANIMALS_EVERY == 0:
        _animals(world)
