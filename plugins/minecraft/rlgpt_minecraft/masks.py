"""Which actions make sense now, by MineDojo's rules (``sim/wrappers/ar_nn/ar_masks_wrapper.py``).

Inventories are counted by item: float64 ``(len(ITEM_NAMES),)``, index into ``ITEM_NAMES``.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rlgpt_minecraft.names import CRAFTS, FURNACE, PLACEABLE, TABLE, WORN
from rlgpt_minecraft.spaces import FUNCTIONS
from rlgpt_minecraft.world.items import NAMES as ITEM_NAMES
from rlgpt_minecraft.world.recipes import MATRIX

Flags = NDArray[np.bool_]
Counts = NDArray[np.float64]


def _flags(names: frozenset[str], of: tuple[str, ...]) -> Flags:
    return np.array([name in names for name in of])


CAN_PLACE: Final = _flags(PLACEABLE, ITEM_NAMES)
CAN_WEAR: Final = _flags(frozenset(WORN), ITEM_NAMES)
NEEDS_TABLE: Final = _flags(TABLE, CRAFTS)
NEEDS_FURNACE: Final = _flags(FURNACE, CRAFTS)
WITH_ARGUMENT: Final = np.array([[name in ("craft", "equip", "place", "destroy")] for name in FUNCTIONS])
"""``action_arg``, bool ``(8, 1)``: it never changes."""


def _ingredients(matrix: NDArray[np.int16]) -> tuple[NDArray[np.intp], NDArray[np.int16]]:
    """Items and quantities of each recipe, ``(244, most)``, filled up with none of item 0: the matrix is thin."""
    most = int((matrix > 0).sum(axis=1).max())
    items = np.argsort(matrix == 0, axis=1, kind="stable")[:, :most]
    quantities = np.take_along_axis(matrix, items, axis=1)
    return np.where(quantities > 0, items, 0), quantities


INGREDIENTS, NEEDED = _ingredients(MATRIX)


def count(item: NDArray[np.int16], quantity: NDArray[np.int16]) -> Counts:
    """How many of each item there are in these slots; air counts for nothing."""
    counts: Counts = np.bincount(item, quantity, len(ITEM_NAMES)).astype(np.float64, copy=False)
    counts[0] = 0
    return counts


def craftable(counts: Counts, table: bool, furnace: bool) -> Flags:
    """``craft_smelt``, bool ``(244,)``: what the ingredients are there for, and the table or furnace. Not the fuel."""
    enough: Flags = np.all(counts[INGREDIENTS] >= NEEDED, axis=1)
    if not table:
        enough &= ~NEEDS_TABLE
    if not furnace:
        enough &= ~NEEDS_FURNACE
    return enough


def masks(item: NDArray[np.int16], counts: Counts, table: bool, furnace: bool) -> dict[str, Flags]:
    """All masks of an observation.

    :param item: of each of the 36 slots, index into ``ITEM_NAMES``.
    :param counts: ``count`` of those slots.
    """
    craft = craftable(counts, table, furnace)
    full = item != 0
    place = CAN_PLACE[item]
    equip = full.copy()
    equip[0] = CAN_WEAR[item[0]]  # what is held already is equipped, unless it is to be worn
    kinds = np.array(
        [
            *(True, True, full[0], True),
            craft.any() and not full.all(),
            *(equip.any(), place.any(), full.any()),
        ]
    )
    return {
        "action_type": kinds,
        "action_arg": WITH_ARGUMENT.copy(),
        "equip": equip,
        "place": place,
        "destroy": full,
        "craft_smelt": craft,
    }
