"""Digs caves, which are winding tunnels in the stone, and pools of water and lava.

Tunnels follow the game (page Cave of the Minecraft wiki). Each tunnel of a cave starts in a chunk and is a chain of
balls with a slowly changing direction. The generation of a chunk digs the tunnels that start in this chunk or in a
chunk near enough to reach this chunk. Tunnels are filled with lava up to the layer ``LAVA_LEVEL``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.biomes import TEMPERATURE
from voxeldojo.world.blocks import AIR, BEDROCK, ID, LAVA, STONE, WATER
from voxeldojo.world.constants import LAVA_LEVEL, SEA_LEVEL
from voxeldojo.world.jit import jit, part
from voxeldojo.world.land import (
    CAVE_BESIDES,
    CAVE_CHUNKS,
    CAVE_CROWD,
    CAVE_CROWD_SHARE,
    CAVE_FLOOR,
    CAVE_FORKS,
    CAVE_LAYERS,
    CAVE_LOW,
    CAVE_MORE,
    CAVE_ROOF,
    CLIMB_KEEPS,
    CLIMB_MORE,
    FREEZES,
    MOUTH_ABOVE,
    MOUTH_SCALE,
    POOL_BRIM,
    POOL_DEPTH,
    POOL_DRY,
    POOL_FIRST,
    POOL_JAG,
    POOL_JAG_OUT,
    POOL_PLACES,
    POOL_RADIUS,
    POOL_SHARE,
    POOL_TILT,
    POOL_WALL,
    POOL_WATER,
    POOL_WIDER,
    ROOM_HEIGHT,
    ROOM_RADIUS,
    ROOM_SHARE,
    ROOM_WIDER,
    STEEP_KEEPS,
    STEEP_SHARE,
    TUNNEL_BENDS,
    TUNNEL_ENDS,
    TUNNEL_KEEPS,
    TUNNEL_LENGTH,
    TUNNEL_RADIUS,
    TUNNEL_SLOPE,
    TUNNEL_WIDENS,
    TUNNEL_WIDER,
    TUNNEL_WIDEST,
    TURN_KEEPS,
    TURN_MORE,
)
from voxeldojo.world.noise import draw, flat_noise, salted, start
from voxeldojo.world.rng import at, mix
from voxeldojo.world.state import CHUNK, HEIGHT
from voxeldojo.world.terrain import MARGIN

AROUND = math.ceil((TUNNEL_LENGTH + TUNNEL_RADIUS) / CHUNK)
"""Maximal distance of a tunnel's start in chunks. A step is one block long."""
ICE = ID["ice"]


@part
def opening(seed: np.uint64, x: int, z: int) -> bool:
    """Return whether a cave can have an opening to the surface in the column at ``x, z``."""
    return bool(flat_noise(salted(seed, 20), x / MOUTH_SCALE, z / MOUTH_SCALE) > MOUTH_ABOVE)


@part
def pool(seed: np.uint64, chunk_x: int, chunk_z: int) -> tuple[int, int, int, int]:
    """Return the column, the radius (0 means no pool) and the fluid of the pool of a chunk. The module ``trees`` also
    calls the function ``pool``, because no tree grows near a pool.
    """
    chance = at(seed, 22, chunk_x, chunk_z)
    fluid = WATER if chance < POOL_WATER else LAVA
    radius = 0 if chance > POOL_SHARE else POOL_RADIUS + int(POOL_WIDER * at(seed, 23, chunk_x, chunk_z))
    mid_x = POOL_FIRST + int(POOL_PLACES * at(seed, 24, chunk_x, chunk_z))
    return mid_x, POOL_FIRST + int(POOL_PLACES * at(seed, 25, chunk_x, chunk_z)), radius, fluid


@part
def _limits(
    seed: np.uint64, chunk_x: int, chunk_z: int, surface: NDArray[np.int64], ceiling: NDArray[np.int64]
) -> None:
    """Fill ``ceiling`` ``(CHUNK, CHUNK)`` with the highest layer of each column that tunnels can remove."""
    mid_x, mid_z, radius, _ = pool(seed, chunk_x, chunk_z)
    for dx in range(CHUNK):
        for dz in range(CHUNK):
            # the minimum over the neighbouring columns, so that water of a river or lake does not flow into a cave
            ground = HEIGHT
            for i in range(-1, 2):
                for k in range(-1, 2):
                    ground = min(ground, surface[dx + MARGIN + 2 * i, dz + MARGIN + 2 * k])
            dry = radius == 0 or max(abs(dx - mid_x), abs(dz - mid_z)) > radius + POOL_WALL
            if dry and ground > SEA_LEVEL and opening(seed, chunk_x * CHUNK + dx, chunk_z * CHUNK + dz):
                ceiling[dx, dz] = HEIGHT
            else:
                ceiling[dx, dz] = ground - CAVE_ROOF


@part
def _ball(
    chunk: NDArray[np.uint8], ceiling: NDArray[np.int64], x: float, y: float, z: float, wide: float, high: float
) -> None:
    """Remove a ball with a flat floor. The position ``x, z`` of the ball is relative to the chunk's corner."""
    for dx in range(max(int(x - wide), 0), min(int(x + wide) + 1, CHUNK)):
        rx = (dx + 0.5 - x) / wide
        for dz in range(max(int(z - wide), 0), min(int(z + wide) + 1, CHUNK)):
            rz = (dz + 0.5 - z) / wide
            flat = rx * rx + rz * rz
            if flat >= 1.0:
                continue
            for layer in range(max(int(y - high), 1), min(int(y + high) + 1, ceiling[dx, dz] + 1, HEIGHT)):
                ry = (layer + 0.5 - y) / high
                if ry <= -CAVE_FLOOR or flat + ry * ry >= 1.0:
                    continue
                block = chunk[dx, dz, layer]
                if block not in (BEDROCK, WATER, LAVA, ICE):
                    chunk[dx, dz, layer] = LAVA if layer <= LAVA_LEVEL else AIR


