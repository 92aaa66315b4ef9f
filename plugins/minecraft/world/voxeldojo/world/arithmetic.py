"""The lesser and the greater of two numbers, and the nearest within bounds.

Numba compiles its own ``min`` and ``max`` anew for every literal and every mixture of types; these once.
"""

from __future__ import annotations

from voxeldojo.world.jit import part


@part
def minimum(a: float, b: float) -> float:
    """The lesser of two."""
    return a if a < b else b


@part
def maximum(a: float, b: float) -> float:
    """The greater of two."""
    return a if a > b else b


@part
def clamp(value: float, low: float, high: float) -> float:
    """The nearest to a value from ``low`` to ``high``."""
    return low if value < low else high if value > high else value
