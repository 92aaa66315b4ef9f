"""Checks whether a block can be placed into a cell. A block can be placed if the cell contains no body and the block
has its support.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.blocks import (
    AIR,
    BLOCKS_MOVEMENT,
    CACTUS,
    FARMLAND,
    FULL,
    HALF,
    LAVA,
    LIQUID,
    ON,
    REEDS,
    SUPPORTS,
    TABLE,
    TOP,
    WATER,
)
from voxeldojo.world.collide import block_at
from voxeldojo.world.constants import PLAYER_HEIGHT, PLAYER_WIDTH
from voxeldojo.world.jit import jit, part
from voxeldojo.world.loot import TALL
from voxeldojo.world.mob_kinds import HALF as MOB_HALF
from voxeldojo.world.mob_kinds import TALL as MOB_TALL
from voxeldojo.world.state import MOBS, World

NONE, ON_SOIL, ON_DESERT, ON_CACTUS, ON_REEDS, ON_FULL, ON_ANY, ON_WATER, ON_LOWER_HALF, ON_FARMLAND = range(10)
WALLS = SUPPORTS.index("wall_east")
assert SUPPORTS[:WALLS] == (
    *("none", "soil", "desert", "cactus", "reeds", "full", "any", "water", "double_plant", "farmland"),
)
assert SUPPORTS[WALLS:] == ("wall_east", "wall_west", "wall_south", "wall_north")


def _among(*names: str) -> NDArray[np.bool_]:
    chosen = np.array([block.name in names for block in TABLE])
    chosen.flags.writeable = False
    return chosen


SOIL = _among("grass block", "dirt", "farmland")
DESERT = _among("sand", "hardened clay", "stained clay", "dirt")
BANK = _among("grass block", "dirt", "sand")
SANDY = _among("sand")
TORCH_TOP = FULL | np.array(
    [block.name.endswith(("glass", "fence")) or block.name == "cobblestone wall" for block in TABLE]
)
"""Blocks that support a torch although they are not full cubes."""
TORCH_TOP.flags.writeable = False
IS_TORCH = _among("torch", "redstone torch")


@part
def _meets(
    x: float, y: float, z: float, half: float, tall: float, cx: int, cy: int, cz: int, top: float, wide: float
) -> bool:
    """Return whether a body overlaps the box of a block in a cell."""
    apart = half + wide
    return abs(x - cx - 0.5) < apart and abs(z - cz - 0.5) < apart and y < cy + top and y + tall > cy


@jit
def occupied(world: World, x: int, y: int, z: int, block: int) -> bool:
    """Return whether the player or a mob overlaps ``block`` in a cell."""
    top, wide = TOP[block], HALF[block]
    if top <= 0:
        return False
    p = world.player[0]
    if _meets(p.x, p.y, p.z, PLAYER_WIDTH / 2, PLAYER_HEIGHT, x, y, z, top, wide):
        return True
    for i in range(MOBS):
        m = world.mobs[i]
        if m.kind != 0 and _meets(m.x, m.y, m.z, MOB_HALF[m.kind], MOB_TALL[m.kind], x, y, z, top, wide):
            return True
    return False


@part
def _beside(world: World, x: int, y: int, z: int, what: int) -> bool:
    """Return whether the block ``what`` is at one of the four sides of a cell. If ``what`` is -1, any solid block or
    lava at a side counts.
    """
    for face in range(4):
        there = block_at(world.blocks, x + (face == 0) - (face == 1), y, z + (face == 2) - (face == 3))
        if there == what or (what < 0 and (BLOCKS_MOVEMENT[there] or there == LAVA)):
            return True
    return False


@jit
def stands(world: World, x: int, y: int, z: int, block: int) -> bool:
    """Return whether ``block`` would have the support that it needs (``blocks.SUPPORTS``) if it were placed in a
    cell.
    """
    need = ON[block]
    if need == NONE:
        return True
    if need >= WALLS:
        way = need - WALLS
        return bool(FULL[block_at(world.blocks, x - (way == 0) + (way == 1), y, z - (way == 2) + (way == 3))])
    under = block_at(world.blocks, x, y - 1, z)
    if need == ON_SOIL:
        return bool(SOIL[under])
    if need == ON_DESERT:
        return bool(DESERT[under])
    if need == ON_CACTUS:
        return bool((under == CACTUS or SANDY[under]) and not _beside(world, x, y, z, -1))
    if need == ON_REEDS:
        return bool(under == REEDS or (BANK[under] and _beside(world, x, y - 1, z, WATER)))
    if need == ON_ANY:
        return bool(under != AIR and not LIQUID[under])
    if need == ON_WATER:
        return bool(under == WATER and world.level[x, y - 1, z] == 0)
    if need == ON_LOWER_HALF:
        return bool(TALL[under])
    if need == ON_FARMLAND:
        return bool(under == FARMLAND)
    return bool(TORCH_TOP[under] if IS_TORCH[block] else FULL[under])
