"""Checks a world from an unknown source before kernels (compiled functions) use the world. Kernels themselves do not
check indices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.blocks import BLOCKS, VARIANTS
from voxeldojo.world.items import NAMES
from voxeldojo.world.mob_kinds import NAMES as KINDS_OF_MOBS
from voxeldojo.world.state import HEIGHT, QUEUE, RELIT, SIZE, SLOTS, World

FAR: Final = 1e6
"""Upper bound of the absolute value of numbers that have no range in :data:`RANGES`, such as speeds."""
_ITEM: Final = (0, len(NAMES) - 1)
_STACK: Final = {"item": _ITEM, "quantity": (0, 64), "variant": (0, VARIANTS - 1), "damage": (0, 2**15 - 1)}
_PLACE: Final = {"x": (0, SIZE - 1), "y": (0, HEIGHT - 1), "z": (0, SIZE - 1)}
_COLUMN: Final = {"x": (0, SIZE), "z": (0, SIZE)}
RANGES: Final[dict[str, dict[str, tuple[int, int]]]] = {
    "slots": _STACK,
    "drops": {**_STACK, **_COLUMN},
    "mobs": {**_COLUMN, "kind": (0, len(KINDS_OF_MOBS) - 1), "colour": (0, 15)},
    "queue": {**_PLACE, "y": (0, 2 * HEIGHT - 1)},
    "player": {
        **_COLUMN,
        "used_item": _ITEM,
        "held_item": _ITEM,
        "dig_item": _ITEM,
        "selected": (0, min(SLOTS, 9) - 1),
    },
    "clock": {
        "biome": (-1, 255),
        "queue_start": (0, QUEUE - 1),
        "queue_end": (0, QUEUE - 1),
        "relit": (0, 2**31 - 1),
        "sweep": (0, SIZE * SIZE),
        "time": (0, 2**62),
        "tick": (0, 2**62),
    },
}
"""Array, field -> range of the values that kernels use as indices or add without a check."""


def _out(values: NDArray[Any], least: float, most: float) -> bool:
    return bool(values.size) and not (values.min() >= least and values.max() <= most)


def _faults(world: World) -> Iterator[str]:
    if _out(world.blocks, 0, BLOCKS - 1):
        yield "blocks that do not exist"
    if _out(world.level, 0, 8):
        yield "levels above 8"
    if _out(world.generated.view(np.uint8), 0, 1):
        yield "invalid flags of generated chunks"
    if _out(world.top, -1, HEIGHT - 1) or _out(world.peak, -1, HEIGHT - 1):
        yield "columns whose highest block is outside the world"
    if _out(world.relit[: min(int(world.clock["relit"][0]), RELIT)], 0, SIZE * HEIGHT * SIZE - 1):
        yield "light updates outside the world"
    for name in ("slots", "mobs", "drops", "queue", "player", "clock", "events"):
        array: NDArray[Any] = getattr(world, name)
        for field, (kind, *_) in (array.dtype.fields or {}).items():
            values = np.ascontiguousarray(array[field])
            bound = FAR if kind.kind == "f" else 2**62
            least, most = RANGES.get(name, {}).get(field, (-bound, bound))
            if kind == np.bool_:
                values, least, most = values.view(np.uint8), 0, 1
            if kind.kind == "u":
                continue
            if _out(values, least, most):
                yield f"{name} whose {field} is out of range"


def fault(world: World) -> str | None:
    """Return a description of the first fault of a world (an index out of range, a number that is not finite), or
    None.
    """
    return next(_faults(world), None)
