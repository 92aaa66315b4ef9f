"""The items of the world: names, and what each is good for, as arrays by id.

Read from ``data/items.csv``, whose first lines name the sources. Kernels capture the arrays as constants when they are
compiled, and numba's cache looks at the time of this file, not of the table's: touch this file when the table changes.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from voxeldojo.names import ITEMS, rows

TOOLS: Final = ("none", "pickaxe", "axe", "shovel", "sword", "shears", "hoe")
NAMES: Final = ("air", *(name for name in ITEMS if name != "air"))
"""Every item; its place is its id: "air" first, so that an empty slot is zeros, then MineDojo's, sorted."""
ID: Final = {name: index for index, name in enumerate(NAMES)}

_ROWS = {row["name"]: row for row in rows("items.csv")}


def _float(column: str) -> NDArray[np.float64]:
    array = np.array([float(_ROWS[name][column]) for name in NAMES])
    array.flags.writeable = False
    return array


def _int(column: str) -> NDArray[np.int16]:
    return _frozen([int(_ROWS[name][column]) for name in NAMES])


def _frozen(values: list[int]) -> NDArray[np.int16]:
    array = np.array(values, np.int16)
    array.flags.writeable = False
    return array


STACK = _int("stack")
"""How many lie in one slot."""
DURABILITY = _int("durability")
"""How many uses it bears: one more and it breaks. 0: it does not wear out."""
TOOL_CLASS = _frozen([TOOLS.index(_ROWS[name]["tool"]) for name in NAMES])
"""Index into ``TOOLS``."""
TOOL_LEVEL = _int("level")
"""0 wood and gold, 1 stone, 2 iron, 3 diamond; -1: no tool."""
TOOL_SPEED = _float("speed")
"""By how much it is faster than a bare hand at what it is made for."""
DAMAGE = _float("damage")
"""Half hearts of a full blow."""
ATTACK_SPEED = _float("attack_speed")
"""Full blows a second."""
FOOD = _int("food")
"""Half drumsticks; 0: not eaten."""
SATURATION = _float("saturation")
"""Points of saturation it gives (not the ratio)."""
DRINK = _int("drink")
"""1: drunk, as milk is."""
FUEL = _int("fuel")
"""Ticks for which it burns in a furnace; smelting one thing takes 200."""
ARMOR = _int("armor")
TOUGHNESS = _int("toughness")
CONTAINER = _frozen([ID[_ROWS[name]["container"]] if _ROWS[name]["container"] else 0 for name in NAMES])
"""The item left over when it is used up: the bucket of milk, the bowl of stew; 0: none."""
