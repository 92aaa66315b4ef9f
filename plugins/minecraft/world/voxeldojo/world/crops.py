"""The crops, as a table for Python code and as arrays for kernels (compiled functions). An array of this module is
indexed by the id of a block.

The table of crops is ``data/crops.csv``, whose first lines name the sources. ``World.level`` holds the age of a crop
and the moisture of farmland.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voxeldojo.names import rows
from voxeldojo.world.blocks import BLOCKS, FARMLAND, ID, Drop, rare_drops
from voxeldojo.world.constants import WET
from voxeldojo.world.items import ID as ITEM


class Crop(NamedTuple):
    """One kind of crop. The block's own item is its seed.

    :ivar block: the key of the block.
    :ivar ripe: the age of the ripe crop, 1 to 7. A planted crop has the age 0.
    :ivar rests: in one of ``rests`` random ticks, the crop does not grow; 0 means that it never rests.
    :ivar low: the height of the box that rays hit at the age 0, in sixteenths of a block.
    :ivar taller: by how much each age increases the height of this box, in sixteenths of a block.
    :ivar crop: the item of which a ripe crop drops one.
    :ivar seeds: the number of seeds that a ripe crop drops at most.
    :ivar rare: the further drops of a ripe crop, at most one.
    """

    block: str
    ripe: int
    rests: int
    low: int
    taller: int
    crop: str
    seeds: int
    rare: tuple[Drop, ...]


def _crop(row: dict[str, str]) -> Crop:
    numbers = {name: int(row[name]) for name in ("ripe", "rests", "low", "taller", "seeds")}
    return Crop(block=row["block"], crop=row["crop"], rare=rare_drops(row["rare"]), **numbers)


TABLE: Final = tuple(_crop(row) for row in rows("crops.csv"))


def _filled(values: dict[str, float]) -> NDArray[np.float64]:
    array = np.zeros(BLOCKS)
    for key, value in values.items():
        array[ID[key]] = value
    return array


RIPE, RESTS, SEEDS = (
    _filled({crop.block: getattr(crop, name) for crop in TABLE}).astype(np.int64) for name in ("ripe", "rests", "seeds")
)
"""``RIPE`` is 0 for blocks that are no crop."""
PRODUCE = _filled({crop.block: ITEM[crop.crop] for crop in TABLE}).astype(np.int64)
SEED_CHANCE = _filled({crop.block: (crop.ripe + 1) / (2 * crop.ripe) for crop in TABLE})
"""The probability of each of the seeds of a ripe crop (``BlockCrops.dropBlockAsItemWithChance``)."""
RARE = _filled({crop.block: ITEM[drop.item] for crop in TABLE for drop in crop.rare}).astype(np.int64)
RARE_CHANCE = _filled({crop.block: drop.chance for crop in TABLE for drop in crop.rare})
LOW, TALLER = (_filled({crop.block: getattr(crop, name) / 16 for crop in TABLE}) for name in ("low", "taller"))
"""In blocks."""
MOST_LEVEL = np.where(np.arange(BLOCKS) == FARMLAND, WET, RIPE)
"""The highest age of a crop, and the highest moisture of farmland; 0 for all other blocks."""
TICKS = MOST_LEVEL > 0
"""Whether a block has random ticks."""

for _array in (RIPE, RESTS, SEEDS, PRODUCE, SEED_CHANCE, RARE, RARE_CHANCE, LOW, TALLER, MOST_LEVEL, TICKS):
    _array.flags.writeable = False
