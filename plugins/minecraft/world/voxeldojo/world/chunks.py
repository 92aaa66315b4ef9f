"""Generates the terrain chunk by chunk. A chunk depends only on the seed, on its position, and on the biome if the
world has only one biome.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voxeldojo.errors import ConfigError
from voxeldojo.world.biomes import biome_id, chart
from voxeldojo.world.blocks import AIR, CACTUS, FULL, LIGHT, LIQUID, OPACITY, TOP
from voxeldojo.world.caves import carve
from voxeldojo.world.flora import plant
from voxeldojo.world.jit import jit
from voxeldojo.world.light import FULL_LIGHT, SKY, light_region
from voxeldojo.world.ores import veins
from voxeldojo.world.spawn import populate
from voxeldojo.world.state import CHUNK, HEIGHT, SIZE, TILE, World, empty
from voxeldojo.world.terrain import CHARTED, CORNERS, LAYERS, MARGIN, REACH, WIDE, cover, lattice, shape
from voxeldojo.world.trees import plant_trees

CHUNKS = SIZE // CHUNK
SPAWN_CHUNKS = 3
"""Radius in chunks around the player that is always generated."""


class Room(NamedTuple):
    """Holds the work arrays for the generation of a chunk. The axes of each array are x, z, y."""

    chunk: NDArray[np.uint8]
    biome: NDArray[np.uint8]
    charted: NDArray[np.uint8]
    density: NDArray[np.float64]
    column: NDArray[np.float64]
    surface: NDArray[np.int64]
    ceiling: NDArray[np.int64]
    stream: NDArray[np.uint64]


def room() -> Room:
    """Allocate the work arrays."""
    return Room(
        chunk=np.zeros((CHUNK, CHUNK, HEIGHT), np.uint8),
        biome=np.zeros((WIDE, WIDE), np.uint8),
        charted=np.zeros((CHARTED, CHARTED), np.uint8),
        density=np.zeros((CORNERS, CORNERS, LAYERS)),
        column=np.zeros(LAYERS),
        surface=np.zeros((WIDE, WIDE), np.int64),
        ceiling=np.zeros((CHUNK, CHUNK), np.int64),
        stream=np.zeros(1, np.uint64),
    )


def land(seed: np.uint64, fixed: int, chunk_x: int, chunk_z: int, room: Room) -> None:
    """Generate one chunk. The function ``land`` writes the blocks to ``room.chunk``, and the biomes of the chunk and
    its margin to ``room.biome``.
    """
    chunk, biome, surface, stream = room.chunk, room.biome, room.surface, room.stream
    west, north = chunk_x * CHUNK, chunk_z * CHUNK
    chunk[...] = AIR
    chart(seed, fixed, west - MARGIN, north - MARGIN, 1, False, biome)
    chart(seed, fixed, west - MARGIN - 4 * REACH, north - MARGIN - 4 * REACH, 4, True, room.charted)
    lattice(seed, west - MARGIN, north - MARGIN, room.charted, room.density)
    shape(room.density, room.column, chunk, surface)
    cover(seed, west, north, chunk, biome)
    carve(seed, chunk_x, chunk_z, chunk, surface, biome, room.ceiling, stream)
    veins(seed, chunk_x, chunk_z, chunk, surface, biome, stream)
    plant_trees(seed, chunk_x, chunk_z, chunk, surface, biome, stream)
    plant(seed, west, north, chunk, biome)


@jit
def _store(
    blocks: NDArray[np.uint8],
    top: NDArray[np.int16],
    peak: NDArray[np.int16],
    biomes: NDArray[np.uint8],
    west: int,
    north: int,
    chunk: NDArray[np.uint8],
    biome: NDArray[np.uint8],
) -> None:
    """Copy the blocks and biomes of a chunk into the arrays of the world."""
    for dx in range(CHUNK):
        for y in range(HEIGHT):
            for dz in range(CHUNK):
                blocks[west + dx, y, north + dz] = chunk[dx, dz, y]
        for dz in range(CHUNK):
            biomes[west + dx, north + dz] = biome[dx + MARGIN, dz + MARGIN]
            highest = HEIGHT - 1
            while highest >= 0 and chunk[dx, dz, highest] == AIR:
                highest -= 1
            tile = (west + dx) // TILE, (north + dz) // TILE
            if highest > peak[tile]:
                peak[tile] = highest
            while highest >= 0 and OPACITY[chunk[dx, dz, highest]] == 0:
                highest -= 1
            top[west + dx, north + dz] = highest


def ensure(world: World, x: int, z: int, radius_chunks: int) -> int:
    """Generate the missing chunks within ``radius_chunks`` of a column's chunk, and compute the light in the new
    chunks. Return the number of generated chunks.

    Kernels must not call ``ensure``, because numba would compile the whole generator of terrain again with each caller.
    """
    first_x, first_z = (max(at // CHUNK - radius_chunks, 0) for at in (x, z))
    made = world.generated[first_x : x // CHUNK + radius_chunks + 1, first_z : z // CHUNK + radius_chunks + 1]
    if made.all():
        return 0
    missing = np.argwhere(~made) + np.array([first_x, first_z])
    seed, fixed, place = world.clock["seed"][0], int(world.clock["biome"][0]), room()
    for chunk_x, chunk_z in missing.tolist():
        land(seed, fixed, chunk_x, chunk_z, place)
        west, north = chunk_x * CHUNK, chunk_z * CHUNK
        _store(world.blocks, world.top, world.peak, world.biome, west, north, place.chunk, place.biome)
        world.generated[chunk_x, chunk_z] = True
    low, high = missing.min(axis=0) * CHUNK, (missing.max(axis=0) + 1) * CHUNK
    light_region(world, int(low[0]), int(low[1]), int(high[0]), int(high[1]))
    for chunk_x, chunk_z in missing.tolist():
        populate(world, chunk_x, chunk_z)
    return len(missing)


@jit
def stands(world: World, x: int, z: int) -> int:
    """Return the layer of the feet of a player who stands in a column, or -1 if the column is not safe. A safe column
    has dry ground, open sky and no hazards.
    """
    y = int(world.top[x, z])
    if y < 0 or y > HEIGHT - 4 or not FULL[world.blocks[x, y, z]]:
        return -1
    for layer in range(y + 1, y + 3):
        if TOP[world.blocks[x, layer, z]] > 0.0:
            return -1
    for i in range(x - 2, x + 3):
        for k in range(z - 2, z + 3):
            for layer in range(y - 1, y + 3):
                block = world.blocks[i, layer, k]
                if LIQUID[block] or block == CACTUS:
                    return -1
    return y + 1


def _rings(farthest: int) -> Iterator[tuple[int, int]]:
    """Yield columns from the centre of the world outwards, 4 blocks apart. Columns near a chunk's border are left out,
    because ``stands`` reads the two neighbouring columns on each side of a column.
    """
    middle = SIZE // 2
    for ring in range(0, farthest, 4):
        for i in range(-ring, ring + 1, 4):
            for k in range(-ring, ring + 1, 4 if abs(i) == ring else max(2 * ring, 1)):
                x, z = middle + i + 2, middle + k + 2
                if 2 <= x % CHUNK < CHUNK - 2 and 2 <= z % CHUNK < CHUNK - 2:
                    yield x, z


def spawn(world: World) -> bool:
    """Put the player on the safe column nearest to the world's centre, make this position the respawn point, and
    generate the terrain around the player.

    Return False if no column is safe, for example in a world that is a sea. If no column is safe, the player starts at
    the centre, on the highest block.
    """
    x = z = SIZE // 2
    y = -1
    # in a world of one biome, all regions are alike
    for at_x, at_z in _rings(SIZE // 2 - CHUNK if world.clock["biome"][0] < 0 else 4 * CHUNK):
        ensure(world, at_x, at_z, 0)
        y = stands(world, at_x, at_z)
        if y >= 0:
            x, z = at_x, at_z
            break
    ensure(world, x, z, SPAWN_CHUNKS)
    found = y >= 0
    player = world.player
    player["x"], player["y"], player["z"] = x + 0.5, y if found else world.top[x, z] + 1, z + 0.5
    for axis in "xyz":
        player[f"spawn_{axis}"], player[f"v{axis}"] = player[axis], 0.0
    player["fall"], player["on_ground"] = 0.0, True
    return found


def _clear(world: World) -> None:
    """Fill the generated chunks with air. The memory of the chunks that are not generated stays unallocated."""
    for chunk_x in np.flatnonzero(world.generated.any(axis=1)):
        run = np.flatnonzero(world.generated[chunk_x])
        x = slice(chunk_x * CHUNK, (chunk_x + 1) * CHUNK)
        z = slice(run[0] * CHUNK, (run[-1] + 1) * CHUNK)
        for cube in (world.blocks, world.level, world.light):
            cube[x, :, z] = 0
        world.top[x, z], world.biome[x, z] = -1, 0
        world.peak[chunk_x * CHUNK // TILE : (chunk_x + 1) * CHUNK // TILE] = -1
    world.generated[...] = False


def generate(seed: int, biome: str | None = None) -> World:
    """Create a world with a player on safe ground and the terrain around the player.

    :param biome: MineDojo's name of the only biome; with None, the world has many biomes, which depend on the seed.
    :raises UnknownNameError: the world does not have the biome.
    """
    fixed = biome_id(biome)
    world = empty(seed)
    world.clock["biome"] = fixed
    spawn(world)
    return world


def reset_world(world: World, seed: int, biome: str | None = None) -> None:
    """Reset ``world`` to the result of ``generate(seed, biome)`` and reuse its memory.

    :raises UnknownNameError: the world does not have the biome. ``world`` is unchanged.
    """
    fixed = biome_id(biome)
    _clear(world)
    new = empty(seed)
    for name in ("slots", "mobs", "drops", "queue", "relit", "kills", "player", "clock", "events"):
        getattr(world, name)[...] = getattr(new, name)
    world.clock["biome"] = fixed
    spawn(world)


def flat(seed: int, layers: Sequence[int], biome: str = "plains") -> World:
    """Create a flat world, all of whose chunks are generated.

    :param layers: the block ids of the layers, the lowest layer first.

    :raises ConfigError: there are no layers, or too many.
    :raises UnknownNameError: the world does not have the biome.
    """
    if not 0 < len(layers) <= HEIGHT - 8:
        raise ConfigError(f"a flat world of {len(layers)} layers; valid: 1 to {HEIGHT - 8} layers.")
    fixed = biome_id(biome)
    world = empty(seed)
    world.clock["biome"] = fixed
    for y, block in enumerate(layers):
        world.blocks[:, y, :] = block
        if OPACITY[block] > 0:
            world.top[...] = y
    world.biome[...], world.generated[...], world.peak[...] = fixed, True, len(layers) - 1
    if any(LIGHT[block] or 0 < OPACITY[block] < FULL_LIGHT for block in layers):
        light_region(world, 0, 0, SIZE, SIZE)
    else:
        world.light[:, int(world.top[0, 0]) + 1 :, :] = FULL_LIGHT << SKY
    spawn(world)
    return world
