"""Computes the shape of the terrain and the materials of the surface; the shape is a density that is interpolated
between the points of a coarse lattice.

As in the game (page World generation of the Minecraft wiki), the biomes around a position determine a height and a
roughness, noise is added, and cells with a positive sum are stone. The terrain is a pure function of the seed and the
position.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.biomes import BASE, FILLER, FLORA, FLORAS, TEMPERATURE, TOP, VARIATION
from voxeldojo.world.blocks import AIR, BEDROCK, DIRT, GRASS, GRAVEL, ID, SAND, STONE, WATER
from voxeldojo.world.constants import SEA_LEVEL
from voxeldojo.world.jit import jit, part
from voxeldojo.world.land import FREEZES, MOUNTAINS
from voxeldojo.world.noise import flat_noise, noise, salted
from voxeldojo.world.rng import at
from voxeldojo.world.state import CHUNK, HEIGHT

SWAMP = FLORAS.index("swamp")
MARGIN = 4
"""Margin in columns around a chunk with a known surface: trees in it reach into the chunk."""
WIDE = CHUNK + 2 * MARGIN
LAYERS = HEIGHT // 8 + 1
CORNERS = WIDE // 4 + 1
REACH = 2
"""Radius of the average of heights, in lattice points."""
CHARTED = CORNERS + 2 * REACH
CLAY, SANDSTONE, HARDENED_CLAY, RED_SAND, ICE = (
    ID[key] for key in ("clay", "sandstone", "hardened_clay", "red_sand", "ice")
)


@jit
def lattice(seed: np.uint64, west: int, north: int, biomes: NDArray[np.uint8], density: NDArray[np.float64]) -> None:
    """Compute the density of the terrain at the points of a lattice. The points of the lattice are 4 columns and 8
    layers apart and begin at the corner of the margin around the chunk.

    :param west, north: the coordinates of the corner at which the points of the lattice begin.
    :param biomes: the biomes of the lattice points and of a margin of ``REACH`` points, ``(CHARTED, CHARTED)``.
    :param density: an output array ``(CORNERS, CORNERS, LAYERS)`` for the density at the lattice points.
    """
    relief, swell = salted(seed, 10), salted(seed, 11)
    for i in range(CORNERS):
        for k in range(CORNERS):
            own = BASE[biomes[i + REACH, k + REACH]]
            total = base = variation = 0.0
            for di in range(2 * REACH + 1):
                for dk in range(2 * REACH + 1):
                    other = biomes[i + di, k + dk]
                    near = 10.0 / math.sqrt((di - REACH) ** 2 + (dk - REACH) ** 2 + 0.2)
                    weight = near / (BASE[other] + 2.0)
                    if BASE[other] > own:
                        weight *= 0.5
                    total += weight
                    base += weight * BASE[other]
                    variation += weight * VARIATION[other]
            x, z = float(west + 4 * i), float(north + 4 * k)
            height = SEA_LEVEL + 1.5 + 17.0 * base / total + 2.0 * flat_noise(swell, x / 140.0, z / 140.0)
            amplitude = 50.0 * (0.9 * variation / total + 0.1)
            for j in range(LAYERS):
                above = 8.0 * j - height
                value = -above if above > 0.0 else -4.0 * above
                if abs(value) < 1.3 * amplitude + 8.0:
                    y = 8.0 * j
                    value += amplitude * (
                        noise(relief, x / 97.0, y / 71.0, z / 97.0)
                        + 0.5 * noise(relief, x / 41.0 + 9.0, y / 37.0, z / 41.0)
                        + 0.25 * noise(relief, x / 19.0 + 5.0, y / 23.0, z / 19.0)
                    )
                density[i, k, j] = value


@jit
def shape(
    density: NDArray[np.float64], column: NDArray[np.float64], chunk: NDArray[np.uint8], surface: NDArray[np.int64]
) -> None:
    """Put stone into the cells with a positive density, and find the highest stone layer of each column.

    :param chunk: an output array ``(CHUNK, CHUNK, HEIGHT)`` for the blocks, with the axes x, z, y.
    :param surface: an output array ``(WIDE, WIDE)`` for the highest stone layer of each column, including the margin.
    :param column: a work array ``(LAYERS,)``.
    """
    for dx in range(WIDE):
        i, fx = dx >> 2, (dx & 3) * 0.25
        for dz in range(WIDE):
            k, fz = dz >> 2, (dz & 3) * 0.25
            for j in range(LAYERS):
                near = density[i, k, j] * (1.0 - fx) + density[i + 1, k, j] * fx
                far = density[i, k + 1, j] * (1.0 - fx) + density[i + 1, k + 1, j] * fx
                column[j] = near * (1.0 - fz) + far * fz
            own = MARGIN <= dx < MARGIN + CHUNK and MARGIN <= dz < MARGIN + CHUNK
            top = 0
            for j in range(LAYERS - 2, -1, -1):
                low, high = column[j], column[j + 1]
                if low <= 0.0 and high <= 0.0:
                    continue
                for step in range(7, -1, -1):
                    if low + (high - low) * step * 0.125 > 0.0:
                        y = 8 * j + step
                        top = max(top, y)
                        if own:
                            chunk[dx - MARGIN, dz - MARGIN, y] = STONE
                if top > 0 and not own:
                    break
            surface[dx, dz] = top


@part
def ground(seed: np.uint64, x: int, z: int, biome: int, surface: int) -> int:
    """Return the block at the surface of a column."""
    top = int(TOP[biome])
    if surface < SEA_LEVEL and top in (GRASS, GRAVEL):
        patch = flat_noise(salted(seed, 12), x / 13.0, z / 13.0) - (0.45 if FLORA[biome] == SWAMP else 0.0)
        if surface < SEA_LEVEL - 1 and -0.6 < patch < -0.42:
            return CLAY
        if patch > 0.36:
            return GRAVEL
        if patch > -0.2:
            return SAND
        return DIRT if surface < SEA_LEVEL - 1 else GRASS
    if top == GRASS and BASE[biome] > MOUNTAINS and flat_noise(salted(seed, 13), x / 29.0, z / 29.0) > 0.33:
        return STONE
    return top


@part
def below(top: int, biome: int, depth: int) -> int:
    """Return the block that is ``depth`` layers (1 or more) below a surface."""
    if top == GRASS:
        return DIRT
    if top in (SAND, RED_SAND) and depth > 3:
        return SANDSTONE if top == SAND else HARDENED_CLAY
    return int(FILLER[biome]) if top == TOP[biome] else top


@jit
def cover(seed: np.uint64, west: int, north: int, chunk: NDArray[np.uint8], biome: NDArray[np.uint8]) -> None:
    """Add soil, sand and water above the stone, and bedrock below the stone.

    :param biome: the biome of each column, ``(WIDE, WIDE)``.
    """
    for dx in range(CHUNK):
        for dz in range(CHUNK):
            x, z, kind = west + dx, north + dz, int(biome[dx + MARGIN, dz + MARGIN])
            thickness = int(3.5 + 1.5 * flat_noise(salted(seed, 14), x / 9.0, z / 9.0) + at(seed, 15, x, z))
            thickness += 5 * (TOP[kind] in (SAND, RED_SAND)) + 8 * (FILLER[kind] == HARDENED_CLAY)
            depth, top = -1, 0
            for y in range(HEIGHT - 1, 0, -1):
                if chunk[dx, dz, y] == AIR:
                    depth = -1
                    if y < SEA_LEVEL:
                        frozen = y == SEA_LEVEL - 1 and TEMPERATURE[kind] < FREEZES
                        chunk[dx, dz, y] = ICE if frozen else WATER
                    continue
                depth += 1
                if depth == 0:
                    top = ground(seed, x, z, kind, y)
                    chunk[dx, dz, y] = top
                elif depth < thickness:
                    chunk[dx, dz, y] = below(top, kind, depth)
                elif y < 40:
                    break
            for y in range(5):
                if at(seed, 16 + y, x, z) * 5.0 < 5.0 - y:
                    chunk[dx, dz, y] = BEDROCK
