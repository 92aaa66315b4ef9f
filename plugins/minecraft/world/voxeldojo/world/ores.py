"""Ores and other veins in the stone. The file ``data/veins.csv`` contains the number, size and depth of the veins, and
the sources of these numbers.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voxeldojo.names import rows
from voxeldojo.world.biomes import BASE
from voxeldojo.world.blocks import ID, STONE
from voxeldojo.world.jit import jit, part
from voxeldojo.world.land import (
    EMERALD_LAYERS,
    EMERALD_LEAST,
    EMERALD_LOW,
    EMERALD_MORE,
    MOUNTAINS,
    VEIN_BALLS,
    VEIN_LENGTH,
    VEIN_SINK,
    VEIN_THICKNESS,
    VEIN_TILT,
)
from voxeldojo.world.noise import draw, salted, start
from voxeldojo.world.state import CHUNK, HEIGHT
from voxeldojo.world.terrain import MARGIN, WIDE

_VEINS = rows("veins.csv")
VEIN_BLOCK = np.array([ID[vein["block"]] for vein in _VEINS])
VEIN_TRIES, VEIN_SIZE, VEIN_LOW, VEIN_HIGH = (
    np.array([int(vein[column]) for vein in _VEINS]) for column in ("tries", "size", "low", "high")
)
LAPIS = [vein["block"] for vein in _VEINS].index("lapis_ore")
EMERALD = ID["emerald_ore"]


@part
def _vein(
    stream: NDArray[np.uint64], chunk: NDArray[np.uint8], block: int, size: int, x: float, y: float, z: float
) -> None:
    """Replace stone by a vein. A vein is a row of balls on a slanted line, with the largest balls at the centre.
    Positions of a vein are relative to the chunk's corner.
    """
    angle = math.pi * draw(stream)
    east, south = math.sin(angle) * size / VEIN_LENGTH, math.cos(angle) * size / VEIN_LENGTH
    first, last = y + VEIN_TILT * draw(stream) - VEIN_SINK, y + VEIN_TILT * draw(stream) - VEIN_SINK
    thick = draw(stream) * size / VEIN_THICKNESS
    for step in range(0, size, 1 + size // VEIN_BALLS):
        t = step / size
        mid_x, mid_z = x + east * (1.0 - 2.0 * t), z + south * (1.0 - 2.0 * t)
        mid_y = first + (last - first) * t
        radius = ((4.0 * t * (1.0 - t) + 1.0) * thick + 1.0) * 0.5
        if max(-mid_x, mid_x - CHUNK, -mid_z, mid_z - CHUNK) > radius:
            continue
        for dx in range(max(math.floor(mid_x - radius), 0), min(int(mid_x + radius) + 1, CHUNK)):
            for dz in range(max(math.floor(mid_z - radius), 0), min(int(mid_z + radius) + 1, CHUNK)):
                flat = (dx + 0.5 - mid_x) ** 2 + (dz + 0.5 - mid_z) ** 2
                if flat >= radius * radius:
                    continue
                for layer in range(max(int(mid_y - radius), 0), min(int(mid_y + radius) + 1, HEIGHT)):
                    if flat + (layer + 0.5 - mid_y) ** 2 < radius * radius and chunk[dx, dz, layer] == STONE:
                        chunk[dx, dz, layer] = block


@jit
def veins(
    seed: np.uint64,
    chunk_x: int,
    chunk_z: int,
    chunk: NDArray[np.uint8],
    surface: NDArray[np.int64],
    biome: NDArray[np.uint8],
    stream: NDArray[np.uint64],
) -> None:
    """Add the veins of a chunk, and the parts of the eight neighbours' veins that lie in the chunk, one kind of vein
    after another. The axes of ``chunk`` are x, z, y.
    """
    peak = 0
    for dx in range(MARGIN, MARGIN + CHUNK):
        for dz in range(MARGIN, MARGIN + CHUNK):
            peak = max(peak, surface[dx, dz])
    for kind in range(len(VEIN_BLOCK)):
        block, size = int(VEIN_BLOCK[kind]), int(VEIN_SIZE[kind])
        own = salted(seed, 30 + kind)
        for i in range(-1, 2):
            for k in range(-1, 2):
                for attempt in range(VEIN_TRIES[kind]):
                    start(stream, own + np.uint64(attempt), chunk_x + i, chunk_z + k)
                    x, z = (i + draw(stream)) * CHUNK, (k + draw(stream)) * CHUNK
                    if max(-x, x - CHUNK, -z, z - CHUNK) > size / VEIN_LENGTH + (size / VEIN_THICKNESS + 0.5):
                        continue
                    low, high = VEIN_LOW[kind], VEIN_HIGH[kind]
                    chance = (draw(stream) + draw(stream)) / 2.0 if kind == LAPIS else draw(stream)
                    y = low + (high - low) * chance
                    if y - (size / VEIN_THICKNESS + 0.5 + VEIN_SINK + 1.0) <= peak:  # else the vein is above the stone
                        _vein(stream, chunk, block, size, x, y, z)
    if BASE[biome[WIDE // 2, WIDE // 2]] > MOUNTAINS:
        start(stream, salted(seed, 45), chunk_x, chunk_z)
        for _ in range(EMERALD_LEAST + int(EMERALD_MORE * draw(stream))):
            dx, dz = int(CHUNK * draw(stream)), int(CHUNK * draw(stream))
            y = EMERALD_LOW + int(EMERALD_LAYERS * draw(stream))
            if chunk[dx, dz, y] == STONE:
                chunk[dx, dz, y] = EMERALD
