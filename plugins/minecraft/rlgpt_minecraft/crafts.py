"""Finds out whether an item can be crafted or smelted.

MineDojo's mask looks only at the first recipe of an item: by the mask, logs of acacia and dark oak make no planks. The
world tries all recipes of an item, as the game does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from voxeldojo.names import craft_place
from voxeldojo.world.items import NAMES
from voxeldojo.world.recipes import ingredients


@cache
def _needs(item: str) -> tuple[tuple[tuple[str, int], ...], ...]:
    return tuple(tuple((NAMES[kind], n) for kind, n in recipe.items()) for recipe in ingredients(item))


def possible(item: str, mask: Any, count: Callable[[str], Any], near: Callable[[str], Any]) -> Any:
    """Whether an item can be made from the inventory at this place, without regard to fuel, free slots and variants.
    All values are bools of one environment, or arrays of bools of several environments.

    :param mask: MineDojo's mask of the item.
    :param count: a function that returns how many of an item the inventory contains.
    :param near: a function that returns whether ``table`` or ``furnace`` is near.
    """
    place = craft_place(item)
    found = mask
    for recipe in _needs(item):
        enough = True if place == "hand" else near(place)
        for needed, quantity in recipe:
            enough = enough & (count(needed) >= quantity)
        found = found | enough
    return found
