"""Grows trees. Each tree belongs to a cell of 4 x 4 columns. The generation of a chunk places all trees that reach into
the chunk, in the order of the trees' cells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voxeldojo.names import rows
from voxeldojo.world.biomes import BASE, TREE_SHARE, TREES, TREES_A_CHUNK
from voxeldojo.world.blocks import AIR, DIRT, GRASS, ID
from voxeldojo.world.caves import opening, pool
from voxeldojo.world.constants import SEA_LEVEL
from voxeldojo.world.jit import jit, part
from voxeldojo.world.land import MOUNTAINS, TREE_LINE, TREE_ROOM
from voxeldojo.world.noise import draw, salted, start
from voxeldojo.world.state import CHUNK, HEIGHT
from voxeldojo.world.terrain import MARGIN, WIDE, ground

LOGS = np.array([ID["log" if kind == "oak" else f"{kind}_log"] for kind in TREES])
LEAVES = np.array([ID["leaves" if kind == "oak" else f"{kind}_leaves"] for kind in TREES])
_TRUNKS = {row["kind"]: row for row in rows("trunks.csv")}
IS_LEAVES = np.isin(np.arange(256), LEAVES)
MIN_LOGS, MAX_LOGS = (np.array([int(_TRUNKS[kind][end]) for kind in TREES]) for end in ("least", "most"))
"""Minimal and maximal number of logs of a trunk."""
SPRUCE, ACACIA, DARK_OAK = (TREES.index(kind) for kind in ("spruce", "acacia", "dark_oak"))
CELLS = WIDE // 4


@part
def _put(chunk: NDArray[np.uint8], dx: int, y: int, dz: int, block: int, wood: bool) -> None:
    """Place a log (into air or leaves) or leaves (into air only). Blocks outside the chunk are ignored."""
    if 0 <= dx < CHUNK and 0 <= dz < CHUNK and 0 <= y < HEIGHT:
        there = chunk[dx, dz, y]
        if there == AIR or (wood and IS_LEAVES[there]):
            chunk[dx, dz, y] = block


@part
def _disc(
    stream: NDArray[np.uint64],
    chunk: NDArray[np.uint8],
    dx: int,
    y: int,
    dz: int,
    radius: int,
    corners: float,
    leaf: int,
) -> None:
    """Place a layer of leaves. Each of the four corners of the layer is present with probability ``corners``."""
    for i in range(-radius, radius + 1):
        for k in range(-radius, radius + 1):
            if abs(i) == radius and abs(k) == radius and radius > 0 and draw(stream) >= corners:
                continue
            _put(chunk, dx + i, y, dz + k, leaf, False)


@part
def grow(stream: NDArray[np.uint64], chunk: NDArray[np.uint8], kind: int, dx: int, y: int, dz: int) -> None:
    """Place a tree whose lowest log is at height ``y``. The column ``dx, dz`` of the tree is relative to the chunk's
    corner.
    """
    logs = MIN_LOGS[kind] + int((MAX_LOGS[kind] - MIN_LOGS[kind] + 1) * draw(stream))
    log, leaf = int(LOGS[kind]), int(LEAVES[kind])
    top = y + logs - 1
    lean_x = lean_z = 0
    if kind == SPRUCE:
        bare = 1 + int(2.0 * draw(stream))
        radius, widest = int(2.0 * draw(stream)), 2
        _disc(stream, chunk, dx, top + 1, dz, 0, 0.0, leaf)
        for layer in range(top, y + bare - 1, -1):
            _disc(stream, chunk, dx, layer, dz, radius, 0.0, leaf)
            radius = radius + 1 if radius < widest else 1
    elif kind == ACACIA:
        lean_x, lean_z = int(3.0 * draw(stream)) - 1, int(3.0 * draw(stream)) - 1
        _disc(stream, chunk, dx + lean_x, top, dz + lean_z, 3, 0.0, leaf)
        _disc(stream, chunk, dx + lean_x, top + 1, dz + lean_z, 1, 1.0, leaf)
    elif kind == DARK_OAK:
        for i in range(2):
            for k in range(2):
                _disc(stream, chunk, dx + i, top - 1, dz + k, 2, 1.0, leaf)
                _disc(stream, chunk, dx + i, top, dz + k, 3, 0.0, leaf)
                _disc(stream, chunk, dx + i, top + 1, dz + k, 1, 0.5, leaf)
    else:
        _disc(stream, chunk, dx, top - 2, dz, 2, 0.5, leaf)
        _disc(stream, chunk, dx, top - 1, dz, 2, 0.5, leaf)
        _disc(stream, chunk, dx, top, dz, 1, 0.5, leaf)
        _disc(stream, chunk, dx, top + 1, dz, 1, 0.0, leaf)
    for layer in range(y, top + 1):
        bent = layer > top - 2
        _put(chunk, dx + lean_x * bent, layer, dz + lean_z * bent, log, True)
        if kind == DARK_OAK:
            for i, k in ((1, 0), (0, 1), (1, 1)):
                _put(chunk, dx + i, layer, dz + k, log, True)


@jit
def plant_trees(
    seed: np.uint64,
    chunk_x: int,
    chunk_z: int,
    chunk: NDArray[np.uint8],
    surface: NDArray[np.int64],
    biomes: NDArray[np.uint8],
    stream: NDArray[np.uint64],
) -> None:
    """Place all trees that reach into a chunk.

    :param chunk: the blocks of the chunk, with the axes x, z, y.
    :param surface, biomes: the height and the biome of each column, ``(WIDE, WIDE)``.
    """
    west, north = chunk_x * CHUNK - MARGIN, chunk_z * CHUNK - MARGIN
    own = salted(seed, 50)
    for i in range(CELLS):
        for k in range(CELLS):
            start(stream, own, (west >> 2) + i, (north >> 2) + k)
            chance = draw(stream) * CHUNK
            dx, dz = 4 * i + int(4.0 * draw(stream)), 4 * k + int(4.0 * draw(stream))
            x, z, y = west + dx, north + dz, int(surface[dx, dz])
            if y < SEA_LEVEL - 1 or y > HEIGHT - TREE_ROOM:
                continue
            biome = int(biomes[dx, dz])
            if chance >= TREES_A_CHUNK[biome] or ground(seed, x, z, biome, y) not in (GRASS, DIRT):
                continue
            if (BASE[biome] > MOUNTAINS and y > TREE_LINE) or opening(seed, x, z):
                continue
            mid_x, mid_z, radius, _ = pool(seed, x >> 4, z >> 4)
            if radius > 0 and max(abs((x & 15) - mid_x), abs((z & 15) - mid_z)) <= radius + 1:
                continue
            which, kind = 255.0 * draw(stream), 0
            while TREE_SHARE[biome, kind] <= which:
                kind += 1
            grow(stream, chunk, kind, dx - MARGIN, y + 1, dz - MARGIN)
