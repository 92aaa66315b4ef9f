"""Things on their way to the ground: where they come from.

What they do there is ``step_drops`` of ``lying.py``. Numbers: minecraft.wiki, Item (entity), 1.11.
"""

from __future__ import annotations

import numpy as np

from rlgpt_minecraft.world.inventory import fill, give, remove
from rlgpt_minecraft.world.jit import jit, part
from rlgpt_minecraft.world.rng import uniform
from rlgpt_minecraft.world.state import DROPS, SLOTS, World

EYES = 1.62
DELAY = 10
"""Ticks before something that fell out of a block or a mob can be picked up."""
THROWN_DELAY = 40


@part
def add(world: World, item: int, quantity: int, variant: int, damage: int, delay: int) -> int:
    """Make a drop at the world's corner and say its place in ``world.drops``; with no room the oldest one goes."""
    index = 0
    for i in range(DROPS):
        if not world.drops[i].alive:
            index = i
            break
        if world.drops[i].age > world.drops[index].age:
            index = i
    drop = world.drops[index]
    drop.alive, drop.age, drop.delay = True, 0, delay
    drop.item, drop.quantity, drop.variant, drop.damage = item, quantity, variant, damage
    return index


@part
def spill(world: World, x: float, y: float, z: float, item: int, quantity: int, variant: int, damage: int) -> None:
    """Let something fall out at a place, with the little jump that blocks and mobs give it."""
    drop = world.drops[add(world, item, quantity, variant, damage, DELAY)]
    drop.x, drop.y, drop.z = x, y, z
    drop.vx, drop.vy, drop.vz = uniform(world) * 0.2 - 0.1, 0.2, uniform(world) * 0.2 - 0.1


@part
def spill_block(world: World, x: int, y: int, z: int, item: int, quantity: int, variant: int, damage: int) -> None:
    """Let something fall out of a block, somewhere in its middle half."""
    ox, oy, oz = uniform(world) * 0.5 + 0.25, uniform(world) * 0.5 + 0.25, uniform(world) * 0.5 + 0.25
    spill(world, x + ox, y + oy, z + oz, item, quantity, variant, damage)


@jit
def toss(world: World, item: int, quantity: int, variant: int, damage: int) -> None:
    """Let the player throw something the way they look."""
    player = world.player[0]
    yaw, pitch = np.radians(player.yaw), np.radians(player.pitch)
    angle, speed = uniform(world) * 2 * np.pi, uniform(world) * 0.02
    drop = world.drops[add(world, item, quantity, variant, damage, THROWN_DELAY)]
    drop.x, drop.y, drop.z = player.x, player.y + EYES - 0.3, player.z
    drop.vx = -np.sin(yaw) * np.cos(pitch) * 0.3 + np.cos(angle) * speed
    drop.vy = -np.sin(pitch) * 0.3 + 0.1 + (uniform(world) - uniform(world)) * 0.1
    drop.vz = np.cos(yaw) * np.cos(pitch) * 0.3 + np.sin(angle) * speed


@part
def throw(world: World) -> bool:
    """Throw one thing out of the hand (the game's key Q); False where the hand is empty."""
    index = int(world.player[0].selected)
    slot = world.slots[index]
    if slot.quantity == 0:
        return False
    toss(world, int(slot.item), 1, int(slot.variant), int(slot.damage))
    remove(world, index, 1)
    return True


@part
def exchange(world: World, item: int) -> None:
    """One thing of the hand becomes ``item``, or nothing (0); what finds no room is thrown."""
    index = int(world.player[0].selected)
    if world.slots[index].quantity == 1:
        fill(world.slots[index], item, 1 if item > 0 else 0, 0, 0)
        return
    remove(world, index, 1)
    if item > 0 and give(world, item, 1, 0, 0) > 0:
        toss(world, item, 1, 0, 0)


@part
def spill_inventory(world: World) -> None:
    """Let all that the player has fall where they died."""
    player = world.player[0]
    for i in range(SLOTS):
        slot = world.slots[i]
        if slot.quantity > 0:
            item, quantity, variant, damage = int(slot.item), int(slot.quantity), int(slot.variant), int(slot.damage)
            index = add(world, item, quantity, variant, damage, THROWN_DELAY)
            drop, angle, speed = world.drops[index], uniform(world) * 2 * np.pi, uniform(world) * 0.5
            drop.x, drop.y, drop.z = player.x, player.y + EYES - 0.3, player.z
            drop.vx, drop.vy, drop.vz = -np.sin(angle) * speed, 0.2, np.cos(angle) * speed
            fill(slot, 0, 0, 0, 0)
