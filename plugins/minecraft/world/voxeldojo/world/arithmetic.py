"""Minimum, maximum and clamp of floats.

The functions of this module replace ``min`` and ``max``, which the compiler numba compiles again for every literal and
every combination of types. The functions of this module are compiled only once.
"""

from __future__ import annotations

from voxeldojo.world.jit import part


@part
def minimum(a: float, b: float) -> float:
    """Return the smaller number."""
    return a if a < b else b


@part
def maximum(a: float, b: float) -> float:
    """Return the larger number."""
    return a if a > b else b


@part
def clamp(value: float, low: float, high: float) -> float:
    """Return the number in the range from ``low`` to ``high`` that is nearest to ``value``."""
    return low if value < low else high if value > high else value
