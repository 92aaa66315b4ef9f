"""Computes the slope of the horizon in all directions from the player's eyes. A ray that rises more steeply than the
horizon meets no block.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.arithmetic import maximum, minimum
from voxeldojo.world.jit import part
from voxeldojo.world.sky import Floats
from voxeldojo.world.state import SIZE, TILE

SECTORS = 128
"""Number of sectors of the full circle."""


@part
def sector(dx: float, dz: float) -> float:
    """Return the position of the direction ``dx``, ``dz`` on a circle that is divided into ``SECTORS`` sectors. The
    integer part of the position on the circle is the index of the sector. ``dx`` and ``dz`` must not both be 0.
    """
    along = dz / (abs(dx) + abs(dz))
    if dx < 0.0:
        along = 2.0 - along
    elif dz < 0.0:
        along = 4.0 + along
    return along * (SECTORS / 4)


@part
def horizon(peak: NDArray[np.int16], x: float, y: float, z: float, sight: float, steepest: Floats) -> None:
    """Fill ``steepest`` ``(SECTORS,)`` with the largest squared slope in each sector from ``x, y, z`` to a block within
    ``sight``, or with an upper bound of this slope.
    """
    for i in range(SECTORS):
        steepest[i] = 0.0
    first_i, last_i = int(maximum((x - sight) / TILE, 0.0)), int(minimum((x + sight) / TILE + 1, SIZE // TILE))
    first_k, last_k = int(maximum((z - sight) / TILE, 0.0)), int(minimum((z + sight) / TILE + 1, SIZE // TILE))
    for i in range(first_i, last_i):
        for k in range(first_k, last_k):
            rise = peak[i, k] + 1 - y
            if rise <= 0.0:
                continue
            west, north = i * TILE - x, k * TILE - z
            run_x = maximum(maximum(west, -west - TILE), 0.0)
            run_z = maximum(maximum(north, -north - TILE), 0.0)
            run = run_x * run_x + run_z * run_z
            if run > sight * sight:
                continue
            slope = rise * rise / run if run > 0.0 else math.inf
            low, high = 2.0 * SECTORS, 0.0
            for corner in range(4):
                at = sector(west + TILE * (corner & 1), north + TILE * (corner >> 1))
                # The circle begins in the east. The range of a tile that lies across this line extends beyond the end
                # of the circle.
                if north < 0.0 <= west and at < SECTORS / 2:
                    at += SECTORS
                low, high = minimum(low, at), maximum(high, at)
            if run == 0.0:
                low, high = 0.0, SECTORS - 1.0
            for at_sector in range(math.floor(low), math.floor(high) + 1):
                if slope > steepest[at_sector % SECTORS]:
                    steepest[at_sector % SECTORS] = slope
