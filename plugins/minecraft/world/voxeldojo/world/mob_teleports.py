"""Endermen hunt a player who looks at their heads or hits them, and teleport (``EntityEnderman``, 1.11.2)."""

from __future__ import annotations

import math
from typing import Any

from voxeldojo.world.blocks import BLOCKS_MOVEMENT, LIQUID, WATER
from voxeldojo.world.collide import block_at, overlaps
from voxeldojo.world.constants import (
    ENDERMAN_FAR,
    ENDERMAN_NEAR,
    ENDERMAN_PATIENCE,
    ENDERMAN_STARE,
    ENDERMAN_WAITS,
    GRUDGE,
    TELEPORT_CHANCE,
    TELEPORT_NEARER,
    TELEPORT_WIDE,
    WET_CALM,
    WET_DAMAGE,
)
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.jit import part
from voxeldojo.world.light import can_see_sky
from voxeldojo.world.mob_damage import damage_mob
from voxeldojo.world.mob_kinds import EYES, HALF, SIGHT, TALL
from voxeldojo.world.mob_motion import block_of
from voxeldojo.world.mob_senses import sees
from voxeldojo.world.ray import eyes, look
from voxeldojo.world.rng import draw, pick
from voxeldojo.world.state import SIZE, World

HELMET, PUMPKIN = 39, ITEM["pumpkin"]


@part
def stared_at(world: World, m: Any) -> bool:
    """Return whether the player looks at a mob's head. A pumpkin on the player's head hides the look."""
    p = world.player[0]
    if p.dead or (world.slots[HELMET].quantity > 0 and world.slots[HELMET].item == PUMPKIN):
        return False
    x, y, z = eyes(world)
    lx, ly, lz = look(p.yaw, p.pitch)
    dx, dy, dz = m.x - x, m.y + EYES[m.kind] - y, m.z - z
    far = math.sqrt(dx * dx + dy * dy + dz * dz)
    if far > SIGHT[m.kind] or far < 1e-6:
        return False
    along = (lx * dx + ly * dy + lz * dz) / far
    return along > 1.0 - ENDERMAN_STARE / far and sees(world, m, SIGHT[m.kind])


@part
def _teleport(world: World, m: Any, x: float, y: float, z: float) -> bool:
    """Move a mob to the ground below a place if the mob has room there (``EntityLivingBase.attemptTeleport``). Return
    whether it has.
    """
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    if not (0 <= cx < SIZE and 0 <= cz < SIZE):
        return False
    while cy > 0 and not BLOCKS_MOVEMENT[block_at(world.blocks, cx, cy - 1, cz)]:
        cy, y = cy - 1, y - 1.0
    if cy <= 0 or overlaps(world.blocks, x, y, z, HALF[m.kind], TALL[m.kind]):
        return False
    for up in range(math.ceil(TALL[m.kind])):
        if LIQUID[block_at(world.blocks, cx, cy + up, cz)]:
            return False
    m.x, m.y, m.z, m.vx, m.vy, m.vz, m.fall, m.wander = x, y, z, 0.0, 0.0, 0.0, 0.0, 0
    m.on_ground = False
    return True


@part
def teleport_randomly(world: World, m: Any) -> bool:
    """Let a mob try to teleport to a random place around. Return whether it did."""
    clock = world.clock[0]
    x, z = m.x + (draw(clock) - 0.5) * TELEPORT_WIDE, m.z + (draw(clock) - 0.5) * TELEPORT_WIDE
    return _teleport(world, m, x, math.floor(m.y) + float(pick(clock, TELEPORT_WIDE) - TELEPORT_WIDE // 2), z)


@part
def _teleport_nearer(world: World, m: Any) -> bool:
    """Let a mob try to teleport towards the player. Return whether it did."""
    p, clock = world.player[0], world.clock[0]
    dx, dy, dz = m.x - p.x, m.y - p.y, m.z - p.z
    far = math.sqrt(dx * dx + dy * dy + dz * dz)
    x = m.x + (draw(clock) - 0.5) * TELEPORT_CHANCE - dx / far * TELEPORT_NEARER
    y = math.floor(m.y + float(pick(clock, 2 * TELEPORT_CHANCE) - TELEPORT_CHANCE) - dy / far * TELEPORT_NEARER)
    z = m.z + (draw(clock) - 0.5) * TELEPORT_CHANCE - dz / far * TELEPORT_NEARER
    return _teleport(world, m, x, float(y), z)


@part
def _wet(world: World, m: Any) -> bool:
    """Return whether a mob is in water or in rain."""
    x, y, z = math.floor(m.x), math.floor(m.y + TALL[m.kind]), math.floor(m.z)
    feet = block_of(world.blocks, m.x, m.y + 0.01, m.z)
    return feet == WATER or bool(world.clock[0].raining and can_see_sky(world, x, y, z))


@part
def haunt(world: World, m: Any) -> None:
    """Run the behaviour of an enderman in one tick, beyond its hunt. ``mode`` counts the ticks of the player's look,
    and during a hunt the ticks in which the player is far away.
    """
    p, clock = world.player[0], world.clock[0]
    if _wet(world, m):
        damage_mob(world, m, float(WET_DAMAGE), False)
        if m.kind == 0:
            return
        if pick(clock, WET_CALM) != 0:
            teleport_randomly(world, m)
    if m.panic == 0:
        m.mode = m.mode + 1 if stared_at(world, m) else 0
        if m.mode >= ENDERMAN_PATIENCE:
            m.mode, m.panic, m.wander = 0, GRUDGE, 0
        return
    away = (p.x - m.x) ** 2 + (p.y - m.y) ** 2 + (p.z - m.z) ** 2
    m.mode = m.mode + 1 if away > ENDERMAN_FAR * ENDERMAN_FAR else 0
    if away < ENDERMAN_NEAR * ENDERMAN_NEAR and stared_at(world, m):
        teleport_randomly(world, m)
    elif m.mode > ENDERMAN_WAITS and _teleport_nearer(world, m):
        m.mode = 0
