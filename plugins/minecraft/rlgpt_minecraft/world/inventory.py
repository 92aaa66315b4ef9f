"""What the player carries: 41 slots that fill, merge, wear and empty as the game's do.

A slot with quantity 0 is empty; all its fields are 0. Whoever changes slots does it here, so that nothing is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgpt_minecraft.names import EQUIPMENT_SLOTS, WORN
from rlgpt_minecraft.world.items import DURABILITY, ID, NAMES, STACK
from rlgpt_minecraft.world.jit import jit, part
from rlgpt_minecraft.world.state import SLOTS, World

MAIN = 36
"""Slots of the hotbar and the rest: where things that are picked up go."""
ARMOUR_END = 40
OFF_HAND = 40
ANY = -1
"""A variant that stands for all, used or not: the game's wildcard."""

WEAR_SLOT = np.full(len(NAMES), -1, np.int64)
"""By item: the slot it is worn in, -1 for what goes into the hand."""
for _name, _slot in WORN.items():
    WEAR_SLOT[ID[_name]] = EQUIPMENT_SLOTS[_slot]


@part
def matches(slot: Any, item: int, variant: int) -> bool:
    """Whether a slot holds ``item``; of this variant and unused, unless ``ANY``."""
    same = variant == ANY or (slot.variant == variant and slot.damage == 0)
    return bool(same and slot.quantity > 0 and slot.item == item)


@jit
def count(world: World, item: int, variant: int) -> int:
    """How many of ``item`` (of ``variant``, or ``ANY``) lie in the inventory and are worn."""
    total = 0
    for i in range(SLOTS):
        if matches(world.slots[i], item, variant):
            total += world.slots[i].quantity
    return total


@jit
def put(world: World, index: int, item: int, quantity: int, variant: int, damage: int) -> None:
    """Slot ``index`` holds this and nothing else; with quantity 0 it is empty."""
    slot = world.slots[index]
    slot.item = item if quantity > 0 else 0
    slot.quantity = quantity
    slot.variant = variant if quantity > 0 else 0
    slot.damage = damage if quantity > 0 else 0


@jit
def give(world: World, item: int, quantity: int, variant: int, damage: int) -> int:
    """Stow things away; how many found no room.

    Stacks of the same variant fill up first, the hand's, the off hand's, then in order; then empty slots, the hotbar
    first. Used tools never share a slot. (minecraft.wiki, Inventory, 1.11; Malmo stows what it crafts the same way.)
    """
    limit = int(STACK[item])
    if limit > 1 and damage == 0:
        for n in range(-2, MAIN):
            i = int(world.player[0].selected) if n == -2 else OFF_HAND if n == -1 else n
            slot = world.slots[i]
            if quantity > 0 and matches(slot, item, variant):
                moved = min(quantity, max(limit - slot.quantity, 0))
                slot.quantity += moved
                quantity -= moved
    for i in range(MAIN):
        if quantity > 0 and world.slots[i].quantity == 0:
            moved = min(quantity, limit)
            put(world, i, item, moved, variant, damage)
            quantity -= moved
    return quantity


@part
def remove(world: World, index: int, quantity: int) -> None:
    """Take ``quantity`` out of a slot that holds as many."""
    slot = world.slots[index]
    put(world, index, int(slot.item), int(slot.quantity) - quantity, int(slot.variant), int(slot.damage))


@jit
def take(world: World, item: int, quantity: int, variant: int) -> int:
    """Take things out, from the first slot on, what is worn last, the off hand never; how many there were."""
    taken = 0
    for i in range(ARMOUR_END):
        if taken < quantity and matches(world.slots[i], item, variant):
            moved = min(quantity - taken, int(world.slots[i].quantity))
            remove(world, i, moved)
            taken += moved
    return taken


@jit
def swap(world: World, first: int, second: int) -> None:
    """Exchange what two slots hold."""
    a, b = world.slots[first], world.slots[second]
    item, quantity, variant, damage = int(a.item), int(a.quantity), int(a.variant), int(a.damage)
    put(world, first, int(b.item), int(b.quantity), int(b.variant), int(b.damage))
    put(world, second, item, quantity, variant, damage)


@jit
def destroy(world: World, index: int) -> None:
    """Empty a slot."""
    put(world, index, 0, 0, 0, 0)


@jit
def find(world: World, item: int) -> int:
    """The first slot that holds ``item``, worn ones and the off hand included; -1 where none does."""
    for i in range(SLOTS):
        if matches(world.slots[i], item, ANY):
            return i
    return -1


@jit
def equip(world: World, item: int) -> bool:
    """Exchange the first stack of ``item`` with what is in the hand, or where it is worn; False where there is none."""
    source = find(world, item)
    if source < 0:
        return False
    target = int(WEAR_SLOT[item])
    swap(world, source, target if target >= 0 else int(world.player[0].selected))
    return True


@jit
def wear(world: World, index: int, uses: int) -> bool:
    """Wear a tool or a piece of armour by ``uses``; True where it broke. What cannot wear stays as it is.

    It breaks at the use after those that the table names. (minecraft.wiki, Durability)
    """
    slot = world.slots[index]
    if slot.quantity == 0 or DURABILITY[slot.item] == 0:
        return False
    slot.damage += uses
    if slot.damage > DURABILITY[slot.item]:
        remove(world, index, 1)
        return True
    return False
