"""Makes the observation, a dict with MineDojo's keys (``spaces.observation_space``). Each observation has new arrays.

The arguments of ``observe`` may have a leading axis, with one row for each world of a batch. If the arguments have a
leading axis, the arrays of the observation have this axis, too.

The values of an observation are clipped to the bounds of their space. The temperature of a desert, for example, is 2,
but MineDojo's space allows at most 1.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from voxeldojo.masks import as_observation as masks_of
from voxeldojo.names import EQUIPMENT, INVENTORY, spaced
from voxeldojo.scalars import FLAGS, FLOATS, INTEGERS, ScalarObservation
from voxeldojo.spaces import DAMAGE, DAMAGE_KINDS, LIFE, LOCATION
from voxeldojo.world.items import NAMES as ITEM_NAMES

_SPACED: Final = np.array([spaced(name) for name in ITEM_NAMES])
_EQUIPMENT: Final = np.array(EQUIPMENT)
_BOUNDS: Final = {**LIFE, **LOCATION, **DAMAGE, **dict.fromkeys("xyz", (-640_000.0, 640_000.0))}
_LOW, _HIGH = (np.array([_BOUNDS[name][end] for name in FLOATS], np.float32) for end in (0, 1))
_AT: Final = {name: (..., slice(index, index + 1)) for index, name in enumerate(FLOATS)}
_LIFE, _LOCATION, _DAMAGE = (tuple((name, _AT[name]) for name in group) for group in (LIFE, LOCATION, DAMAGE))
_POSITION: Final = (..., slice(FLOATS.index("x"), FLOATS.index("z") + 1))
_KINDS: Final = tuple((name, (..., FLAGS.index(name))) for name in DAMAGE_KINDS)
_PLACES: Final = tuple((name, (..., INTEGERS.index(name))) for name in ("biome_id", "is_raining", "can_see_sky"))
_SLEEPS: Final = (..., INTEGERS.index("is_sleeping"))


def _slots(scalars: ScalarObservation, which: slice | NDArray[np.int64]) -> dict[str, Any]:
    return {
        "name": _SPACED[scalars.kinds[..., 0, which]],
        "variant": scalars.kinds[..., 1, which],
        "quantity": scalars.amounts[..., 0, which],
        "max_durability": scalars.amounts[..., 1, which],
        "cur_durability": scalars.amounts[..., 2, which],
    }


def clipped(scalars: ScalarObservation) -> NDArray[np.float32]:
    """Return ``scalars.floats`` within the bounds of the observation's space."""
    return np.clip(scalars.floats, _LOW, _HIGH)


def observe(scalars: ScalarObservation) -> dict[str, Any]:
    """Return the observation without ``delta_inv``, ``voxels``, ``rays`` and ``rgb``. The arrays of the observation
    share memory with the arguments.
    """
    numbers = clipped(scalars)
    life: dict[str, Any] = {name: numbers[at] for name, at in _LIFE}
    life["is_sleeping"] = scalars.integers[_SLEEPS][()]
    location: dict[str, Any] = {name: numbers[at] for name, at in _LOCATION}
    location["pos"] = numbers[_POSITION]
    location.update((name, np.array(scalars.integers[at])) for name, at in _PLACES)
    damage: dict[str, Any] = {name: numbers[at] for name, at in _DAMAGE}
    damage.update((name, np.array(scalars.flags[at])) for name, at in _KINDS)
    return {
        "inventory": _slots(scalars, slice(0, INVENTORY)),
        "equipment": _slots(scalars, _EQUIPMENT),
        "life_stats": life,
        "location_stats": location,
        "nearby_tools": {"table": np.array(scalars.flags[..., 0]), "furnace": np.array(scalars.flags[..., 1])},
        "damage_source": damage,
        "masks": masks_of(scalars.masks),
    }
