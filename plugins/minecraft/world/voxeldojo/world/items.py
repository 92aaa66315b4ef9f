"""Reads the kinds of items, as arrays of names and properties. An array of this module is indexed by the id of an item.

The table of items is ``data/items.csv``, whose first lines name the sources. Kernels hold the arrays as constants. The
function ``jit.digest`` includes the table of items, so numba recompiles the kernels after a change of the table.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from voxeldojo.names import ITEMS, rows

TOOLS: Final = ("none", "pickaxe", "axe", "shovel", "sword", "shears", "hoe")
NAMES: Final = ("air", *(name for name in ITEMS if name != "air"))
"""Every item; its index is its id. "air" is first, so that an empty slot is zeros; MineDojo's items follow, sorted."""
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
"""Maximal quantity in one slot."""
DURABILITY = _int("durability")
"""Number of uses of an item; the next use breaks it. 0: the item does not wear out."""
TOOL_CLASS = _frozen([TOOLS.index(_ROWS[name]["tool"]) for name in NAMES])
"""Index into ``TOOLS``."""
TOOL_LEVEL = _int("level")
"""Level of a tool: 0 wood and gold, 1 stone, 2 iron, 3 diamond; -1: no tool."""
TOOL_SPEED = _float("speed")
"""Speed relative to a bare hand, at blocks of its class."""
DAMAGE = _float("damage")
"""Damage of a full attack, half hearts."""
ATTACK_SPEED = _float("attack_speed")
"""Full attacks per second."""
FOOD = _int("food")
"""Food value, half drumsticks; 0: not edible."""
SATURATION = _float("saturation")
"""Saturation points (not the ratio)."""
DRINK = _int("drink")
"""1 for drinks, for example milk."""
FUEL = _int("fuel")
"""Burning time in a furnace, ticks. Smelting one item takes 200."""
ARMOR = _int("armor")
TOUGHNESS = _int("toughness")
CONTAINER = _frozen([ID[_ROWS[name]["container"]] if _ROWS[name]["container"] else 0 for name in NAMES])
"""The item that remains after use: a bucket for milk, a bowl for stew; 0: none."""
