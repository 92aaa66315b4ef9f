"""Defines MineDojo's observation and action space as gymnasium spaces.

The spaces are those of ``sim/handlers/agent/observations`` and ``sim/wrappers/ar_nn`` of MineDojo 0.1. A test compares
the spaces of this module with MineDojo's spaces.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from voxeldojo.names import CRAFTS, EQUIPMENT, INVENTORY
from voxeldojo.text_array import TextArray

CAMERA_INTERVAL: Final = 15.0
"""Degrees between two bins of the camera."""
FUNCTIONS: Final = ("no_op", "use", "drop", "attack", "craft", "equip", "place", "destroy")
"""The choices of head 5 of the action."""
BLOCK_META: Final = 120
INCREASED, DECREASED = 1, 4
"""Number of gains and of losses in ``delta_inv``."""

Shape = tuple[int, ...]


def _floats(low: float, high: float, shape: Shape = (1,)) -> spaces.Box:
    return spaces.Box(low, high, shape, np.float32)


def _ints(low: int, high: int, shape: Shape = ()) -> spaces.Box:
    return spaces.Box(low, high, shape, np.int64)


def _flags(shape: Shape = ()) -> spaces.Box:
    dtype: Any = np.bool_  # gymnasium accepts this argument, although its type annotations do not
    return spaces.Box(0, 1, shape, dtype)


def _slots(count: int) -> spaces.Dict:
    return spaces.Dict(
        {
            "name": TextArray((count,)),
            "variant": spaces.MultiDiscrete([BLOCK_META + 1] * count),
            "quantity": _floats(0, 64, (count,)),
            "max_durability": _floats(-1, np.inf, (count,)),
            "cur_durability": _floats(-1, np.inf, (count,)),
        }
    )


LIFE: Final[Mapping[str, tuple[float, float]]] = {
    "life": (0, 20),
    "armor": (0, 20),
    "food": (0, 20),
    "saturation": (0, 20),
    "xp": (0, 1395),
    "oxygen": (0, 300),
}
LOCATION: Final[Mapping[str, tuple[float, float]]] = {
    "pitch": (-180, 180),
    "yaw": (-180, 180),
    "rainfall": (0, 1),
    "temperature": (0, 1),
    "light_level": (0, 15),
    "sky_light_level": (0, 1),
    "sun_brightness": (0, 1),
    "sea_level": (0, 255),
}
DAMAGE: Final[Mapping[str, tuple[float, float]]] = {
    "damage_amount": (0, 40),
    "damage_distance": (0, np.inf),
    "damage_pitch": (-90, 90),
    "damage_yaw": (-180, 180),
    "hunger_damage": (0, 20),
}
DAMAGE_KINDS: Final = ("is_explosion", "is_fire_damage", "is_magic_damage", "is_projectile", "is_unblockable")
BLOCK_FLAGS: Final = (
    "is_collidable",
    "is_tool_not_required",
    "blocks_movement",
    "is_liquid",
    "is_solid",
    "can_burn",
    "blocks_light",
)
RAY_FLAGS: Final = ("is_tool_not_required", "blocks_movement", "is_liquid", "is_solid", "can_burn")
RAY_DISTANCES: Final = ("block_distance", "entity_distance")
RAY_FLOATS: Final = ("ray_pitch", "ray_yaw", "traced_block_x", "traced_block_y", "traced_block_z")


def _same(names: Iterable[str], space: spaces.Space[Any]) -> dict[str, spaces.Space[Any]]:
    return dict.fromkeys(names, space)


def _voxels(shape: Shape) -> spaces.Dict:
    return spaces.Dict(
        {
            "block_name": TextArray(shape),
            "block_meta": _ints(0, BLOCK_META, shape),
            **_same(BLOCK_FLAGS, _flags(shape)),
            "cos_look_vec_angle": _floats(-1, 1, shape),
        }
    )


def _rays(count: int) -> spaces.Dict:
    shape = (count,)
    return spaces.Dict(
        {
            "block_name": TextArray(shape),
            "block_meta": _ints(0, BLOCK_META, shape),
            "harvest_level": _ints(-1, 4, shape),
            **_same(RAY_FLAGS, _flags(shape)),
            "entity_name": TextArray(shape),
            **_same(RAY_DISTANCES, _floats(-1, np.inf, shape)),
            **_same(RAY_FLOATS, _floats(-np.inf, np.inf, shape)),
        }
    )


def _delta() -> spaces.Dict:
    return spaces.Dict(
        {
            f"{sign}_{key}_by_{cause}": TextArray((n,)) if key == "name" else _floats(0, 64, (n,))
            for sign, n in (("inc", INCREASED), ("dec", DECREASED))
            for key in ("name", "quantity")
            for cause in ("craft", "other")
        }
    )


def observation_space(
    image_size: tuple[int, int] | None = None, voxels: Shape | None = None, rays: int = 0
) -> spaces.Dict:
    """Return the observation space of ``MineDojoEnv``, which is that of ``minedojo.make(...)``.

    :param image_size: the height and width of the key ``rgb`` in pixels; with None, the space has no key ``rgb``.
    :param voxels: the number of blocks of the key ``voxels`` along x, y and z; with None, the space has no key
        ``voxels``.
    :param rays: the number of rays of the key ``rays``; with 0, the space has no key ``rays``.
    """
    parts: dict[str, spaces.Space[Any]] = {
        "inventory": _slots(INVENTORY),
        "equipment": _slots(len(EQUIPMENT)),
        "life_stats": spaces.Dict(
            {**{name: _floats(*bounds) for name, bounds in LIFE.items()}, "is_sleeping": spaces.Discrete(2)}
        ),
        "location_stats": spaces.Dict(
            {
                "pos": _floats(-640_000, 640_000, (3,)),
                **{name: _floats(*bounds) for name, bounds in LOCATION.items()},
                "biome_id": _ints(0, 167),
                "is_raining": _ints(0, 1),
                "can_see_sky": _ints(0, 1),
            }
        ),
        "nearby_tools": spaces.Dict({"table": _flags(), "furnace": _flags()}),
        "damage_source": spaces.Dict(
            {**{name: _floats(*bounds) for name, bounds in DAMAGE.items()}, **_same(DAMAGE_KINDS, _flags())}
        ),
        "masks": spaces.Dict(
            {
                "action_type": _flags((len(FUNCTIONS),)),
                "action_arg": _flags((len(FUNCTIONS), 1)),
                **_same(("equip", "place", "destroy"), _flags((INVENTORY,))),
                "craft_smelt": _flags((len(CRAFTS),)),
            }
        ),
        "delta_inv": _delta(),
    }
    if image_size is not None:
        parts["rgb"] = spaces.Box(0, 255, (3, *image_size), np.uint8)
    if voxels is not None:
        parts["voxels"] = _voxels(voxels)
    if rays:
        parts["rays"] = _rays(rays)
    return spaces.Dict(parts)


def action_space(camera_interval: float = CAMERA_INTERVAL) -> spaces.MultiDiscrete:
    """Return the action space. The eight numbers of an action choose forward or back, left or right, jump, sneak or
    sprint, the pitch, the yaw, a function (such as attack), an item to craft, and a slot.
    """
    bins = math.ceil(360 / camera_interval) + 1
    return spaces.MultiDiscrete([3, 3, 4, bins, bins, len(FUNCTIONS), len(CRAFTS), INVENTORY])


def no_op(camera_interval: float = CAMERA_INTERVAL) -> NDArray[np.int64]:
    """Return the action that does nothing: int64 ``(8,)``. If ``camera_interval`` does not divide 180, the action turns
    the view, as in MineDojo.
    """
    level = math.ceil(360 / camera_interval) // 2
    return np.array([0, 0, 0, level, level, 0, 0, 0])
