"""Changes the player's inventory, which has 41 slots, with the game's rules for stacks and durability.

A slot with quantity 0 is empty, and all fields of an empty slot are 0. No other module changes the slots of the
inventory, so that no item is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voxeldojo.names import EQUIPMENT_SLOTS, WORN
from voxeldojo.world.items import DURABILITY, ID, NAMES, STACK
from voxeldojo.world.jit import jit, part
from voxeldojo.world.state import SLOTS, World

MAIN = 36
"""Number of slots of the hotbar and the rest, which hold picked-up items."""
ARMOUR_END = 40
OFF_HAND = 40
ANY = -1
"""The variant number that matches all variants and all damage values (a wildcard, as in the game)."""

WEAR_SLOT = np.full(len(NAMES), -1, np.int64)
"""By item: the slot in which it is worn, -1 for the hand."""
for _name, _slot in WORN.items():
    WEAR_SLOT[ID[_name]] = EQUIPMENT_SLOTS[_slot]


@part
def fill(slot: Any, item: int, quantity: int, variant: int, damage: int) -> None:
    """Set the fields of a slot record. With quantity 0, the slot becomes empty."""
    slot.item = item if quantity > 0 else 0
    slot.quantity = quantity
    slot.variant = variant if quantity > 0 else 0
    slot.damage = damage if quantity > 0 else 0


@part
def remove(world: World, index: int, quantity: int) -> None:
    """Remove ``quantity`` items from a slot that contains at least ``quantity`` items."""
    slot = world.slots[index]
    fill(slot, slot.item, slot.quantity - quantity, slot.variant, slot.damage)


@jit
def give(world: World, item: int, quantity: int, variant: int, damage: int) -> int:
    """Add items to the inventory. Return the quantity of items for which the inventory has no room.

    Added items first go to stacks of the same item and variant, in the order hand, off hand, other slots. Items that
    fit into no stack go to empty slots, those of the hotbar first. Used tools never share a slot. The order of the
    slots for added items is that of Malmo for crafted items. The rules of the inventory are those of minecraft.wiki,
    Inventory, 1.11.
    """
    limit = int(STACK[item])
    if limit > 1 and damage == 0:
        for n in range(-2, MAIN):
            slot = world.slots[int(world.player[0].selected) if n == -2 else OFF_HAND if n == -1 else n]
            if quantity > 0 and slot.item == item and slot.variant == variant and slot.damage == 0:
                moved = min(quantity, limit - slot.quantity)
                if slot.quantity > 0 and moved > 0:
                    slot.quantity += moved
                    quantity -= moved
    for i in range(MAIN):
        if quantity > 0 and world.slots[i].quantity == 0:
            moved = min(quantity, limit)
            fill(world.slots[i], item, moved, variant, damage)
            quantity -= moved
    return quantity


@part
def wear(world: World, index: int, uses: int) -> bool:
    """Reduce the durability of a tool or a piece of armour by ``uses``. Return True if the item broke. Items without
    durability do not change.

    A tool or a piece of armour breaks at the first use beyond its durability. (minecraft.wiki, Durability)
    """
    slot = world.slots[index]
    if slot.quantity == 0 or DURABILITY[slot.item] == 0:
        return False
    slot.damage += uses
    if slot.damage > DURABILITY[slot.item]:
        remove(world, index, 1)
        return True
    return False


def put(world: World, index: int, item: int, quantity: int, variant: int, damage: int) -> None:
    """Set slot ``index``. With quantity 0, the slot becomes empty."""
    world.slots[index] = (item, quantity, variant, damage) if quantity > 0 else (0, 0, 0, 0)


def destroy(world: World, index: int) -> None:
    """Empty a slot."""
    put(world, index, 0, 0, 0, 0)


def count(world: World, item: int) -> int:
    """Count the items with the id ``item`` in the inventory. The count of an item includes all variants, and armour
    that the player wears.
    """
    return int(world.slots["quantity"][world.slots["item"] == item].sum())


@part
def matches(slot: Any, item: int, variant: int) -> bool:
    """Return whether a slot contains ``item``. Unless ``variant`` is ``ANY``, the slot's item must have this variant
    and be unused.
    """
    same = variant == ANY or (slot.variant == variant and slot.damage == 0)
    return bool(same and slot.quantity > 0 and slot.item == item)


@part
def take(world: World, item: int, quantity: int, variant: int) -> None:
    """Remove up to ``quantity`` items of the kind ``item``, beginning with the first slot. Armour that the player wears
    is removed last; items in the off hand are not removed.
    """
    for i in range(ARMOUR_END):
        if quantity > 0 and matches(world.slots[i], item, variant):
            moved = min(quantity, int(world.slots[i].quantity))
            remove(world, i, moved)
            quantity -= moved


@part
def find(world: World, item: int) -> int:
    """Return the first slot that contains ``item``, including the slots of worn armour and the off hand. Return -1 if
    no slot contains it.
    """
    for i in range(SLOTS):
        if matches(world.slots[i], item, ANY):
            return i
    return -1


@part
def swap(world: World, first: int, second: int) -> None:
    """Swap two slots."""
    a, b = world.slots[first], world.slots[second]
    item, quantity, variant, damage = int(a.item), int(a.quantity), int(a.variant), int(a.damage)
    fill(a, b.item, b.quantity, b.variant, b.damage)
    fill(b, item, quantity, variant, damage)


@part
def equip(world: World, item: int) -> bool:
    """Swap the first stack of ``item`` with the item in the hand; if ``item`` is armour, swap the stack with the armour
    slot. Return False if the inventory does not contain ``item``.
    """
    source, target = find(world, item), int(WEAR_SLOT[item])
    if source < 0:
        return False
    swap(world, source, target if target >= 0 else int(world.player[0].selected))
    return True
