"""Projectiles of mobs. A projectile is a record of ``World.drops`` without a quantity: nobody can pick it up.

The flight follows ``EntityArrow.onUpdate`` and ``EntityThrowable.onUpdate``, 1.11.2, which have the same fall and drag.
A projectile hits only the player, and ends at the player or at a block; arrows of the game also hit mobs and stay in
blocks.
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
    POTION_WATER_DRAG,
    PROJECTILE_WIDE,
    SPLASH_HIGH,
    SPLASH_REACH,
)
from voxeldojo.world.crosshair import reaches
from voxeldojo.world.drops import add
from voxeldojo.world.effects import affect
from voxeldojo.world.health import PLAIN
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.jit import part
from voxeldojo.world.mob_kinds import ATTACK, SKELETON
from voxeldojo.world.mob_motion import block_of
from voxeldojo.world.rng import normal
from voxeldojo.world.state import MOBS, World

ARROW, POTION = ITEM["arrow"], ITEM["splash_potion"]
PROJECTILES = {ARROW: "arrow", POTION: "potion"}
"""Item of a projectile -> its name in observations (the game's en_US texts in small letters)."""
ARROW_DAMAGE = float(ATTACK[SKELETON])


@part
def launch(
    world: World, m: Any, item: int, kind: int, y: float, dx: float, dy: float, dz: float, speed: float, spread: float
) -> None:
    """Let a mob shoot a projectile (``EntityArrow.setThrowableHeading``).

    :param item: the item that the projectile is.
    :param kind: the potion (``effects.HARMS`` and others); 0 for an arrow.
    :param y: the height at which the flight begins, above the mob's position.
    :param dx, dy, dz: the direction, of any length.
    :param speed: blocks per tick.
    :param spread: the standard deviation of each part of the direction.
    """
    clock = world.clock[0]
    far = math.sqrt(dx * dx + dy * dy + dz * dz)
    d = world.drops[add(world.drops, item, 0, kind, 0, 0)]
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
def _splash(world: World, d: Any, direct: bool) -> None:
    """Let a potion act on the player within reach (``EntityPotion.applySplash``). A potion that hits the player has its
    full effect; otherwise the effect decreases with the distance.
    """
    p, e = world.player[0], world.events[0]
    away = math.sqrt((p.x - d.x) ** 2 + (p.y - d.y) ** 2 + (p.z - d.z) ** 2)
    level = d.y - SPLASH_HIGH < p.y + PLAYER_HEIGHT and p.y < d.y + SPLASH_HIGH
    if p.dead or (not direct and (away >= SPLASH_REACH or not level)):
        return
    if affect(world, int(d.variant), 1.0 if direct else 1.0 - away / SPLASH_REACH):
        e.magic, e.distance = True, away


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
        if d.item == POTION:
            _splash(world, d, True)
        else:
            _pierce(world, d, speed)
        return False
    if d.item == POTION and free <= speed:
        _splash(world, d, False)
    d.x, d.y, d.z = d.x + d.vx, d.y + d.vy, d.z + d.vz
    slow = POTION_WATER_DRAG if d.item == POTION else ARROW_WATER_DRAG
    drag = slow if block_of(world.blocks, d.x, d.y, d.z) == WATER else ARROW_DRAG
    d.vx, d.vy, d.vz = d.vx * drag, d.vy * drag - ARROW_GRAVITY, d.vz * drag
    return bool(free > speed and d.y > 0.0)
