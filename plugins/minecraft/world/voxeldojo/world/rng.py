"""The random numbers of the world. Random numbers come from a generator whose state is saved with the world, and from
hashes of positions, which need no state.

The random generator is SplitMix64 (Steele, Lea and Flood 2014, figure 17).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voxeldojo.world.jit import jit, part
from voxeldojo.world.state import World

GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
UNIT = 2.0**-53


@jit
def mix(bits: np.uint64) -> np.uint64:
    """Return the mixed bits of ``bits`` (the finaliser of SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * MIX_1
    bits = (bits ^ (bits >> np.uint64(27))) * MIX_2
    return bits ^ (bits >> np.uint64(31))


@part
def draw(clock: Any) -> float:
    """Return the next random number in [0, 1). The argument is the world's clock record, because kernels pass a record
    faster than a world.
    """
    clock.rng = clock.rng + GAMMA
    return float(mix(clock.rng) >> np.uint64(11)) * UNIT


@part
def normal(clock: Any) -> float:
    """Return the next random number with the standard normal distribution (Box and Muller, 1958)."""
    return math.sqrt(-2.0 * math.log(1.0 - draw(clock))) * math.cos(2.0 * math.pi * draw(clock))


@part
def pick(clock: Any, count: int) -> int:
    """Return the next random integer in [0, count)."""
    return int(draw(clock) * count)


@jit
def uniform(world: World) -> float:
    """Return the next random number in [0, 1)."""
    return draw(world.clock[0])


@jit
def below(world: World, count: int) -> int:
    """Return the next random integer in [0, count)."""
    return pick(world.clock[0], count)


@jit
def at(seed: np.uint64, salt: int, x: int, z: int) -> float:
    """Return a number in [0, 1) that depends only on the seed, the position and ``salt``. Each purpose has its own
    ``salt``.
    """
    bits = mix(seed + GAMMA * np.uint64(salt + 1))
    bits = mix(bits ^ (np.uint64(x & 0xFFFFFFFF) << np.uint64(32)) ^ np.uint64(z & 0xFFFFFFFF))
    return float(bits >> np.uint64(11)) * UNIT
