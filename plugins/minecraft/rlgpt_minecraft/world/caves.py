"""Caves: tunnels that wind through the stone, and pools of water and lava.

Tunnels as in the game (Minecraft wiki: Cave): each begins in some chunk, turns little by little and is a chain of
balls; a chunk draws those of all chunks around from which one may reach it. Up to ``LAVA_LEVEL`` they are full of lava.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rlgpt_minecraft.world.biomes import TEMPERATURE
from rlgpt_minecraft.world.blocks import AIR, BEDROCK, ID, LAVA, STONE, WATER
from rlgpt_minecraft.world.constants import LAVA_LEVEL, SEA_LEVEL
from rlgpt_minecraft.world.jit import jit, part
from rlgpt_minecraft.world.noise import draw, flat_noise, salted, start
from rlgpt_minecraft.world.rng import at, mix
from rlgpt_minecraft.world.state import CHUNK, HEIGHT
from rlgpt_minecraft.world.terrain import MARGIN

LENGTH = 60
"""Steps of a tunnel, one block each."""
RADIUS = 4.0
AROUND = 4
"""Chunks away at which a tunnel may begin and still reach: ``(AROUND + 1) * CHUNK - CHUNK >= LENGTH + RADIUS``."""
SYSTEMS = 0.3
"""Share of chunks where tunnels begin."""
ROOF = 4
"""Layers of ground left over a tunnel, but for the places where caves open."""
ICE = ID["ice"]


@part
def opening(seed: np.uint64, x: int, z: int) -> bool:
    """Whether caves may come to the surface here."""
    return bool(flat_noise(salted(seed, 20), x / 37.0, z / 37.0) > 0.38)


@part
def pool(seed: np.uint64, chunk_x: int, chunk_z: int) -> tuple[int, int, int, int]:
    """Where a chunk may have a pool: column in it, radius (0: none) and what it is full of. Trees keep away from it."""
    chance = at(seed, 22, chunk_x, chunk_z)
    fluid = WATER if chance < 0.05 else LAVA
    radius = 0 if chance > 0.054 else 3 + int(2.0 * at(seed, 23, chunk_x, chunk_z))
    return 6 + int(4.0 * at(seed, 24, chunk_x, chunk_z)), 6 + int(4.0 * at(seed, 25, chunk_x, chunk_z)), radius, fluid


@part
def _limits(
    seed: np.uint64, chunk_x: int, chunk_z: int, surface: NDArray[np.int64], ceiling: NDArray[np.int64]
) -> None:
    """The highest layer that tunnels may take of each column, into ``ceiling`` ``(CHUNK, CHUNK)``."""
    mid_x, mid_z, radius, _ = pool(seed, chunk_x, chunk_z)
    for dx in range(CHUNK):
        for dz in range(CHUNK):
            # the lowest of the surroundings, that no river or lake runs out into a cave at its side
            ground = HEIGHT
            for i in range(-1, 2):
                for k in range(-1, 2):
                    ground = min(ground, surface[dx + MARGIN + 2 * i, dz + MARGIN + 2 * k])
            dry = radius == 0 or max(abs(dx - mid_x), abs(dz - mid_z)) > radius + 3
            if dry and ground > SEA_LEVEL and opening(seed, chunk_x * CHUNK + dx, chunk_z * CHUNK + dz):
                ceiling[dx, dz] = HEIGHT
            else:
                ceiling[dx, dz] = ground - ROOF


@part
def _ball(
    chunk: NDArray[np.uint8], ceiling: NDArray[np.int64], x: float, y: float, z: float, wide: float, high: float
) -> None:
    """Take out a ball, flat at its foot; ``x`` and ``z`` from the chunk's corner."""
    for dx in range(max(int(x - wide), 0), min(int(x + wide) + 1, CHUNK)):
        rx = (dx + 0.5 - x) / wide
        for dz in range(max(int(z - wide), 0), min(int(z + wide) + 1, CHUNK)):
            rz = (dz + 0.5 - z) / wide
            flat = rx * rx + rz * rz
            if flat >= 1.0:
                continue
            for layer in range(max(int(y - high), 1), min(int(y + high) + 1, ceiling[dx, dz] + 1, HEIGHT)):
                ry = (layer + 0.5 - y) / high
                if ry <= -0.7 or flat + ry * ry >= 1.0:
                    continue
                block = chunk[dx, dz, layer]
                if block not in (BEDROCK, WATER, LAVA, ICE):
                    chunk[dx, dz, layer] = LAVA if layer <= LAVA_LEVEL else AIR


