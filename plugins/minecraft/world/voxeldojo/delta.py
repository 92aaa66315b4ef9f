"""MineDojo's observation ``delta_inv`` lists the items that the inventory gained and lost in a step, by crafting or
otherwise.

The rules of ``delta_inv`` are those of MineDojo's module ``sim/wrappers/ar_nn/delta_inventory_wrapper.py``.
``delta_inv`` contains only the first gain and the first four losses, in the order of item names. In this module, the
words of an item's name are joined by underscores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voxeldojo.masks import INGREDIENTS, NEEDED, Counts
from voxeldojo.names import CRAFTS
from voxeldojo.spaces import DECREASED, INCREASED
from voxeldojo.world.items import ID
from voxeldojo.world.items import NAMES as ITEM_NAMES

_NAMES = np.array(ITEM_NAMES)
_NONE = {room: (np.full(room, "air", _NAMES.dtype), np.zeros(room, np.float32)) for room in (INCREASED, DECREASED)}
_PRODUCT = np.array([ID[name] for name in CRAFTS])


def _changes(sign: str, change: Counts, which: NDArray[np.intp], room: int, crafted: bool) -> dict[str, Any]:
    names, quantities = (part.copy() for part in _NONE[room])
    names[: len(which)] = _NAMES[which]
    quantities[: len(which)] = np.abs(change[which])
    none, zero = (part.copy() for part in _NONE[room])
    here, there = ("craft", "other") if crafted else ("other", "craft")
    return {
        f"{sign}_name_by_{here}": names,
        f"{sign}_quantity_by_{here}": quantities,
        f"{sign}_name_by_{there}": none,
        f"{sign}_quantity_by_{there}": zero,
    }


_NOTHING = np.zeros(len(ITEM_NAMES))
_CALM = {
    **_changes("inc", _NOTHING, np.zeros(0, np.intp), INCREASED, False),
    **_changes("dec", _NOTHING, np.zeros(0, np.intp), DECREASED, False),
}


def delta(before: Counts, after: Counts, craft: int | None, allowed: bool) -> dict[str, Any]:
    """Return the change of the inventory between two successive observations.

    A gain of an item counts as crafted if the action crafts an item (``craft``, an index into ``CRAFTS``), the mask
    before the action allowed this craft (``allowed``), and the product is the listed gain. A loss of an item counts as
    crafted if a gain counts as crafted and every ingredient is among the listed losses.
    """
    change = after - before
    if not change.any():
        return {name: part.copy() for name, part in _CALM.items()}
    up = np.flatnonzero(change > 0)[:INCREASED]
    down = np.flatnonzero(change < 0)[:DECREASED]
    made = craft is not None and allowed and _PRODUCT[craft] in up
    spent = craft is not None and allowed and set(INGREDIENTS[craft][NEEDED[craft] > 0]) <= set(down)
    return {
        **_changes("inc", change, up, INCREASED, bool(made)),
        **_changes("dec", change, down, DECREASED, spent and len(down) > 0),
    }


def delta_each(before: Counts, after: Counts, crafts: NDArray[np.int64], allowed: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the results of ``delta`` for several worlds, as arrays with a row for each world.

    :param before, after: counts ``(worlds, items)``.
    :param crafts: the index into ``CRAFTS`` of the item that each action crafts, or -1.
    """
    rows = {name: np.repeat(part[None], len(before), axis=0) for name, part in _CALM.items()}
    for world in np.flatnonzero((before != after).any(axis=1)).tolist():
        craft = int(crafts[world]) if crafts[world] >= 0 else None
        for name, part in delta(before[world], after[world], craft, bool(allowed[world])).items():
            rows[name][world] = part
    return rows
