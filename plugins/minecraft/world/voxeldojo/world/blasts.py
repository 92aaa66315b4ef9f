"""Explosions break blocks, and damage and push the player and mobs (``Explosion``, 1.11.2).

An explosion sends rays in all directions. A ray loses strength along its way and in blocks, and breaks the blocks that
it gets through. A broken block leaves its drops with probability ``1 / power``. Items on the ground survive; those of
the game do not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voxeldojo.names import rows
from voxeldojo.world.blocks import AIR, HARDNESS, ID
from voxeldojo.world.blows import blow, push_back
from voxeldojo.world.collide import block_at
from voxeldojo.world.constants import (
    BLAST_CHANCE,
    BLAST_FADES,
    BLAST_LEAST,
    BLAST_RAYS,
    BLAST_SCALE,
    BLAST_SKIN,
    BLAST_STEP,
    BLAST_WIDE,
    EYE_HEIGHT,
    KNOCK,
    PLAYER_HEIGHT,
    PLAYER_WIDTH,
)
from voxeldojo.world.health import PLAIN
from voxeldojo.world.jit import maker, part
from voxeldojo.world.loot import blast_block
from voxeldojo.world.mob_damage import damage_mob, knock
from voxeldojo.world.mob_kinds import EYES, HALF, TALL
from voxeldojo.world.ray import trace
from voxeldojo.world.rng import draw
from voxeldojo.world.state import MOBS, World

RESISTANCE = np.array(HARDNESS, np.float64)
"""Blast resistance of each block (``data/blasts.csv``, else the hardness)."""
for _row in rows("blasts.csv"):
    for _key in _row["blocks"].split():
        RESISTANCE[ID[_key]] = float(_row["resistance"])
RESISTANCE.flags.writeable = False


@part
def exposure(
    world: World, x: float, y: float, z: float, px: float, py: float, pz: float, half: float, tall: float
) -> float:
    """Return the share of a body that an explosion at ``x, y, z`` reaches (``World.getBlockDensity``).

    :param px, py, pz: the position of the body's feet.
    :param half, tall: half the width of the body, and its height.
    """
    wide = 1.0 / (4.0 * half + 1.0)
    high = 1.0 / (2.0 * tall + 1.0)
    shift = (1.0 - math.floor(1.0 / wide) * wide) / 2.0
    seen, samples = 0, 0
    for i in range(math.floor(1.0 / wide) + 1):
        for j in range(math.floor(1.0 / high) + 1):
            for k in range(math.floor(1.0 / wide) + 1):
                sx = px - half + 2.0 * half * i * wide + shift
                sy = py + tall * j * high
                sz = pz - half + 2.0 * half * k * wide + shift
                dx, dy, dz = x - sx, y - sy, z - sz
                far = math.sqrt(dx * dx + dy * dy + dz * dz)
                samples += 1
                if far < 1e-6 or trace(world, sx, sy, sz, dx / far, dy / far, dz / far, far, False)[0] == AIR:
                    seen += 1
    return seen / samples


@part
def _impact(
    world: World, x: float, y: float, z: float, px: float, py: float, pz: float, half: float, tall: float, power: float
) -> float:
    """Return the impact, 0 to 1, of an explosion on a body, with the parameters of ``exposure``."""
    far = math.sqrt((px - x) ** 2 + (py - y) ** 2 + (pz - z) ** 2) / (2.0 * power)
    return (1.0 - far) * exposure(world, x, y, z, px, py, pz, half, tall) if far <= 1.0 else 0.0


@part
def _away(x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return the unit vector of a vector, or zeros."""
    far = math.sqrt(x * x + y * y + z * z)
    return (x / far, y / far, z / far) if far > 0.0 else (0.0, 0.0, 0.0)


@part
def _hit_bodies(world: World, x: float, y: float, z: float, power: float) -> None:
    """Damage and push the player and the mobs within reach."""
    p = world.player[0]
    impact = _impact(world, x, y, z, p.x, p.y, p.z, PLAYER_WIDTH / 2.0, PLAYER_HEIGHT, power)
    if impact > 0.0 and not p.dead:
        if blow(world, float(math.floor((impact * impact + impact) * BLAST_SCALE * power + 1.0)), PLAIN, x, y, z):
            world.events[0].explosion = True
            push_back(p, p.x - x, p.z - z)
        ux, uy, uz = _away(p.x - x, p.y + EYE_HEIGHT - y, p.z - z)
        p.vx, p.vy, p.vz = p.vx + ux * impact, p.vy + uy * impact, p.vz + uz * impact
    for index in range(MOBS):
        m = world.mobs[index]
        if m.kind == 0:
            continue
        impact = _impact(world, x, y, z, m.x, m.y, m.z, HALF[m.kind], TALL[m.kind], power)
        if impact > 0.0:
            ux, uy, uz = _away(m.x - x, m.y + EYES[m.kind] - y, m.z - z)
            if damage_mob(world, m, float(math.floor((impact * impact + impact) * BLAST_SCALE * power + 1.0)), True):
                knock(m, m.x - x, m.z - z, KNOCK)
            m.vx, m.vy, m.vz = m.vx + ux * impact, m.vy + uy * impact, m.vz + uz * impact
            m.on_ground = False


@part
def _mark(world: World, broken: Any, x: float, y: float, z: float, power: float) -> None:
    """Set the flags of the blocks that the rays of an explosion break in ``broken``, a cube around the explosion."""
    clock, last = world.clock[0], BLAST_RAYS - 1
    for i in range(BLAST_RAYS):
        for j in range(BLAST_RAYS):
            for k in range(BLAST_RAYS):
                if 0 < i < last and 0 < j < last and 0 < k < last:
                    continue
                ux, uy, uz = _away(2.0 * i / last - 1.0, 2.0 * j / last - 1.0, 2.0 * k / last - 1.0)
                left, at_x, at_y, at_z = power * (BLAST_LEAST + draw(clock) * BLAST_CHANCE), x, y, z
                while left > 0.0:
                    cx, cy, cz = math.floor(at_x), math.floor(at_y), math.floor(at_z)
                    block = block_at(world.blocks, cx, cy, cz)
                    if block != AIR:
                        left -= (RESISTANCE[block] + BLAST_SKIN) * BLAST_STEP
                        bx, by, bz = (
                            cx - math.floor(x) + BLAST_WIDE,
                            cy - math.floor(y) + BLAST_WIDE,
                            cz - math.floor(z) + BLAST_WIDE,
                        )
                        side = 2 * BLAST_WIDE
                        if left > 0.0 and 0 <= bx <= side and 0 <= by <= side and 0 <= bz <= side:
                            broken[bx, by, bz] = 1
                    at_x, at_y, at_z = at_x + ux * BLAST_STEP, at_y + uy * BLAST_STEP, at_z + uz * BLAST_STEP
                    left -= BLAST_FADES


@maker
def explode(world: World, x: float, y: float, z: float, power: float) -> None:
    """Run an explosion with the strength ``power`` at a position."""
    side = 2 * BLAST_WIDE + 1
    broken = np.empty((side, side, side), np.uint8)
    broken[:] = 0
    _mark(world, broken, x, y, z, power)
    _hit_bodies(world, x, y, z, power)
    for i in range(side):
        for j in range(side):
            for k in range(side):
                if broken[i, j, k]:
                    cx, cy, cz = (
                        math.floor(x) + i - BLAST_WIDE,
                        math.floor(y) + j - BLAST_WIDE,
                        math.floor(z) + k - BLAST_WIDE,
                    )
                    blast_block(world, cx, cy, cz, draw(world.clock[0]) < 1.0 / power)
