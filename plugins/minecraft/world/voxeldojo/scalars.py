"""Computes the scalar observations and the inventory (all observations except blocks and pictures) in one call of
compiled code.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voxeldojo.masks import SIZE as MASKS
from voxeldojo.masks import count, fill
from voxeldojo.world.biomes import RAINFALL, TEMPERATURE
from voxeldojo.world.constants import SEA_LEVEL
from voxeldojo.world.items import ARMOR, DURABILITY
from voxeldojo.world.items import NAMES as ITEM_NAMES
from voxeldojo.world.jit import jit
from voxeldojo.world.light import can_see_sky
from voxeldojo.world.nearby import nearby
from voxeldojo.world.state import SIZE, SLOTS, World
from voxeldojo.world.sun import light_level, sky_brightness, sun_brightness

FLOATS: Final = (
    *("life", "armor", "food", "saturation", "xp", "oxygen"),
    *("pitch", "yaw", "rainfall", "temperature", "light_level", "sky_light_level", "sun_brightness", "sea_level"),
    *("damage_amount", "damage_distance", "damage_pitch", "damage_yaw", "hunger_damage"),
    *("x", "y", "z"),
)
"""MineDojo's names of the entries of ``ScalarObservation.floats``."""
FLAGS: Final = (
    *("table", "furnace"),
    *("is_explosion", "is_fire_damage", "is_magic_damage", "is_projectile", "is_unblockable"),
)
"""Names of the entries of ``ScalarObservation.flags``."""
INTEGERS: Final = ("biome_id", "is_raining", "can_see_sky", "is_sleeping")
"""Names of the entries of ``ScalarObservation.integers``."""
QUANTITY, MOST, LEFT = range(3)
ITEM, VARIANT = range(2)


class ScalarObservation(NamedTuple):
    """The scalar observations and the inventory of one observation.

    :ivar floats: the float numbers of the observation, which ``FLOATS`` names, float32 ``(22,)``.
    :ivar flags: the flags of the observation, which ``FLAGS`` names, bool ``(7,)``.
    :ivar integers: the integers of the observation, which ``INTEGERS`` names, int64 ``(4,)``.
    :ivar amounts: the quantity, the maximal durability and the current durability of the items in each slot, float32
        ``(3, SLOTS)``. A durability of -1 means that the item does not wear out.
    :ivar kinds: the item (index into ``items.NAMES``) and the variant in each slot, int64 ``(2, SLOTS)``.
    :ivar counts: the total quantity of each item in the 36 slots of the inventory, float64 ``(items,)``.
    :ivar masks: the array of all masks of valid actions (see the module ``masks``).
    """

    floats: NDArray[np.float32]
    flags: NDArray[np.bool_]
    integers: NDArray[np.int64]
    amounts: NDArray[np.float32]
    kinds: NDArray[np.int64]
    counts: NDArray[np.float64]
    masks: NDArray[np.bool_]


@jit
def _fill(
    world: World,
    n: NDArray[np.float32],
    flags: NDArray[np.bool_],
    integers: NDArray[np.int64],
    amounts: NDArray[np.float32],
    kinds: NDArray[np.int64],
    counts: NDArray[np.float64],
    masks: NDArray[np.bool_],
) -> None:
    p, e, clock = world.player[0], world.events[0], world.clock[0]
    armour = 0
    for i in range(SLOTS):
        slot = world.slots[i]
        most = DURABILITY[slot.item]
        kinds[0, i], kinds[1, i], amounts[0, i] = slot.item, slot.variant, slot.quantity
        amounts[1, i], amounts[2, i] = (most, most - slot.damage) if most > 0 else (-1, -1)
        if 36 <= i < 40:
            armour += ARMOR[slot.item]
    x, y, z = math.floor(p.x), math.floor(p.y + 0.5), math.floor(p.z)
    biome = int(world.biome[min(max(x, 0), SIZE - 1), min(max(z, 0), SIZE - 1)])
    n[0], n[1], n[2], n[3], n[4], n[5] = p.life, armour, p.food, p.saturation, p.xp, max(p.air, 0)
    n[6], n[7], n[8], n[9] = p.pitch, p.yaw, RAINFALL[biome], TEMPERATURE[biome]
    n[10], n[11], n[12], n[13] = light_level(world, x, y, z), sky_brightness(world), sun_brightness(world), SEA_LEVEL
    n[14], n[15], n[16], n[17], n[18] = e.amount, e.distance, e.pitch, e.yaw, e.hunger
    n[19], n[20], n[21] = p.x, p.y, p.z
    table, furnace = nearby(world)
    flags[0], flags[1] = table, furnace
    flags[2], flags[3], flags[4], flags[5], flags[6] = e.explosion, e.fire, e.magic, e.projectile, e.unblockable
    integers[0], integers[1], integers[2], integers[3] = biome, clock.raining, can_see_sky(world, x, y, z), p.sleeping
    count(kinds[0], amounts[0], counts)
    fill(kinds[0], counts, table, furnace, masks)


def read_scalars(world: World) -> ScalarObservation:
    """Return the current scalars of the world in new arrays."""
    scalars = ScalarObservation(
        np.empty(len(FLOATS), np.float32),
        np.empty(len(FLAGS), np.bool_),
        np.empty(len(INTEGERS), np.int64),
        np.empty((3, SLOTS), np.float32),
        np.empty((2, SLOTS), np.int64),
        np.empty(len(ITEM_NAMES)),
        np.empty(MASKS, np.bool_),
    )
    _fill(world, *scalars)
    return scalars


KERNEL: Final[Any] = _fill
"""The compiled function."""
