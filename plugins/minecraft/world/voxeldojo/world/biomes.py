"""The biomes of the Overworld. This module has the map of biomes, and arrays with the height and the plants of each
biome. The arrays of this module are indexed by the game's biome id.

The file ``data/biomes.csv`` has the id, height, climate and plants of each biome, and its first lines name the sources.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from voxeldojo.errors import UnknownNameError
from voxeldojo.names import rows
from voxeldojo.world.blocks import ID as BLOCK
from voxeldojo.world.jit import jit, part
from voxeldojo.world.land import FREEZES
from voxeldojo.world.noise import flat_noise, salted
from voxeldojo.world.rng import at

TREES: Final = ("oak", "birch", "spruce", "jungle", "acacia", "dark_oak")
FLORAS: Final = (
    *("plain", "sunflower", "forest", "desert", "hills", "taiga", "swamp", "jungle", "savanna", "mushroom"),
)
_ROWS: Final = rows("biomes.csv")
NAMES: Final = {int(row["id"]): row["name"] for row in _ROWS}
"""The game's id -> MineDojo's name."""
ID: Final = {name: number for number, name in NAMES.items()}

BASE, VARIATION, TEMPERATURE, RAINFALL, TREES_A_CHUNK, GRASS, FLOWERS = (np.zeros(256) for _ in range(7))
TOP, FILLER, FLORA = (np.zeros(256, np.int64) for _ in range(3))
TREE_SHARE = np.zeros((256, len(TREES)), np.uint8)
"""Cumulative share of each kind of tree, out of 255. Each row ends at 255."""
for _row in _ROWS:
    _id = int(_row["id"])
    for _array, _column in (
        *((BASE, "base"), (VARIATION, "variation"), (TEMPERATURE, "temperature"), (RAINFALL, "rainfall")),
        *((TREES_A_CHUNK, "trees"), (GRASS, "grass"), (FLOWERS, "flowers")),
    ):
        _array[_id] = float(_row[_column])
    TOP[_id], FILLER[_id], FLORA[_id] = BLOCK[_row["top"]], BLOCK[_row["filler"]], FLORAS.index(_row["flora"])
    _weights = dict(_part.split(":") for _part in _row["kinds"].split())
    _shares = np.cumsum([float(_weights.get(_kind, "0")) for _kind in TREES])
    TREE_SHARE[_id] = np.round(255 * _shares / _shares[-1])

COLD, MILD, HOT = (
    np.array([ID[name] for name, weight in weights for _ in range(weight)])
    for weights in (
        (("taiga", 4), ("ice_plains", 2), ("cold_taiga", 2), ("ice_mountains", 1), ("extreme_hills", 2)),
        (
            *(("plains", 7), ("forest", 8), ("birch_forest", 4), ("extreme_hills", 5), ("swampland", 2)),
            *(("roofed_forest", 1), ("flower_forest", 1), ("sunflower_plains", 1)),
        ),
        (("desert", 5), ("savanna", 3), ("plains", 3), ("jungle", 2), ("mesa", 1)),
    )
)
"""Biomes of a map cell in each climate. Repetitions give the proportions."""
CELL: Final = 104
"""Columns between the centres of neighbouring cells of the map."""
OCEAN, BEACH, RIVER, FROZEN_RIVER, STONE_BEACH, PLAINS = (
    ID[name] for name in ("ocean", "beach", "river", "frozen_river", "stone_beach", "plains")
)
RIVER_BED, BANK = 0.035, 0.09
"""Thresholds of the absolute river noise. A column below the first threshold is a river. In a world whose only biome is
a river, a column above the second threshold has the land of plains.
"""
for _array in [value for value in globals().values() if isinstance(value, np.ndarray)]:
    _array.flags.writeable = False


def biome_id(biome: str | None) -> int:
    """Return the id of a biome by its name, or -1 for None.

    :raises UnknownNameError: the world does not have the biome. The embedded world lacks the biomes of the Nether and
        of the End.
    """
    if biome is None:
        return -1
    if biome not in ID:
        raise UnknownNameError("biome", biome, ID, "The world has the biomes of the Overworld.")
    return ID[biome]


@part
def _cell_biome(seed: np.uint64, cell_x: int, cell_z: int) -> int:
    """Return the biome of a cell. The climate changes over several cells."""
    warmth = flat_noise(salted(seed, 3), cell_x / 2.6 + 0.37, cell_z / 2.6 + 0.71)
    chance = at(seed, 4, cell_x, cell_z)
    if warmth < -0.3:
        return int(COLD[int(chance * len(COLD))])
    if warmth > 0.25:
        return int(HOT[int(chance * len(HOT))])
    return int(MILD[int(chance * len(MILD))])


@part
def _bend(seed: np.uint64, x: float, z: float) -> float:
    """Return the noise that places rivers. A column with a noise near 0 belongs to a river."""
    return flat_noise(salted(seed, 2), x / 170.0 + 0.5, z / 170.0 + 0.5)


@part
def biome_at(seed: np.uint64, x: int, z: int, fixed: int) -> int:
    """Return the biome of a column. If ``fixed`` is not -1, every column has the biome ``fixed``; with -1, the biome of
    a column follows from the generated map of cells, rivers, shores and seas.
    """
    if fixed >= 0:
        return fixed
    warp = salted(seed, 1)
    wx = x + 20.0 * flat_noise(warp, x / 38.0, z / 38.0)
    wz = z + 20.0 * flat_noise(warp, x / 38.0 + 97.3, z / 38.0 + 41.9)
    sea = flat_noise(salted(seed, 0), wx / 230.0 + 0.5, wz / 230.0 + 0.5) + 0.1 * flat_noise(warp, wx / 60.0, wz / 60.0)
    if sea < -0.5:
        return OCEAN
    column, row = int(wx // CELL), int(wz // CELL)
    best, best_x, best_z = 1e18, column, row
    for cell_x in range(column - 1, column + 2):
        for cell_z in range(row - 1, row + 2):
            dx = wx - (cell_x + 0.15 + 0.7 * at(seed, 5, cell_x, cell_z)) * CELL
            dz = wz - (cell_z + 0.15 + 0.7 * at(seed, 6, cell_x, cell_z)) * CELL
            if dx * dx + dz * dz < best:
                best, best_x, best_z = dx * dx + dz * dz, cell_x, cell_z
    biome = _cell_biome(seed, best_x, best_z)
    if sea < -0.44:
        return STONE_BEACH if BASE[biome] > 0.8 else BEACH
    if abs(_bend(seed, wx, wz)) < RIVER_BED:
        return FROZEN_RIVER if TEMPERATURE[biome] < FREEZES else RIVER
    return biome


@jit
def chart(seed: np.uint64, fixed: int, west: int, north: int, apart: int, lie: bool, biomes: NDArray[np.uint8]) -> None:
    """Write the biomes of a square of columns, which are ``apart`` blocks from one another, to ``biomes`` (x, z), from
    the square's north-west corner.

    :param lie: whether the caller computes the height of the terrain from the biomes. If ``lie`` is True and the only
        biome of the world is a river, columns away from the river count as plains, so that the river has banks.
    """
    for i in range(biomes.shape[0]):
        for k in range(biomes.shape[1]):
            x, z = west + apart * i, north + apart * k
            biomes[i, k] = biome_at(seed, x, z, fixed)
            if lie and (fixed in (RIVER, FROZEN_RIVER)) and abs(_bend(seed, x, z)) > BANK:
                biomes[i, k] = PLAINS
