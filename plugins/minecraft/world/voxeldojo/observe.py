"""The world as MineDojo's dictionary: ``spaces.observation_space``, filled anew each time; nothing of it changes later.

What lies beyond a space's bounds is told as the bound: the temperature of a desert is 2, MineDojo's space ends at 1.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from voxeldojo.glance import FLAGS, NUMBERS, WHOLE, Glance
from voxeldojo.masks import told as told_masks
from voxeldojo.names import EQUIPMENT, INVENTORY, spaced
from voxeldojo.spaces import DAMAGE, DAMAGE_KINDS, LIFE, LOCATION
from voxeldojo.world.items import NAMES as ITEM_NAMES

_SPACED: Final = np.array([spaced(name) for name in ITEM_NAMES])
_EQUIPMENT: Final = np.array(EQUIPMENT)
_BOUNDS: Final = {**LIFE, **LOCATION, **DAMAGE, **dict.fromkeys("xyz", (-640_000.0, 640_000.0))}
_LOW, _HIGH = (np.array([_BOUNDS[name][end] for name in NUMBERS], np.float32) for end in (0, 1))
_AT: Final = {name: slice(index, index + 1) for index, name in enumerate(NUMBERS)}
_LIFE, _LOCATION, _DAMAGE = (tuple((name, _AT[name]) for name in group) for group in (LIFE, LOCATION, DAMAGE))
_POSITION: Final = slice(NUMBERS.index("x"), NUMBERS.index("z") + 1)
_KINDS: Final = tuple((name, FLAGS.index(name)) for name in DAMAGE_KINDS)
_PLACES: Final = tuple((name, WHOLE.index(name)) for name in ("biome_id", "is_raining", "can_see_sky"))
_SLEEPS: Final = WHOLE.index("is_sleeping")


def _slots(seen: Glance, which: slice | NDArray[np.int64]) -> dict[str, Any]:
    return {
        "name": _SPACED[seen.kinds[0, which]],
        "variant": seen.kinds[1, which],
        "quantity": seen.amounts[0, which],
        "max_durability": seen.amounts[1, which],
        "cur_durability": seen.amounts[2, which],
    }


def observe(seen: Glance) -> dict[str, Any]:
    """All but ``delta_inv``, ``voxels``, ``rays`` and ``rgb``. Leaves are views of a glance's arrays."""
    numbers = np.clip(seen.numbers, _LOW, _HIGH)
    life: dict[str, Any] = {name: numbers[at] for name, at in _LIFE}
    life["is_sleeping"] = seen.whole[_SLEEPS]
    location: dict[str, Any] = {name: numbers[at] for name, at in _LOCATION}
    location["pos"] = numbers[_POSITION]
    location.update((name, np.array(seen.whole[at])) for name, at in _PLACES)
    damage: dict[str, Any] = {name: numbers[at] for name, at in _DAMAGE}
    damage.update((name, np.array(seen.flags[at])) for name, at in _KINDS)
    return {
        "inventory": _slots(seen, slice(0, INVENTORY)),
        "equipment": _slots(seen, _EQUIPMENT),
        "life_stats": life,
        "location_stats": location,
        "nearby_tools": {"table": np.array(seen.flags[0]), "furnace": np.array(seen.flags[1])},
        "damage_source": damage,
        "masks": told_masks(seen.masks),
    }
