"""Moves the items on the ground. Items on the ground fall, drift, merge, are picked up, burn, and vanish after five
minutes.

The numbers of this module come from minecraft.wiki, Item (entity), 1.11, and from ``EntityItem.onUpdate``, 1.11.2.
"""

from __future__ import annotations

import math
from typing import Any

from voxeldojo.world.blocks import CACTUS, FIRE, FULL, LAVA, SLIPPERINESS, TOP, WATER
from voxeldojo.world.collide import overlaps, slide
from voxeldojo.world.constants import (
    AIR_DRAG,
    CURRENT,
    ITEM_GRAVITY,
    ITEM_LIFETIME,
    ITEM_REACH,
    ITEM_REACH_UP,
    ITEM_SIZE,
    ITEM_STILL,
    MERGE_EVERY,
    MERGE_REACH,
    PLAYER_HEIGHT,
    PLAYER_WIDTH,
)
from voxeldojo.world.drops import Drops
from voxeldojo.world.fluids import current
from voxeldojo.world.inventory import give
from voxeldojo.world.items import STACK
from voxeldojo.world.jit import part
from voxeldojo.world.mob_motion import block_of
from voxeldojo.world.projectiles import step_projectile
from voxeldojo.world.state import DROPS, World

HALF = ITEM_SIZE / 2


@part
def _fall(world: World, d: Any) -> bool:
    """Move an item by one tick. Return False if it burns."""
    blocks = world.blocks
    inside = block_of(blocks, d.x, d.y + HALF, d.z)
    if inside in (LAVA, FIRE, CACTUS):
        return False
    if inside == WATER:
        fx, fy, fz = current(world, math.floor(d.x), math.floor(d.y + HALF), math.floor(d.z))
        d.vx, d.vy, d.vz = d.vx + fx * CURRENT, d.vy + fy * CURRENT, d.vz + fz * CURRENT
    elif FULL[inside] and TOP[block_of(blocks, d.x, d.y + 1.0, d.z)] == 0.0:
        # a block was placed into the cell of the item
        d.y, d.vx, d.vy, d.vz = math.floor(d.y) + 1.0, 0.0, 0.0, 0.0
    if d.vx == 0.0 and d.vy == 0.0 and d.vz == 0.0 and overlaps(blocks, d.x, d.y - 0.01, d.z, HALF, 0.01):
        return True
    d.vy -= ITEM_GRAVITY
    dx, dy, dz = d.vx, d.vy, d.vz
    x, y, z = slide(blocks, d.x, d.y, d.z, HALF, ITEM_SIZE, dx, dy, dz)
    drag, landed = AIR_DRAG, dy < 0 and y != d.y + dy
    if landed:
        drag *= SLIPPERINESS[block_of(blocks, x, y - 0.5, z)]
    d.vx = dx * drag if x == d.x + dx and abs(dx) > ITEM_STILL else 0.0
    d.vz = dz * drag if z == d.z + dz and abs(dz) > ITEM_STILL else 0.0
    d.vy = dy * AIR_DRAG if y == d.y + dy else 0.0
    d.x, d.y, d.z = x, y, z
    return True


@part
def _merge(drops: Drops, index: int) -> None:
    """Merge an item on the ground with equal items nearby, up to the maximal size of a stack."""
    d = drops[index]
    for other in range(index + 1, DROPS):
        o = drops[other]
        alike = o.alive and o.item == d.item and o.variant == d.variant and o.damage == 0 and d.damage == 0
        alike = alike and o.quantity > 0
        if alike and d.quantity + o.quantity <= STACK[d.item]:
            near = ITEM_SIZE + MERGE_REACH
            if abs(o.x - d.x) < near and abs(o.z - d.z) < near and abs(o.y - d.y) < ITEM_SIZE:
                d.quantity += o.quantity
                d.age, d.delay = min(int(d.age), int(o.age)), max(int(d.delay), int(o.delay))
                o.alive = False


@part
def _pick_up(world: World, d: Any) -> None:
    """Pick up the items on the ground within the player's reach, as far as the inventory has room."""
    p = world.player[0]
    side = PLAYER_WIDTH / 2 + ITEM_REACH + HALF
    level = p.y - ITEM_REACH_UP - ITEM_SIZE < d.y < p.y + PLAYER_HEIGHT + ITEM_REACH_UP
    if level and abs(d.x - p.x) < side and abs(d.z - p.z) < side:
        d.quantity = give(world, d.item, d.quantity, d.variant, d.damage)
        d.alive = d.quantity > 0


@part
def step_drops(world: World) -> None:
    """Update all items on the ground and all projectiles for one tick."""
    for index in range(DROPS):
        d = world.drops[index]
        if d.alive and d.quantity == 0:
            d.age += 1
            d.alive = d.age < ITEM_LIFETIME and step_projectile(world, d)
        elif d.alive:
            d.age += 1
            d.delay = max(d.delay - 1, 0)
            if d.age >= ITEM_LIFETIME or not _fall(world, d):
                d.alive = False
                continue
            if d.age % MERGE_EVERY == 0:
                _merge(world.drops, index)
            if d.delay == 0 and not world.player[0].dead:
                _pick_up(world, d)
