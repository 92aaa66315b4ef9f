"""Creates items on the ground.

The function ``step_drops`` in ``item_motion.py`` moves the items on the ground. The numbers of this module come from
minecraft.wiki, Item (entity), 1.11.
"""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from voxeldojo.world.constants import (
    DEATH_SPREAD,
    EYE_HEIGHT,
    ITEM_PICKUP_DELAY,
    ITEM_THROW_DELAY,
    SPILL_ROOM,
    SPILL_SIDE,
    SPILL_UP,
    THROW_BELOW_EYES,
    THROW_SPEED,
    THROW_SPREAD,
    THROW_UP,
)
from voxeldojo.world.inventory import fill, give, remove
from voxeldojo.world.jit import jit, part
from voxeldojo.world.rng import draw
from voxeldojo.world.state import DROPS, SLOTS, World

MARGIN = (1.0 - SPILL_ROOM) / 2
"""Distance from the border of a cell, in blocks. Items never appear nearer to the border."""
Drops = NDArray[Any]
"""DROP ``(DROPS,)``."""


@part
def add(drops: Drops, item: int, quantity: int, variant: int, damage: int, delay: int) -> int:
    """Create a drop (an item on the ground) at the corner of the world and return its index in ``drops``. If the array
    ``drops`` is full, the new drop replaces the oldest drop.
    """
    index = 0
    for i in range(DROPS):
        if not drops[i].alive:
            index = i
            break
        if drops[i].age > drops[index].age:
            index = i
    drop = drops[index]
    drop.alive, drop.age, drop.delay = True, 0, delay
    drop.item, drop.quantity, drop.variant, drop.damage = item, quantity, variant, damage
    return index


@part
def spill(
    drops: Drops, clock: Any, x: float, y: float, z: float, item: int, quantity: int, variant: int, damage: int
) -> None:
    """Drop items at a position with a small upward speed, like the items of broken blocks and killed mobs."""
    drop = drops[add(drops, item, quantity, variant, damage, ITEM_PICKUP_DELAY)]
    drop.x, drop.y, drop.z = x, y, z
    drop.vx = draw(clock) * (2 * SPILL_SIDE) - SPILL_SIDE
    drop.vy = SPILL_UP
    drop.vz = draw(clock) * (2 * SPILL_SIDE) - SPILL_SIDE


@part
def spill_block(world: World, x: int, y: int, z: int, item: int, quantity: int, variant: int, damage: int) -> None:
    """Drop items at a random place in the central half of a block."""
    clock = world.clock[0]
    ox = draw(clock) * SPILL_ROOM + MARGIN
    oy = draw(clock) * SPILL_ROOM + MARGIN
    oz = draw(clock) * SPILL_ROOM + MARGIN
    spill(world.drops, clock, x + ox, y + oy, z + oz, item, quantity, variant, damage)


@jit
def toss(world: World, item: int, quantity: int, variant: int, damage: int) -> None:
    """Throw items along the view direction of the player."""
    player, clock = world.player[0], world.clock[0]
    yaw, pitch = math.radians(player.yaw), math.radians(player.pitch)
    angle, speed = draw(clock) * 2 * math.pi, draw(clock) * THROW_SPREAD
    drop = world.drops[add(world.drops, item, quantity, variant, damage, ITEM_THROW_DELAY)]
    drop.x, drop.y, drop.z = player.x, player.y + EYE_HEIGHT - THROW_BELOW_EYES, player.z
    drop.vx = -math.sin(yaw) * math.cos(pitch) * THROW_SPEED + math.cos(angle) * speed
    drop.vy = -math.sin(pitch) * THROW_SPEED + THROW_UP + (draw(clock) - draw(clock)) * THROW_UP
    drop.vz = math.cos(yaw) * math.cos(pitch) * THROW_SPEED + math.sin(angle) * speed


@part
def throw(world: World) -> bool:
    """Throw one item from the player's hand (the key Q of the game). Return False if the hand is empty."""
    index = int(world.player[0].selected)
    slot = world.slots[index]
    if slot.quantity == 0:
        return False
    toss(world, slot.item, 1, slot.variant, slot.damage)
    remove(world, index, 1)
    return True


@part
def exchange(world: World, item: int) -> None:
    """Replace one item of the stack in the player's hand by ``item``; if ``item`` is 0, only remove the item. If the
    inventory has no room for the new item, the player throws the new item.
    """
    index = int(world.player[0].selected)
    if world.slots[index].quantity == 1:
        fill(world.slots[index], item, 1 if item > 0 else 0, 0, 0)
        return
    remove(world, index, 1)
    if item > 0 and give(world, item, 1, 0, 0) > 0:
        toss(world, item, 1, 0, 0)


@part
def spill_inventory(world: World) -> None:
    """Drop all items of the inventory at the player's position."""
    player, clock = world.player[0], world.clock[0]
    for i in range(SLOTS):
        slot = world.slots[i]
        if slot.quantity > 0:
            index = add(world.drops, slot.item, slot.quantity, slot.variant, slot.damage, ITEM_THROW_DELAY)
            drop, angle, speed = world.drops[index], draw(clock) * 2 * math.pi, draw(clock) * DEATH_SPREAD
            drop.x, drop.y, drop.z = player.x, player.y + EYE_HEIGHT - THROW_BELOW_EYES, player.z
            drop.vx, drop.vy, drop.vz = -math.sin(angle) * speed, SPILL_UP, math.cos(angle) * speed
            fill(slot, 0, 0, 0, 0)
