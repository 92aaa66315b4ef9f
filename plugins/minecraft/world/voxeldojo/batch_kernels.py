"""Contains the kernels of a batch of simulators. One call moves, or observes, the players of many worlds."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba.core import types
from numpy.typing import NDArray

from voxeldojo.commands import COMMAND, apply_command, count_statistics
from voxeldojo.masks import SIZE as MASKS
from voxeldojo.scalars import FLAGS, FLOATS, INTEGERS
from voxeldojo.scalars import KERNEL as READ_SCALARS
from voxeldojo.stats import TOTALS
from voxeldojo.world.items import NAMES as ITEM_NAMES
from voxeldojo.world.jit import jit
from voxeldojo.world.lanes import Linked, world_at
from voxeldojo.world.lidar import cast
from voxeldojo.world.state import ACTION, PLAYER, SLOTS
from voxeldojo.world.tick import KERNEL as TICK
from voxeldojo.world.voxels import read_box

_ITEMS: Final = len(ITEM_NAMES)
_LONGS, _DOUBLES = np.zeros((1, 1), np.int64), np.zeros((1, 1))

LINKED: Final = (
    Linked(TICK, types.boolean, np.zeros(1, ACTION)),
    Linked(apply_command, types.none, np.zeros(1, COMMAND)),
    Linked(
        count_statistics,
        types.none,
        *(np.zeros(1, PLAYER), 0, False, np.zeros(len(TOTALS), np.int64), np.zeros(_ITEMS, np.int64)),
    ),
    Linked(
        READ_SCALARS,
        types.none,
        *(np.zeros(len(FLOATS), np.float32), np.zeros(len(FLAGS), np.bool_), np.zeros(len(INTEGERS), np.int64)),
        *(np.zeros((3, SLOTS), np.float32), np.zeros((2, SLOTS), np.int64), np.zeros(_ITEMS)),
        np.zeros(MASKS, np.bool_),
    ),
    Linked(cast, types.none, _DOUBLES, _LONGS, _DOUBLES, _LONGS),
    Linked(read_box, types.none, 0, 0, 0, _LONGS[None], _LONGS[None], np.zeros((1, 1, 1), np.float32)),
)
"""The kernels that the kernels of this module call. The argument ``kernels`` has their addresses, in this order."""
_tick, _apply, _count, _scalars, _cast, _box = (linked.call for linked in LINKED)


@jit
def advance(
    kernels: NDArray[np.int64],
    worlds: NDArray[np.int64],
    moving: NDArray[np.bool_],
    actions: NDArray[np.void],
    commands: NDArray[Any],
    before: NDArray[np.void],
    totals: NDArray[np.int64],
    used: NDArray[np.int64],
    crossed: NDArray[np.bool_],
    dead: NDArray[np.bool_],
    alive: NDArray[np.bool_],
) -> None:
    """Run one tick in each world for which ``moving`` is True.

    :param worlds: the addresses of the worlds (``lanes.addresses``), int64 ``(n, fields)``.
    :param actions: ACTION ``(n,)``.
    :param commands: COMMAND ``(n,)``.
    :param before: a work array, PLAYER ``(1,)``.
    :param totals: the array ``totals`` of ``stats.Statistics``, one row for each world, which is updated in place.
    :param used: the array ``used`` of ``stats.Statistics``, one row for each world, which is updated in place.
    :param crossed: an output array that says for each world whether the player entered another chunk.
    :param dead: an output array that says for each world whether the player is dead.
    :param alive: an output array that says for each world whether the player is not dead and has life left.
    """
    for i in range(len(worlds)):
        if not moving[i]:
            continue
        world, asked = world_at(worlds, i), commands[i]
        if max(asked.craft, asked.equip, asked.place, asked.swap, asked.hotbar) >= 0:
            _apply(kernels[1], (world, commands[i : i + 1]))
        before[0] = world.player[0]
        item = np.int64(world.slots[before[0].selected].item)
        crossed[i] = _tick(kernels[0], (world, actions[i : i + 1]))
        _count(kernels[2], (world, before, item, actions[i].jump, totals[i], used[i]))
        dead[i] = world.player[0].dead
        alive[i] = not dead[i] and world.player[0].life > 0


@jit
def look(
    kernels: NDArray[np.int64],
    worlds: NDArray[np.int64],
    looking: NDArray[np.bool_],
    floats: NDArray[np.float32],
    flags: NDArray[np.bool_],
    integers: NDArray[np.int64],
    amounts: NDArray[np.float32],
    kinds: NDArray[np.int64],
    counts: NDArray[np.float64],
    masks: NDArray[np.bool_],
    rays: NDArray[np.float64],
    found: NDArray[np.int64],
    distances: NDArray[np.float64],
    places: NDArray[np.int64],
    corner: NDArray[np.int64],
    ids: NDArray[np.int64],
    metas: NDArray[np.int64],
    cosines: NDArray[np.float32],
) -> None:
    """Observe each world for which ``looking`` is True. Each array after ``masks`` except ``rays`` and ``corner`` is an
    output of ``lidar.cast`` or ``voxels.read_box``, with one row for each world. The arrays of ``scalars`` are outputs,
    too.

    :param rays: the rays of the lidar; the array may be empty.
    :param corner: the lowest corner of the box of voxels, ``(3,)``. The box may be empty.
    """
    for i in range(len(worlds)):
        if not looking[i]:
            continue
        world = world_at(worlds, i)
        _scalars(kernels[3], (world, floats[i], flags[i], integers[i], amounts[i], kinds[i], counts[i], masks[i]))
        if len(rays) > 0:
            _cast(kernels[4], (world, rays, found[i], distances[i], places[i]))
        if ids[i].size > 0:
            _box(kernels[5], (world, corner[0], corner[1], corner[2], ids[i], metas[i], cosines[i]))
