"""Places small plants (flowers, grass, mushrooms, cacti, sugar cane, pumpkins, lily pads) and snow. Each plant occupies
a single column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.biomes import FLORA, FLORAS, FLOWERS, GRASS, TEMPERATURE
from voxeldojo.world.blocks import AIR, CACTUS, DIRT, FULL, ID, LIQUID, OPACITY, REEDS, SAND, WATER
from voxeldojo.world.blocks import GRASS as TURF
from voxeldojo.world.constants import SEA_LEVEL
from voxeldojo.world.jit import jit, part
from voxeldojo.world.land import COOLS_ABOVE, COOLS_BY, COOLS_EVERY, FREEZES
from voxeldojo.world.noise import flat_noise, salted
from voxeldojo.world.rng import at
from voxeldojo.world.state import CHUNK, HEIGHT
from voxeldojo.world.terrain import MARGIN

DANDELION, POPPY, ORCHID, TALLGRASS, FERN, DEADBUSH = (
    ID[key] for key in ("dandelion", "poppy", "blue_orchid", "tallgrass", "fern", "deadbush")
)
LILY, SNOW, ICE, MYCELIUM, RED_SAND, BROWN_MUSHROOM, RED_MUSHROOM, UPPER = (
    ID[key]
    for key in (
        *("waterlily", "snow_layer", "ice", "mycelium", "red_sand"),
        *("brown_mushroom", "red_mushroom", "double_plant_top"),
    )
)
MEADOW = np.array([ID[key] for key in ("azure_bluet", "red_tulip", "orange_tulip", "white_tulip", "oxeye_daisy")])
GARDEN = np.array([ID[key] for key in ("allium", "azure_bluet", "red_tulip", "pink_tulip", "oxeye_daisy")])
PLAIN, SUNNY, DESERT, SWAMP, TAIGA, JUNGLE = (
    FLORAS.index(name) for name in ("plain", "sunflower", "desert", "swamp", "taiga", "jungle")
)
_SCATTERED = (
    # plant, share of the grass columns, floras where it grows (none means all)
    ("brown_mushroom", 0.004, "taiga swamp mushroom"),
    ("red_mushroom", 0.002, "taiga swamp mushroom"),
    ("brown_mushroom", 0.0005, ""),
    ("red_mushroom", 0.0002, ""),
    ("melon_block", 0.004, "jungle"),
    ("sunflower", 0.02, "sunflower"),
    ("rose_bush", 0.0015, "forest"),
    ("lilac", 0.0015, "forest"),
    ("peony", 0.001, "forest"),
)
SCATTERED = np.array([ID[what] for what, _, _ in _SCATTERED])
SHARES = np.array(
    [[share * (not where or flora in where.split()) for _, share, where in _SCATTERED] for flora in FLORAS]
)
"""``(floras, things)``"""
PUMPKIN = ID["pumpkin"]
TALL = np.isin(np.arange(256), [ID[key] for key in ("sunflower", "rose_bush", "lilac", "peony")])
"""Blocks that have an upper half."""


@part
def _on_turf(seed: np.uint64, x: int, z: int, biome: int) -> int:
    """Return the plant that grows on the grass block of a column, or ``AIR`` for no plant."""
    flora, chance = int(FLORA[biome]), at(seed, 62, x, z)
    clump = flat_noise(salted(seed, 63), x / 11.0, z / 11.0)
    flowers = FLOWERS[biome] * (2.0 if clump < -0.15 else 0.4)
    if chance < flowers:
        which = chance / flowers
        # the noise selects the kind, so that equal kinds form patches; kinds near the ends of the noise's range are
        # rarer
        patch = flat_noise(salted(seed, 60), x / 21.0, z / 21.0)
        if flora == SWAMP:
            return ORCHID
        if FLOWERS[biome] > 0.2:
            return int(GARDEN[int(len(GARDEN) * min(max(0.5 + patch, 0.0), 0.999))])
        if patch > 0.3 and flora in (PLAIN, SUNNY):
            return int(MEADOW[int(len(MEADOW) * which)])
        return DANDELION if which < 0.6 else POPPY
    chance -= flowers
    grass = GRASS[biome] * min(max(1.0 + 3.0 * clump, 0.1), 2.0)
    if chance < grass:
        return FERN if flora == TAIGA or (flora == JUNGLE and chance < 0.3 * grass) else TALLGRASS
    chance -= grass
    for thing in range(len(SCATTERED)):
        chance -= SHARES[flora, thing]
        if chance < 0.0:
            return int(SCATTERED[thing])
    pumpkins = chance < 0.015 and flat_noise(salted(seed, 64), x / 9.0, z / 9.0) > 0.62
    return PUMPKIN if pumpkins else AIR


@part
def _beside(chunk: NDArray[np.uint8], dx: int, y: int, dz: int, block: int) -> int:
    """Count the neighbouring blocks of a cell that are ``block``. Blocks of other chunks do not count."""
    count = 0
    for side in range(4):
        i, k = dx + (side == 0) - (side == 1), dz + (side == 2) - (side == 3)
        if 0 <= i < CHUNK and 0 <= k < CHUNK and chunk[i, k, y] == block:
            count += 1
    return count


@part
def _column(seed: np.uint64, x: int, z: int, chunk: NDArray[np.uint8], biome: int, y: int) -> None:
    """Place a plant on the block at height ``y``, which has air above it."""
    dx, dz = x % CHUNK, z % CHUNK
    on, chance, flora = chunk[dx, dz, y], at(seed, 66, x, z), int(FLORA[biome])
    plant, tall = AIR, 1
    if (
        on in (TURF, DIRT, SAND)
        and _beside(chunk, dx, y, dz, WATER) > 0
        and chance < 0.35
        and flat_noise(salted(seed, 67), x / 17.0, z / 17.0) > 0.15
    ):
        plant, tall = REEDS, 2 + int(3.0 * at(seed, 68, x, z))
    elif on in (SAND, RED_SAND) and flora == DESERT and chance < 0.006:
        plant, tall = CACTUS, 1 + int(3.0 * at(seed, 68, x, z))
    elif on in (SAND, RED_SAND) and flora == DESERT and chance < 0.014:
        plant = DEADBUSH
    elif on == TURF:
        plant = _on_turf(seed, x, z, biome)
        if TALL[plant]:
            tall = 2
    elif on == MYCELIUM and chance < 0.03:
        plant = BROWN_MUSHROOM if chance < 0.015 else RED_MUSHROOM
    elif on == WATER and flora == SWAMP and y == SEA_LEVEL - 1 and chance < 0.06:
        plant = LILY
    for layer in range(y + 1, y + 1 + tall):
        # a cactus needs air on all four sides, and the blocks beyond the border of the chunk are not known here
        if plant == CACTUS and _beside(chunk, dx, layer, dz, AIR) < 4:
            return
        if chunk[dx, dz, layer] != AIR:
            if TALL[plant]:
                chunk[dx, dz, y + 1] = AIR
            return
        chunk[dx, dz, layer] = UPPER if TALL[plant] and layer > y + 1 else plant


@jit
def plant(seed: np.uint64, west: int, north: int, chunk: NDArray[np.uint8], biome: NDArray[np.uint8]) -> None:
    """Place plants on the ground of every column, also below leaves, and place snow in cold places."""
    for dx in range(CHUNK):
        for dz in range(CHUNK):
            kind, roof = int(biome[dx + MARGIN, dz + MARGIN]), 0
            for y in range(HEIGHT - 6, 40, -1):
                block = chunk[dx, dz, y]
                if block == AIR:
                    continue
                roof = max(roof, y)
                if FULL[block] or LIQUID[block]:
                    if chunk[dx, dz, y + 1] == AIR:
                        _column(seed, west + dx, north + dz, chunk, kind, y)
                    break
            warmth = TEMPERATURE[kind] - max(roof - COOLS_ABOVE, 0) * COOLS_BY / COOLS_EVERY
            if warmth < FREEZES and chunk[dx, dz, roof + 1] == AIR:
                block = chunk[dx, dz, roof]
                if OPACITY[block] > 0 and not LIQUID[block] and block != ICE:
                    chunk[dx, dz, roof + 1] = SNOW
