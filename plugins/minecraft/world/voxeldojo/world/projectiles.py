"""Projectiles of mobs. A projectile is a record of ``World.drops`` without a quantity: nobody can pick it up.

The flight follows ``EntityArrow.onUpdate``, 1.11.2. A projectile hits only the player, and vanishes when it meets the
player or a block; arrows of the game also hit mobs and stay in blocks.
"""

from __future__ import annotations

import math
from typing import Any

from voxeldojo.world.blocks import WATER
from voxeldojo.world.blows import blow, push_back
from voxeldojo.world.collide import Blocks, overlaps
from voxeldojo.world.constants import (
    ARROW_BONUS,
    ARROW_CHANCE,
    ARROW_DRAG,
    ARROW_GRAVITY,
    ARROW_WATER_DRAG,
    FLIGHT_STEP,
    PLAYER_HEIGHT,
    PLAYER_WIDTH,
    PROJECTILE_WIDE,
)
from voxeldojo.world.crosshair import reaches
from voxeldojo.world.drops import add
from voxeldojo.world.health import PLAIN
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.jit import part
from voxeldojo.world.mob_kinds import ATTACK, SKELETON
from voxeldojo.world.mob_motion import block_of
from voxeldojo.world.rng import normal
from voxeldojo.world.state import MOBS, World

ARROW = ITEM["arrow"]
PROJECTILES = {ARROW: "arrow"}
"""Item of a projectile -> its name in observations (the game's en_US texts in small letters)."""
ARROW_DAMAGE = float(ATTACK[SKELETON])


@part
def launch(
    world: World, m: Any, item: int, y: float, dx: float, dy: float, dz: float, speed: float, spread: float
) -> None:
    """Let a mob shoot a projectile (``EntityArrow.setThrowableHeading``).

    :param item: the item that the projectile is.
    :param y: the height at which the flight begins, above the mob's position.
    :param dx, dy, dz: the direction, of any length.
    :param speed: blocks per tick.
    :param spread: the standard deviation of each part of the direction.
    """
    clock = world.clock[0]
    far = math.sqrt(dx * dx + dy * dy + dz * dz)
    d = world.drops[add(world.drops, item, 0, 0, 0, 0)]
    for index in range(MOBS):
        if world.mobs[index].id == m.id and world.mobs[index].kind > 0:
            d.damage = index
    d.x, d.y, d.z = m.x, y, m.z
    d.vx = (dx / far + normal(clock) * spread) * speed
    d.vy = (dy / far + normal(clock) * spread) * speed
    d.vz = (dz / far + normal(clock) * spread) * speed


@part
def _free(blocks: Blocks, x: float, y: float, z: float, ux: float, uy: float, uz: float, most: float) -> float:
    """Return how far a point can move along the unit vector ``ux, uy, uz``, at most ``most`` blocks, before it is
    within a block on which bodies stop.
    """
    way = 0.0
    while way < most:
        way = min(way + FLIGHT_STEP, most)
        if overlaps(blocks, x + ux * way, y + uy * way, z + uz * way, 0.0, 0.0):
            return way
    return most + 1.0


@part
def _pierce(world: World, d: Any, speed: float) -> None:
    """Let an arrow hit the player (``EntityArrow.onHit``)."""
    p, shooter, x, y, z = world.player[0], world.mobs[min(int(d.damage), MOBS - 1)], d.x, d.y, d.z
    if shooter.kind > 0:
        x, y, z = shooter.x, shooter.y, shooter.z
    power = ARROW_DAMAGE + normal(world.clock[0]) * ARROW_CHANCE + ARROW_BONUS
    if blow(world, float(math.ceil(speed * power)), PLAIN, x, y, z):
        world.events[0].projectile = True
        push_back(p, p.x - x, p.z - z)


@part
def step_projectile(world: World, d: Any) -> bool:
    """Move a projectile by one tick. Return whether it continues to fly."""
    p = world.player[0]
    speed = math.sqrt(d.vx * d.vx + d.vy * d.vy + d.vz * d.vz)
    if speed < 1e-9:
        return False
    ux, uy, uz = d.vx / speed, d.vy / speed, d.vz / speed
    free = _free(world.blocks, d.x, d.y, d.z, ux, uy, uz, speed)
    half, tall = PLAYER_WIDTH / 2.0 + PROJECTILE_WIDE, PLAYER_HEIGHT + 2.0 * PROJECTILE_WIDE
    near = reaches(d.x, d.y, d.z, ux, uy, uz, p.x, p.y - PROJECTILE_WIDE, p.z, half, tall)
    if not p.dead and near <= min(free, speed):
        _pierce(world, d, speed)
        return False
    d.x, d.y, d.z = d.x + d.vx, d.y + d.vy, d.z + d.vz
    drag = ARROW_WATER_DRAG if block_of(world.blocks, d.x, d.y, d.z) == WATER else ARROW_DRAG
    d.vx, d.vy, d.vz = d.vx * drag, d.vy * drag - ARROW_GRAVITY, d.vz * drag
    return bool(free > speed and d.y > 0.0)