@part
def _tunnel(
    stream: NDArray[np.uint64], chunk: NDArray[np.uint8], ceiling: NDArray[np.int64], x: float, y: float, z: float
) -> None:
    """Dig one tunnel from its start. The positions of the tunnel are relative to the chunk's corner."""
    yaw, pitch = 2.0 * math.pi * draw(stream), TUNNEL_SLOPE * (draw(stream) - 0.5)
    thick = TUNNEL_WIDER + TUNNEL_WIDENS * draw(stream) + TUNNEL_WIDEST * draw(stream) * draw(stream)
    turn = climb = 0.0
    steep = draw(stream) < STEEP_SHARE
    for step in range(TUNNEL_LENGTH):
        away = max(-x, x - CHUNK, -z, z - CHUNK)
        if away > TUNNEL_LENGTH - step + TUNNEL_RADIUS:
            return  # the tunnel cannot come back into the chunk
        t = (step + 0.5) / TUNNEL_LENGTH
        wide = TUNNEL_ENDS + 4.0 * t * (1.0 - t) * thick
        flat = math.cos(pitch)
        x += math.cos(yaw) * flat
        z += math.sin(yaw) * flat
        y += math.sin(pitch)
        pitch = pitch * (STEEP_KEEPS if steep else TUNNEL_KEEPS) + climb * TUNNEL_BENDS
        yaw += turn * TUNNEL_BENDS
        climb = climb * CLIMB_KEEPS + (draw(stream) - draw(stream)) * draw(stream) * CLIMB_MORE
        turn = turn * TURN_KEEPS + (draw(stream) - draw(stream)) * draw(stream) * TURN_MORE
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
    """Dig the pool of a chunk if the chunk has a pool and the ground is level. The caller digs the tunnels of caves
    after the pool, because tunnels avoid pools.
    """
    mid_x, mid_z, radius, fluid = pool(seed, chunk_x, chunk_z)
    if radius == 0:
        return False
    low, high = HEIGHT, 0
    for dx in range(mid_x - radius - 1, mid_x + radius + 2):
        for dz in range(mid_z - radius - 1, mid_z + radius + 2):
            ground = surface[dx + MARGIN, dz + MARGIN]
            low, high = min(low, ground), max(high, ground)
    warmth = TEMPERATURE[biome[mid_x + MARGIN, mid_z + MARGIN]]
    if low < SEA_LEVEL or high - low > POOL_TILT or (fluid == WATER and warmth > POOL_DRY):
        return False
    for dx in range(mid_x - radius, mid_x + radius + 1):
        for dz in range(mid_z - radius, mid_z + radius + 1):
            far = math.sqrt((dx - mid_x) ** 2 + (dz - mid_z) ** 2) / (radius + POOL_BRIM)
            far += POOL_JAG * (at(seed, 26, chunk_x * CHUNK + dx, chunk_z * CHUNK + dz) - POOL_JAG_OUT)
            if far >= 1.0:
                continue
            depth = 1 + int(POOL_DEPTH * (1.0 - far))
            for y in range(low - depth + 1, HEIGHT):
                wet = y <= low
                chunk[dx, dz, y] = fluid if wet else AIR
                if y == low and fluid == WATER and warmth < FREEZES:
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
    """Dig the pool of a chunk, and all tunnels that reach this chunk.

    :param chunk: the blocks of the chunk, ``(CHUNK, CHUNK, HEIGHT)``.
    :param surface, biome: the height and the biome of each column, ``(WIDE, WIDE)``.
    :param ceiling: a work array ``(CHUNK, CHUNK)``.
    :param stream: a work array ``(1,)``.
    """
    _fill_pool(seed, chunk_x, chunk_z, chunk, surface, biome)
    _limits(seed, chunk_x, chunk_z, surface, ceiling)
    for other_x in range(chunk_x - AROUND, chunk_x + AROUND + 1):
        for other_z in range(chunk_z - AROUND, chunk_z + AROUND + 1):
            start(stream, salted(seed, 21), other_x, other_z)
            if draw(stream) >= CAVE_CHUNKS:
                continue
            count = 1 + int(CAVE_MORE * draw(stream) * draw(stream)) + CAVE_CROWD * (draw(stream) < CAVE_CROWD_SHARE)
            west, north = (other_x - chunk_x) * CHUNK, (other_z - chunk_z) * CHUNK
            for _ in range(count):
                x, z = west + CHUNK * draw(stream), north + CHUNK * draw(stream)
                y = draw(stream) * (draw(stream) * CAVE_LAYERS + CAVE_BESIDES) + CAVE_LOW
                if draw(stream) < ROOM_SHARE:
                    wide = ROOM_RADIUS + ROOM_WIDER * draw(stream)
                    _ball(chunk, ceiling, x, y, z, wide, wide * ROOM_HEIGHT)
                branches = 1 + int(draw(stream) * draw(stream) * CAVE_FORKS)
                for _ in range(branches):
                    before = stream[0]
                    _tunnel(stream, chunk, ceiling, x, y, z)
                    # the random numbers of the next tunnel do not depend on whether this tunnel was dug or left out as
                    # too far away
                    stream[0] = mix(before)
