"""One way to compile: cached on disk, IEEE arithmetic, division as numpy does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """``function``, compiled at its first call for each combination of types and kept in numba's cache.

    No fast mathematics: the same seed and actions give the same world on every machine.
    """
    return cast(F, numba.njit(cache=True, error_model="numpy", nogil=True)(function))
