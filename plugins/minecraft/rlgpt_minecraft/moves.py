"""Builds MineDojo's action from named parts. An action of MineDojo has eight numbers, MultiDiscrete [3 3 4 25 25 8 244
36].
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from voxeldojo.names import CRAFTS
from voxeldojo.spaces import CAMERA_INTERVAL, FUNCTIONS, action_space, no_op

Action = NDArray[np.int64]

Body = Literal["", "jump", "sneak", "sprint"]
Function = Literal["no_op", "use", "drop", "attack", "craft", "equip", "place", "destroy"]

SPACE = action_space()
LEVEL = int(no_op()[3])
"""The camera bin that does not turn the camera."""

_BODY = ("", "jump", "sneak", "sprint")
_INDEX = {item: i for i, item in enumerate(CRAFTS)}


def bins(degrees: float) -> int:
    """Return the number of camera bins (steps of the camera) whose total angle is nearest to ``degrees``."""
    return round(degrees / CAMERA_INTERVAL)


def move(
    forward: int = 0,
    left: int = 0,
    body: Body = "",
    *,
    up: int = 0,
    right: int = 0,
    function: Function = "no_op",
    craft: str = "",
    slot: int = 0,
) -> Action:
    """Return an action, int64 ``(8,)``.

    :param forward: 1 moves forward, -1 moves back.
    :param left: 1 moves left, -1 moves right.
    :param up: the number of camera bins (steps of the camera) by which the view turns upwards.
    :param right: the number of camera bins (steps of the camera) by which the view turns to the right.
    :param craft: the item for the function "craft".
    :param slot: the inventory slot for the functions "equip", "place" and "destroy".
    """
    return np.array(
        [
            forward % 3,
            left % 3,
            _BODY.index(body),
            min(max(LEVEL - up, 0), 2 * LEVEL),
            min(max(LEVEL + right, 0), 2 * LEVEL),
            FUNCTIONS.index(function),
            _INDEX[craft] if craft else 0,
            slot,
        ],
        np.int64,
    )


def crafting(item: str) -> Action:
    """Return the action that crafts an item by hand, at a table or in a furnace."""
    return move(function="craft", craft=item)
