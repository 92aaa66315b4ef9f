"""Ores and other veins in the stone: how many, how large and how deep in Minecraft 1.11 (Minecraft wiki: Ore)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rlgpt_minecraft.world.biomes import BASE
from rlgpt_minecraft.world.blocks import ID, STONE
from rlgpt_minecraft.world.jit import jit, part
from rlgpt_minecraft.world.noise import draw, salted, start
from rlgpt_minecraft.world.state import CHUNK, HEIGHT
from rlgpt_minecraft.world.terrain import MARGIN, WIDE

_VEINS = (
    # block, tries a chunk, size, lowest layer, first layer above them all; of each try any layer is as likely
    ("dirt", 10, 33, 0, HEIGHT),
    ("gravel", 8, 33, 0, HEIGHT),
    ("granite", 10, 33, 0, 80),
    ("diorite", 10, 33, 0, 80),
    ("andesite", 10, 33, 0, 80),
    ("coal_ore", 20, 17, 0, HEIGHT),
    ("iron_ore", 20, 9, 0, 64),
    ("gold_ore", 2, 9, 0, 32),
    ("redstone_ore", 8, 8, 0, 16),
    ("diamond_ore", 1, 8, 0, 16),
    ("lapis_ore", 1, 7, 0, 32),  # a sum of two numbers: most in layer 16
)
VEIN_BLOCK = np.array([ID[vein[0]] for vein in _VEINS])
VEIN_TRIES, VEIN_SIZE, VEIN_LOW, VEIN_HIGH = (np.array([int(vein[i]) for vein in _VEINS]) for i in range(1, 5))
LAPIS = len(_VEINS) - 1
EMERALD = ID["emerald_ore"]


@part
def _vein(
    stream: NDArray[np.uint64], chunk: NDArray[np.uint8], block: int, size: int, x: float, y: float, z: float
) -> None:
    """A row of balls on a slanted line, thick in the middle; only stone gives way. Places from the chunk's corner."""
    angle = math.pi * draw(stream)
    east, south = math.sin(angle) * size / 8.0, math.cos(angle) * size / 8.0
    first, last = y + 3.0 * draw(stream) - 1.0, y + 3.0 * draw(stream) - 1.0
    thick = draw(stream) * size / 16.0
    for step in range(0, size, 1 + size // 12):
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
    """The veins of a chunk and of the eight around it, as far as they lie in it, kind by kind. ``chunk``: x, z, y."""
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
                    if max(-x, x - CHUNK, -z, z - CHUNK) > size / 8.0 + (size / 16.0 + 0.5):
                        continue
                    low, high = VEIN_LOW[kind], VEIN_HIGH[kind]
                    y = 16.0 * (draw(stream) + draw(stream)) if kind == LAPIS else low + (high - low) * draw(stream)
                    if y - (size / 16.0 + 2.5) <= peak:  # others lie wholly above the stone
                        _vein(stream, chunk, block, size, x, y, z)
    if BASE[biome[WIDE // 2, WIDE // 2]] > 0.7:
        start(stream, salted(seed, 45), chunk_x, chunk_z)
        for _ in range(3 + int(6.0 * draw(stream))):
            dx, dz, y = int(CHUNK * draw(stream)), int(CHUNK * draw(stream)), 4 + int(28.0 * draw(stream))
            if chunk[dx, dz, y] == STONE:
                chunk[dx, dz, y] = EMERALD
