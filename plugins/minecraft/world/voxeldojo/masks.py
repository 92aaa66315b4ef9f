"""Computes the masks of valid actions, by MineDojo's rules (``sim/wrappers/ar_nn/ar_masks_wrapper.py``).

An array of counts, float64 ``(len(ITEM_NAMES),)``, has the quantity of each item, in the order of ``ITEM_NAMES``. The
masks of a step are slices of one array; the constants ``TYPE``, ``EQUIP`` and others are these slices.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from voxeldojo.names import CRAFTS, FURNACE, INVENTORY, PLACEABLE, TABLE, WORN
from voxeldojo.spaces import FUNCTIONS
from voxeldojo.world.items import NAMES as ITEM_NAMES
from voxeldojo.world.jit import jit
from voxeldojo.world.recipes import MATRIX

Flags = NDArray[np.bool_]
Counts = NDArray[np.float64]

TYPE = slice(0, len(FUNCTIONS))
EQUIP, PLACE, DESTROY = (slice(TYPE.stop + n * INVENTORY, TYPE.stop + (n + 1) * INVENTORY) for n in range(3))
CRAFT = slice(DESTROY.stop, DESTROY.stop + len(CRAFTS))
SIZE: Final = CRAFT.stop
_TYPE, _EQUIP, _PLACE, _DESTROY, _CRAFT = (part.start for part in (TYPE, EQUIP, PLACE, DESTROY, CRAFT))

CAN_PLACE: Final = np.array([name in PLACEABLE for name in ITEM_NAMES])
CAN_WEAR: Final = np.array([name in WORN for name in ITEM_NAMES])
NEEDS_TABLE: Final = np.array([name in TABLE for name in CRAFTS])
NEEDS_FURNACE: Final = np.array([name in FURNACE for name in CRAFTS])
WITH_ARGUMENT: Final = np.array([[name in ("craft", "equip", "place", "destroy")] for name in FUNCTIONS])
"""``action_arg``, bool ``(8, 1)``. This mask is constant."""


def _ingredients(matrix: NDArray[np.int16]) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
    """Return the items and quantities of each recipe's ingredients as sparse rows ``(244, n)``, padded with item 0 and
    quantity 0.
    """
    most = int((matrix > 0).sum(axis=1).max())
    items = np.argsort(matrix == 0, axis=1, kind="stable")[:, :most]
    quantities = np.take_along_axis(matrix, items, axis=1)
    return np.where(quantities > 0, items, 0), quantities


INGREDIENTS, NEEDED = _ingredients(MATRIX)
for _array in (CAN_PLACE, CAN_WEAR, NEEDS_TABLE, NEEDS_FURNACE, WITH_ARGUMENT, INGREDIENTS, NEEDED):
    _array.flags.writeable = False


@jit
def count(item: NDArray[np.int64], quantity: NDArray[np.float32], counts: Counts) -> None:
    """Write the quantity of each item in the inventory's slots to ``counts``, without air."""
    counts[:] = 0
    for slot in range(INVENTORY):
        if item[slot] != 0:
            counts[item[slot]] += quantity[slot]


@jit
def fill(item: NDArray[np.int64], counts: Counts, table: bool, furnace: bool, out: Flags) -> None:
    """Compute all masks.

    :param item: the index into ``ITEM_NAMES`` of the item in each slot, int64 ``(SLOTS,)``.
    :param counts: the result of ``count``.
    :param table, furnace: whether a crafting table and a furnace are near the player and in view.
    :param out: the output array to which the masks are written, bool ``(SIZE,)``.
    """
    held = placeable = equipable = makeable = False
    full = True
    for slot in range(INVENTORY):
        here = item[slot] != 0
        # an item in the hand counts as equipped, unless it is armour
        equip = here and (slot > 0 or CAN_WEAR[item[slot]])
        place = here and CAN_PLACE[item[slot]]
        out[_DESTROY + slot], out[_EQUIP + slot], out[_PLACE + slot] = here, equip, place
        held, full = held or here, full and here
        placeable, equipable = placeable or place, equipable or equip
    for craft in range(len(NEEDS_TABLE)):
        enough = (table or not NEEDS_TABLE[craft]) and (furnace or not NEEDS_FURNACE[craft])
        for part in range(INGREDIENTS.shape[1]):
            enough = enough and counts[INGREDIENTS[craft, part]] >= NEEDED[craft, part]
        out[_CRAFT + craft] = enough
        makeable = makeable or enough
    out[_TYPE], out[_TYPE + 1], out[_TYPE + 3] = True, True, True
    out[_TYPE + 2] = item[0] != 0
    out[_TYPE + 4] = makeable and not full
    out[_TYPE + 5], out[_TYPE + 6], out[_TYPE + 7] = equipable, placeable, held


def as_observation(flags: Flags) -> dict[str, Flags]:
    """Return the observation's ``masks`` from the array of ``fill``, or from several arrays of ``fill`` with a leading
    axis.
    """
    return {
        "action_type": flags[..., TYPE],
        "action_arg": np.broadcast_to(WITH_ARGUMENT, (*flags.shape[:-1], *WITH_ARGUMENT.shape)).copy(),
        "equip": flags[..., EQUIP],
        "place": flags[..., PLACE],
        "destroy": flags[..., DESTROY],
        "craft_smelt": flags[..., CRAFT],
    }