@part
def _tunnel(
    stream: NDArray[np.uint64], chunk: NDArray[np.uint8], ceiling: NDArray[np.int64], x: float, y: float, z: float
) -> None:
    """Follow one tunnel from where it begins; places from the chunk's corner."""
    yaw, pitch = 2.0 * math.pi * draw(stream), 0.25 * (draw(stream) - 0.5)
    thick = 0.6 + 1.0 * draw(stream) + 0.9 * draw(stream) * draw(stream)
    turn = climb = 0.0
    steep = draw(stream) < 0.17
    for step in range(LENGTH):
        away = max(-x, x - CHUNK, -z, z - CHUNK)
        if away > LENGTH - step + RADIUS:
            return  # too far to come back
        t = (step + 0.5) / LENGTH
        wide = 1.1 + 4.0 * t * (1.0 - t) * thick
        flat = math.cos(pitch)
        x += math.cos(yaw) * flat
        z += math.sin(yaw) * flat
        y += math.sin(pitch)
        pitch = pitch * (0.92 if steep else 0.7) + climb * 0.1
        yaw += turn * 0.1
        climb = climb * 0.9 + (draw(stream) - draw(stream)) * draw(stream) * 2.0
        turn = turn * 0.75 + (draw(stream) - draw(stream)) * draw(stream) * 4.0
        if away < wide + 1.0:
            _ball(chunk, ceiling, x, y, z, wide, wide)


@part
def _fill_pool(
    seed: np.uint64,
    chunk_x: int,
    chunk_z: int,
    chunk: NDArray[np.uint8],
    surface: NDArray[np.int64],
    biome: NDArray[np.uint8],
) -> bool:
    """Sink a chunk's pool into level ground, if it has both; before tunnels are dug, which leave it alone."""
    mid_x, mid_z, radius, fluid = pool(seed, chunk_x, chunk_z)
    if radius == 0:
        return False
    low, high = HEIGHT, 0
    for dx in range(mid_x - radius - 1, mid_x + radius + 2):
        for dz in range(mid_z - radius - 1, mid_z + radius + 2):
            ground = surface[dx + MARGIN, dz + MARGIN]
            low, high = min(low, ground), max(high, ground)
    warmth = TEMPERATURE[biome[mid_x + MARGIN, mid_z + MARGIN]]
    if low < SEA_LEVEL or high - low > 3 or (fluid == WATER and warmth > 1.0):
        return False
    for dx in range(mid_x - radius, mid_x + radius + 1):
        for dz in range(mid_z - radius, mid_z + radius + 1):
            far = math.sqrt((dx - mid_x) ** 2 + (dz - mid_z) ** 2) / (radius + 0.4)
            far += 0.35 * (at(seed, 26, chunk_x * CHUNK + dx, chunk_z * CHUNK + dz) - 0.7)
            if far >= 1.0:
                continue
            depth = 1 + int(2.5 * (1.0 - far))
            for y in range(low - depth + 1, HEIGHT):
                wet = y <= low
                chunk[dx, dz, y] = fluid if wet else AIR
                if y == low and fluid == WATER and warmth < 0.15:
                    chunk[dx, dz, y] = ICE
            if fluid == LAVA:
                chunk[dx, dz, low - depth] = STONE
    return True


@jit
def carve(
    seed: np.uint64,
    chunk_x: int,
    chunk_z: int,
    chunk: NDArray[np.uint8],
    surface: NDArray[np.int64],
    biome: NDArray[np.uint8],
    ceiling: NDArray[np.int64],
    stream: NDArray[np.uint64],
) -> None:
    """Sink a chunk's pool, and take the tunnels of all chunks around out of it.

    :param chunk: ``(CHUNK, CHUNK, HEIGHT)``. :param surface, biome: ``(WIDE, WIDE)``. :param ceiling: room to work in,
        ``(CHUNK, CHUNK)``. :param stream: the same, ``(1,)``.
    """
    _fill_pool(seed, chunk_x, chunk_z, chunk, surface, biome)
    _limits(seed, chunk_x, chunk_z, surface, ceiling)
    for other_x in range(chunk_x - AROUND, chunk_x + AROUND + 1):
        for other_z in range(chunk_z - AROUND, chunk_z + AROUND + 1):
            start(stream, salted(seed, 21), other_x, other_z)
            if draw(stream) >= SYSTEMS:
                continue
            count = 1 + int(3.0 * draw(stream) * draw(stream)) + 2 * (draw(stream) < 0.25)
            west, north = (other_x - chunk_x) * CHUNK, (other_z - chunk_z) * CHUNK
            for _ in range(count):
                x, z = west + CHUNK * draw(stream), north + CHUNK * draw(stream)
                y = draw(stream) * (draw(stream) * 64.0 + 8.0) + 6.0
                if draw(stream) < 0.3:
                    wide = 2.0 + 2.0 * draw(stream)
                    _ball(chunk, ceiling, x, y, z, wide, wide * 0.6)
                branches = 1 + int(2.0 * draw(stream) * draw(stream) * 1.6)
                for _ in range(branches):
                    before = stream[0]
                    _tunnel(stream, chunk, ceiling, x, y, z)
                    # the next is the same whether this one was followed or lay too far away
                    stream[0] = mix(before)
