"""Computes gradient noise and random streams for the terrain generator. All values of this module are pure functions of
a seed and a position.

The noise of the terrain is Perlin's improved noise (Perlin 2002, "Improving Noise") with hashed gradients instead of a
table.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.jit import jit, part
from voxeldojo.world.rng import GAMMA, UNIT, mix

X_PRIME, Y_PRIME, Z_PRIME = (np.uint64(value) for value in (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))
SPREAD = np.uint64(0xFF51AFD7ED558CCD)


@part
def salted(seed: np.uint64, salt: int) -> np.uint64:
    """Derive from the world's seed a separate seed for the purpose that ``salt`` numbers."""
    return mix(seed + GAMMA * np.uint64(salt + 1))


@part
def _corner(seed: np.uint64, x: int, y: int, z: int) -> int:
    """Return four bits of the hash of a lattice point."""
    bits = seed ^ (np.uint64(x) * X_PRIME) ^ (np.uint64(y) * Y_PRIME) ^ (np.uint64(z) * Z_PRIME)
    bits = (bits ^ (bits >> np.uint64(32))) * SPREAD
    return int(bits >> np.uint64(60))


@part
def _fade(t: float) -> float:
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)


@part
def _slope(gradient: int, x: float, y: float, z: float) -> float:
    """Return the dot product of an offset with one of twelve edge directions of a cube (four of the directions occur
    twice).
    """
    u = x if gradient < 8 else y
    v = y if gradient < 4 else (x if gradient in (12, 14) else z)
    return (-u if gradient & 1 else u) + (-v if gradient & 2 else v)


@jit
def noise(seed: np.uint64, x: float, y: float, z: float) -> float:
    """Return smooth noise in [-1, 1], which is 0 at integer coordinates and has about one extremum per unit."""
    x0, y0, z0 = math.floor(x), math.floor(y), math.floor(z)
    fx, fy, fz = x - x0, y - y0, z - z0
    u, v, w = _fade(fx), _fade(fy), _fade(fz)
    total = 0.0
    for corner in range(8):
        i, j, k = corner & 1, (corner >> 1) & 1, corner >> 2
        weight = (u if i else 1.0 - u) * (v if j else 1.0 - v) * (w if k else 1.0 - w)
        total += weight * _slope(_corner(seed, x0 + i, y0 + j, z0 + k), fx - i, fy - j, fz - k)
    return total


@jit
def flat_noise(seed: np.uint64, x: float, z: float) -> float:
    """Return smooth noise over the plane in [-1, 1], with about one extremum per unit."""
    x0, z0 = math.floor(x), math.floor(z)
    fx, fz = x - x0, z - z0
    u, w = _fade(fx), _fade(fz)
    total = 0.0
    for corner in range(4):
        i, k = corner & 1, corner >> 1
        gradient = _corner(seed, x0 + i, 0, z0 + k)
        dx, dz = fx - i, fz - k
        if gradient & 4:
            dx, dz = 0.7071 * (dx + dz), 0.7071 * (dx - dz)
        slope = (-dx if gradient & 1 else dx) + (-dz if gradient & 2 else dz)
        total += (u if i else 1.0 - u) * (w if k else 1.0 - w) * slope
    return total


@part
def start(stream: NDArray[np.uint64], seed: np.uint64, x: int, z: int) -> None:
    """Initialise the random stream of a chunk, a uint64 array ``(1,)``."""
    stream[0] = mix(seed ^ (np.uint64(x) * X_PRIME) ^ (np.uint64(z) * Z_PRIME))


@part
def draw(stream: NDArray[np.uint64]) -> float:
    """Return the next number of a random stream, in [0, 1)."""
    stream[0] += GAMMA
    return float(mix(stream[0]) >> np.uint64(11)) * UNIT
