"""Crafts and smelts items. As in Malmo, crafting takes the ingredients from the inventory and adds the product to the
inventory in the same tick.

The recipes and their order are those of the game, and are in ``data/recipes.csv``. Of several recipes for an item, the
first recipe whose ingredients are available is used, so birch logs become birch planks. The rules of crafting are those
of Malmo's commands ``SimpleCraft``, ``NearbyCraft`` and ``NearbySmelt``, which MineDojo uses:

- Without a crafting table, the player can craft every item of ``CRAFT`` whose recipe fits into a grid of two by two.
  Items that are smelted from used tools need no furnace.
- The arrangement of the ingredients in the crafting grid does not matter. Containers of ingredients (the buckets of a
  cake) are lost.
- Smelting one item takes fuel for 200 ticks. The remaining heat of earlier fuel is used first, then the first fuel in
  the inventory.
- Of the recipes for smelting, only those whose product has the variant 0 are used. The item ``coal``, for example, is
  made from coal ore, never from logs, because charcoal is the variant 1 of ``coal``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from voxeldojo.names import CRAFTS, craft_place, rows
from voxeldojo.world.constants import SMELT_TICKS
from voxeldojo.world.drops import toss
from voxeldojo.world.inventory import ANY, ARMOUR_END, MAIN, fill, give, matches, remove, take
from voxeldojo.world.items import FUEL, ID, NAMES
from voxeldojo.world.jit import jit, part
from voxeldojo.world.nearby import nearby
from voxeldojo.world.state import World

LAVA_BUCKET, BUCKET = ID["lava_bucket"], ID["bucket"]


class Ingredient(NamedTuple):
    item: int
    variant: int
    quantity: int


class Recipe(NamedTuple):
    """A recipe with which the player makes ``quantity`` items of the kind ``item``.

    :ivar size: the number of squares of the crafting grid that the recipe needs, 1 to 9.
    """

    smelted: bool
    item: int
    variant: int
    quantity: int
    size: int
    ingredients: tuple[Ingredient, ...]


def _ingredient(text: str) -> Ingredient:
    found = re.fullmatch(r"(\w+):(\*|\d+)x(\d+)", text)
    if found is None:
        raise ValueError(f"data/recipes.csv: {text!r} is not ITEM:VARIANTxCOUNT")
    name, variant, quantity = found.groups()
    return Ingredient(ID[name], ANY if variant == "*" else int(variant), int(quantity))


CRAFT = CRAFTS
"""The choices of head 6 of the action, in order."""
RECIPES = tuple(
    Recipe(
        row["kind"] == "smelt",
        ID[row["output"]],
        int(row["variant"]),
        int(row["count"]),
        int(row["size"]),
        tuple(_ingredient(text) for text in row["ingredients"].split()),
    )
    for row in rows("recipes.csv")
)
"""Every recipe of the game, including those whose ingredients do not exist in this world."""


def _tried(name: str) -> list[int]:
    """Return the recipes for an item, in the order in which ``craft`` tries them."""
    where, item = craft_place(name), ID[name]
    crafted = [n for n, recipe in enumerate(RECIPES) if recipe.item == item and not recipe.smelted]
    smelted = [n for n, recipe in enumerate(RECIPES) if recipe.item == item and recipe.smelted and recipe.variant == 0]
    return {"hand": crafted + smelted, "table": crafted, "furnace": smelted}[where]


def ingredients(name: str) -> tuple[dict[int, int], ...]:
    """Return what each recipe for an item needs, in the order in which ``craft`` tries them: item -> quantity. Variants
    of items are ignored.
    """
    found = []
    for number in _tried(name):
        needs: dict[int, int] = {}
        for needed in RECIPES[number].ingredients:
            needs[needed.item] = needs.get(needed.item, 0) + needed.quantity
        found.append(needs)
    return tuple(found)


def _shown(name: str) -> Recipe:
    """Return the recipe that MineDojo's mask uses for an item, which is the first recipe whose ingredients do not
    include the product.
    """
    smelted = craft_place(name) == "furnace"
    fit = (recipe for recipe in RECIPES if recipe.item == ID[name] and recipe.smelted == smelted)
    return next(recipe for recipe in fit if all(needed.item != recipe.item for needed in recipe.ingredients))


def _matrix() -> np.ndarray[tuple[int, int], np.dtype[np.int16]]:
    matrix = np.zeros((len(CRAFT), len(NAMES)), np.int16)
    for row, name in enumerate(CRAFT):
        for needed in _shown(name).ingredients:
            matrix[row, needed.item] += needed.quantity
    return matrix


MATRIX = _matrix()
"""int16 ``(244, items)``: the ingredients in MineDojo's mask, from one recipe of each item, without fuel and
variants.
"""

_LISTS = [_tried(name) for name in CRAFT]
_WHERE = np.array([("hand", "table", "furnace").index(craft_place(name)) for name in CRAFT], np.int64)
_TRIED = np.array([n for tried in _LISTS for n in tried], np.int64)
_TRIED_START = np.cumsum([0, *map(len, _LISTS)])
_PARTS = np.array([needed for recipe in RECIPES for needed in recipe.ingredients], np.int64)
_PARTS_START = np.cumsum([0, *(len(recipe.ingredients) for recipe in RECIPES)])
_OUT = np.array([(r.item, r.quantity, r.variant, r.smelted) for r in RECIPES], np.int64)


@part
def _has_parts(world: World, recipe: int) -> bool:
    for n in range(_PARTS_START[recipe], _PARTS_START[recipe + 1]):
        item, variant, needed = _PARTS[n]
        for i in range(ARMOUR_END):
            if matches(world.slots[i], item, variant):
                needed -= world.slots[i].quantity
        if needed > 0:
            return False
    return True


@part
def fuel(world: World) -> int:
    """Return the total burning time, in ticks, of the remaining heat and of all fuel in the inventory."""
    total = int(world.player[0].fuel_ticks)
    for i in range(MAIN):
        total += FUEL[world.slots[i].item] * world.slots[i].quantity
    return total


@part
def _burn(world: World) -> None:
    player = world.player[0]
    player.fuel_ticks -= SMELT_TICKS
    for i in range(MAIN):
        ticks = int(FUEL[world.slots[i].item])
        while player.fuel_ticks < 0 and ticks > 0 and world.slots[i].quantity > 0:
            player.fuel_ticks += ticks
            if world.slots[i].item == LAVA_BUCKET:
                fill(world.slots[i], BUCKET, 1, 0, 0)
                ticks = 0
            else:
                remove(world, i, 1)


@jit
def craft(world: World, index: int) -> bool:
    """Craft the item ``CRAFT[index]`` by hand, at a table or in a furnace. If the player cannot craft the item, return
    False and change nothing.

    If the inventory has no room for the product, the product is dropped at the player's feet. (In Malmo, the product is
    lost.)
    """
    where = _WHERE[index]
    if where > 0:
        table, furnace = nearby(world)
        if not (table if where == 1 else furnace):
            return False
    for n in range(_TRIED_START[index], _TRIED_START[index + 1]):
        recipe = _TRIED[n]
        item, quantity, variant, smelted = _OUT[recipe]
        if _has_parts(world, recipe) and (smelted == 0 or fuel(world) >= SMELT_TICKS):
            for i in range(_PARTS_START[recipe], _PARTS_START[recipe + 1]):
                take(world, _PARTS[i, 0], _PARTS[i, 2], _PARTS[i, 1])
            if smelted == 1:
                _burn(world)
            left = give(world, item, quantity, variant, 0)
            if left > 0:
                toss(world, item, left, variant, 0)
            return True
    return False
