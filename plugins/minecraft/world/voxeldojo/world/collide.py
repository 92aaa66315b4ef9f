"""Computes collisions of bodies (the player, mobs, items) with blocks. The functions of this module return how far a
body can move along each axis, and whether a body overlaps a block.

A body is a box, ``2 half`` wide and ``tall`` high, whose lower side has the feet at its centre. For collisions, blocks
are boxes, too (``blocks.TOP``, ``blocks.HALF``). As in the game, a block does not stop bodies that already overlap this
block, so that a body can leave a block. At its sides and above, a body keeps the distance ``GAP`` to blocks, so that
rounding errors never move the body into a block. At its lower side, the body rests exactly on the top of a block.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.blocks import AIR, BEDROCK, HALF, TOP
from voxeldojo.world.jit import jit
from voxeldojo.world.state import HEIGHT, SIZE

GAP = 1e-7
"""Distance between a body and the wall that stops it, in blocks. The game has the same value since 1.13."""
GRID = 64.0
"""The tops of all blocks are multiples of 1 / GRID. The resting height of a body is rounded to it."""
Blocks = NDArray[np.uint8]


@jit
def block_at(blocks: Blocks, x: int, y: int, z: int) -> int:
    """Return the block of a cell. Cells above the world are air; cells below the world or beyond its border are
    bedrock.
    """
    if y >= HEIGHT:
        return AIR
    if y < 0 or x < 0 or x >= SIZE or z < 0 or z >= SIZE:
        return BEDROCK
    return int(blocks[x, y, z])


@jit
def overlaps(blocks: Blocks, x: float, y: float, z: float, half: float, tall: float) -> bool:
    """Return whether a body overlaps a block."""
    for cx in range(math.floor(x - half), math.ceil(x + half)):
        for cz in range(math.floor(z - half), math.ceil(z + half)):
            # A fence is one and a half blocks high.
            for cy in range(math.floor(y) - 1, math.ceil(y + tall)):
                block = block_at(blocks, cx, cy, cz)
                top, wide = TOP[block], HALF[block]
                if top <= 0 or cy + top <= y or cy >= y + tall:
                    continue
                if abs(x - (cx + 0.5)) < half + wide and abs(z - (cz + 0.5)) < half + wide:
                    return True
    return False


@jit
def limit(
    blocks: Blocks, axis: int, move: float, low: tuple[float, float, float], high: tuple[float, float, float]
) -> float:
    """Return how far a box from ``low`` to ``high`` can move along ``axis`` (0 x, 1 y, 2 z), at most ``move``."""
    if move == 0.0:
        return 0.0
    x0 = low[0] + (move if axis == 0 and move < 0 else 0.0)
    x1 = high[0] + (move if axis == 0 and move > 0 else 0.0)
    y0 = low[1] + (move if axis == 1 and move < 0 else 0.0)
    y1 = high[1] + (move if axis == 1 and move > 0 else 0.0)
    z0 = low[2] + (move if axis == 2 and move < 0 else 0.0)
    z1 = high[2] + (move if axis == 2 and move > 0 else 0.0)
    one, other = (axis + 1) % 3, (axis + 2) % 3
    for cx in range(math.floor(x0 - GAP), math.ceil(x1 + GAP)):
        for cz in range(math.floor(z0 - GAP), math.ceil(z1 + GAP)):
            for cy in range(math.floor(y0) - 1, math.ceil(y1 + GAP)):
                block = block_at(blocks, cx, cy, cz)
                top, wide = TOP[block], HALF[block]
                if top <= 0:
                    continue
                block_low = (cx + 0.5 - wide, float(cy), cz + 0.5 - wide)
                block_high = (cx + 0.5 + wide, cy + top, cz + 0.5 + wide)
                if low[one] >= block_high[one] or high[one] <= block_low[one]:
                    continue
                if low[other] >= block_high[other] or high[other] <= block_low[other]:
                    continue
                if move > 0:
                    room = block_low[axis] - high[axis]
                    if room >= 0:
                        move = min(move, max(room - GAP, 0.0))
                else:
                    room = block_high[axis] - low[axis]
                    if room <= 0:
                        move = max(move, min(room + (0.0 if axis == 1 else GAP), 0.0))
    return move


@jit
def slide(
    blocks: Blocks, x: float, y: float, z: float, half: float, tall: float, dx: float, dy: float, dz: float
) -> tuple[float, float, float]:
    """Move a body by up to ``dx``, ``dy``, ``dz`` and return the body's new position. As in the game, a body moves
    along the axes in the order y, x, z.

    If the returned x is not ``x + dx``, a block stopped the body along the x axis; this also holds for y and z.
    """
    got = limit(blocks, 1, dy, (x - half, y, z - half), (x + half, y + tall, z + half))
    y = y + got if got == dy else round((y + got) * GRID) / GRID if dy < 0 else y + got
    x += limit(blocks, 0, dx, (x - half, y, z - half), (x + half, y + tall, z + half))
    z += limit(blocks, 2, dz, (x - half, y, z - half), (x + half, y + tall, z + half))
    return x, y, z
