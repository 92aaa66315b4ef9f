"""Decodes the benchmark's symbolic observation into a dict of arrays, without adding other information."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlgpt_craftax.names import (
    ARMOUR,
    BLOCKS,
    BODY,
    DARK,
    DIRECTIONS,
    FLAGS,
    FLOORS,
    HEIGHT,
    INVENTORY,
    ITEMS,
    MOBS,
    OFFSETS,
    PASSABLE,
    POTIONS,
    SHOTS,
    WIDTH,
)
from rlgpt_craftax.simulator import CELLS, GRIDS

Observation = dict[str, Any]
Offset = tuple[int, int]
"""A cell, seen from the player: right, down."""

MIDDLE = HEIGHT // 2, WIDTH // 2
_GRID_NAMES = ("block", "item", "mob", "shot", "own_shot")
_GRID_SIZES = (len(BLOCKS), len(ITEMS), len(MOBS), len(SHOTS), len(SHOTS))
_MOVES = (1, 2, 3, 4)
_FREE = np.array([name in PASSABLE for name in BLOCKS])


def space() -> spaces.Dict:
    """Return the observation space. :mod:`rlgpt_craftax.names` lists the names of the codes and numbers in the order of
    the observation's arrays.

    The keys ``block``, ``item``, ``mob``, ``shot`` and ``own_shot``, uint8 ``(9, 11)``, are the codes of the visible
    cells, from the top row to the bottom row. The keys ``inventory`` ``(16,)``, ``potions`` ``(6,)``, ``armour``
    ``(4,)`` and ``armour_enchantment`` ``(4,)`` are counts of items and grades of equipment. The key ``body`` is
    ``(9,)``; ``light`` ``(1,)`` is from 0 to 1; ``flags`` ``(6,)`` are 0 or 1; ``facing`` and ``floor`` are integers.
    """

    def box(high: float, *shape: int, dtype: Any = np.float32) -> spaces.Box:
        return spaces.Box(0, high, shape, dtype)

    grids = {
        name: box(size - 1, HEIGHT, WIDTH, dtype=np.uint8) for name, size in zip(_GRID_NAMES, _GRID_SIZES, strict=True)
    }
    return spaces.Dict(
        {
            **grids,
            "inventory": box(99, len(INVENTORY)),
            "potions": box(99, len(POTIONS)),
            "armour": box(2, len(ARMOUR)),
            "armour_enchantment": box(2, len(ARMOUR)),
            "body": box(99, len(BODY)),
            "light": box(1, 1),
            "flags": box(1, len(FLAGS)),
            "facing": spaces.Discrete(len(DIRECTIONS)),
            "floor": spaces.Discrete(len(FLOORS)),
        }
    )


def observation_of(seen: np.ndarray[Any, Any]) -> Observation:
    """Convert an array of :func:`rlgpt_craftax.simulator.seen` to an observation. If the array is a batch, all arrays
    of the observation have the leading axis of the batch.
    """
    lead = seen.shape[:-1]
    grids = seen[..., : GRIDS * CELLS].astype(np.uint8).reshape(*lead, GRIDS, HEIGHT, WIDTH)
    scalars = seen[..., GRIDS * CELLS :]
    places = np.cumsum([16, 6, 9, 4, 4, 4])
    items, potions, body, facing, armour, enchanted, special = np.split(scalars, places, axis=-1)
    light, flags = special[..., :1], special[..., 1:]
    inventory = [_counts(items[..., :10]), np.round(items[..., 10:] * _GRADES)]
    return {
        **dict(zip(_GRID_NAMES, np.moveaxis(grids, -3, 0), strict=True)),
        "inventory": np.concatenate(inventory, axis=-1).astype(np.float32),
        "potions": _counts(potions),
        "armour": np.round(armour * 2).astype(np.float32),
        "armour_enchantment": enchanted.astype(np.float32),
        "body": np.round(body * 10, 3).astype(np.float32),
        "light": np.clip(light, 0, 1).astype(np.float32),
        "flags": flags[..., [0, 1, 2, 3, 5, 6]].astype(np.float32),
        "facing": np.asarray(facing.argmax(axis=-1), np.int64)[()],
        "floor": np.asarray(np.round(10 * flags[..., 4].astype(np.float64)), np.int64)[()],
    }


_GRADES = np.array([2, 4, 4, 1, 1, 1], np.float32)
"""The numbers by which the benchmark divides books, pickaxe and sword. The benchmark does not divide enchantments and
bow.
"""


def _counts(roots: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Compute counts of items from the benchmark's numbers, each of which is a tenth of the square root of a count."""
    return np.round((roots * 10) ** 2).astype(np.float32)


def movement(before: Observation, action: int, after: Observation) -> Offset | None:
    """Infer how the player moved in a step from the observations before and after the step.

    If the cell ahead of the player was visible, the movement is certain, because the player does not move into a solid
    block, water, lava or a mob. If the cell ahead of the player was dark, the cells that are visible in both
    observations are compared under two assumptions: that the player stayed, and that the player moved. The result
    follows the assumption under which fewer cells differ; if equally many cells differ, the result is None.
    """
    if action not in _MOVES or before["flags"][:2].any():
        return 0, 0
    right, down = OFFSETS[action - 1]
    row, column = MIDDLE[0] + down, MIDDLE[1] + right
    code = before["block"][row, column]
    if code != DARK:
        return (right, down) if _FREE[code] and not before["mob"][row, column] else (0, 0)
    stayed = _differences(before["block"], after["block"], 0, 0)
    moved = _differences(before["block"], after["block"], right, down)
    return None if stayed == moved else (right, down) if moved < stayed else (0, 0)


def movements(before: Observation, actions: np.ndarray[Any, Any], after: Observation) -> list[Offset | None]:
    """Return the result of :func:`movement` for each environment of a batch."""
    moved: list[Offset | None] = [(0, 0)] * len(actions)
    for lane in np.flatnonzero(np.isin(actions, _MOVES)).tolist():
        seen = ({key: o[key][lane] for key in ("block", "mob", "flags")} for o in (before, after))
        moved[lane] = movement(next(seen), int(actions[lane]), next(seen))
    return moved


def _differences(before: np.ndarray[Any, Any], after: np.ndarray[Any, Any], right: int, down: int) -> float:
    """Return the share of cells that differ, among the cells that are visible in both grids, if the player moved by
    (``right``, ``down``). Return 1 if no cell is visible in both grids (before and after the step).
    """
    old = before[max(0, down) : HEIGHT + min(0, down), max(0, right) : WIDTH + min(0, right)]
    new = after[max(0, -down) : HEIGHT + min(0, -down), max(0, -right) : WIDTH + min(0, -right)]
    both = (old != DARK) & (new != DARK)
    return float((old != new)[both].mean()) if both.any() else 1.0


def cause(body: Any) -> str:
    """Return why an episode terminated, from the array ``body`` of its last observation."""
    return "the player died" if body[0] <= 0 else "the necromancer is defeated"
