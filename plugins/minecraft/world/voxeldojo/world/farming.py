"""Farming. Hoes till the soil, water moistens farmland, crops grow in the light, and falling bodies trample farmland.

The rules of farming are those of the game's ``BlockFarmland``, read in the code of 1.11, and of ``ItemHoe`` and
``BlockCrops``, read in the code of 1.12.2; minecraft.wiki, pages Farmland and Tutorials/Crop farming, agrees. The
numbers are in ``data/crops.csv`` and ``data/constants.csv``. A block of a crop breaks if its farmland or its light is
gone.
"""

from __future__ import annotations

import math

import numpy as np

from voxeldojo.world.blocks import AIR, DIRT, FARMLAND, GRASS, ID, SOLID, TABLE, WATER
from voxeldojo.world.collide import block_at
from voxeldojo.world.constants import (
    CROP_CROWD,
    CROP_DRY,
    CROP_LIGHT,
    CROP_LIGHT_STAYS,
    CROP_ODDS,
    CROP_SIDE,
    CROP_WET,
    ITEM_SIZE,
    PLAYER_WIDTH,
    RANDOM_TICK_RANGE,
    TRAMPLE_BELOW,
    TRAMPLE_FREE,
    WATER_ABOVE,
    WATER_REACH,
    WET,
)
from voxeldojo.world.crops import RESTS, RIPE
from voxeldojo.world.edit import set_block
from voxeldojo.world.inventory import wear
from voxeldojo.world.items import TOOLS
from voxeldojo.world.jit import jit, part
from voxeldojo.world.light import can_see_sky
from voxeldojo.world.loot import break_block
from voxeldojo.world.mob_kinds import HALF as MOB_HALF
from voxeldojo.world.occupancy import stands
from voxeldojo.world.rng import draw, pick
from voxeldojo.world.state import CHUNK, DROPS, MOBS, World
from voxeldojo.world.sun import light_for_spawning, light_level

HOE = TOOLS.index("hoe")
TILLED = np.zeros(len(TABLE), np.int64)
"""Block -> the block that a hoe makes of it, or ``AIR``."""
TILLED[[DIRT, GRASS, ID["grass_path"]]] = FARMLAND
TILLED[ID["coarse_dirt"]] = DIRT
TILLED.flags.writeable = False


@part
def till(world: World, block: int, x: int, y: int, z: int, face: int) -> bool:
    """Till the block at a position with the hoe in the hand. Return False if the block cannot be tilled, if the cell
    above it is not empty, or if the hoe points at its lower face.
    """
    made = TILLED[block]
    if made == AIR or face == 0 or block_at(world.blocks, x, y + 1, z) != AIR:
        return False
    set_block(world, x, y, z, made, 0)
    wear(world, int(world.player[0].selected), 1)
    return True


@part
def _over(x: float, y: float, z: float, half: float, cx: int, cy: int, cz: int) -> bool:
    """Return whether the feet of a body are inside a cell, or so near that the body reaches into the cell."""
    return abs(x - cx - 0.5) < half + 0.5 and abs(z - cz - 0.5) < half + 0.5 and cy < y < cy + 1


@part
def _to_dirt(world: World, x: int, y: int, z: int) -> None:
    """Turn farmland to dirt, which is higher, and lift the bodies that stand on it (``BlockFarmland.turnToDirt``)."""
    set_block(world, x, y, z, DIRT, 0)
    p = world.player[0]
    if _over(p.x, p.y, p.z, PLAYER_WIDTH / 2, x, y, z):
        p.y = y + 1.0
    for i in range(MOBS):
        m = world.mobs[i]
        if m.kind != 0 and _over(m.x, m.y, m.z, MOB_HALF[m.kind], x, y, z):
            m.y = y + 1.0
    for i in range(DROPS):
        d = world.drops[i]
        if d.alive and _over(d.x, d.y, d.z, ITEM_SIZE / 2, x, y, z):
            d.y = y + 1.0


@jit
def trample(world: World, x: float, y: float, z: float, fall: float) -> None:
    """Let a body with its feet at ``x, y, z`` land after a fall of ``fall`` blocks. On farmland, the fall minus
    ``TRAMPLE_FREE`` is the probability that the farmland turns to dirt.
    """
    if fall <= TRAMPLE_FREE:
        return
    cx, cy, cz = math.floor(x), math.floor(y - TRAMPLE_BELOW), math.floor(z)
    if block_at(world.blocks, cx, cy, cz) == FARMLAND and draw(world.clock[0]) < fall - TRAMPLE_FREE:
        _to_dirt(world, cx, cy, cz)


@part
def endures(world: World, x: int, y: int, z: int) -> bool:
    """Return whether the crop or the farmland of a cell stays. A crop needs farmland, and light or the open sky;
    farmland needs a cell above that is not solid.
    """
    block = block_at(world.blocks, x, y, z)
    if block == FARMLAND:
        return not SOLID[block_at(world.blocks, x, y + 1, z)]
    lit = light_level(world, x, y, z) >= CROP_LIGHT_STAYS or can_see_sky(world, x, y, z)
    return bool(lit and stands(world, x, y, z, block))


@part
def update_farm(world: World, x: int, y: int, z: int) -> None:
    """Update the crop or the farmland of a cell after a change of its surroundings."""
    if endures(world, x, y, z):
        return
    if block_at(world.blocks, x, y, z) == FARMLAND:
        _to_dirt(world, x, y, z)
    else:
        break_block(world, x, y, z, AIR, True)


@part
def _watered(world: World, x: int, y: int, z: int) -> bool:
    """Return whether water is within ``WATER_REACH`` blocks of farmland, in its layer or in the layer above."""
    for cx in range(x - WATER_REACH, x + WATER_REACH + 1):
        for cz in range(z - WATER_REACH, z + WATER_REACH + 1):
            for cy in range(y, y + WATER_ABOVE + 1):
                if block_at(world.blocks, cx, cy, cz) == WATER:
                    return True
    return False


@part
def _moisten(world: World, x: int, y: int, z: int) -> None:
    """Moisten farmland near water or in the rain. Other farmland dries, and then turns to dirt if it has no crop."""
    moist = int(world.level[x, y, z])
    if _watered(world, x, y, z) or (world.clock[0].raining and can_see_sky(world, x, y + 1, z)):
        world.level[x, y, z] = WET
    elif moist > 0:
        world.level[x, y, z] = moist - 1
    elif RIPE[block_at(world.blocks, x, y + 1, z)] == 0:
        _to_dirt(world, x, y, z)


@part
def growth(world: World, x: int, y: int, z: int) -> float:
    """Return the points of a crop for growth, 0.5 to 10 (``BlockCrops.getGrowthChance``). The 3 x 3 blocks of farmland
    below the crop give points. The same crop at a corner, or at two sides that are not opposite, halves the points.
    """
    crop, points = block_at(world.blocks, x, y, z), 1.0
    for dx in range(-1, 2):
        for dz in range(-1, 2):
            if block_at(world.blocks, x + dx, y - 1, z + dz) == FARMLAND:
                gain = float(CROP_WET if world.level[x + dx, y - 1, z + dz] > 0 else CROP_DRY)
                points += gain if dx == 0 and dz == 0 else gain / CROP_SIDE
    across, along, corner = False, False, False
    for way in range(-1, 2, 2):
        across = across or block_at(world.blocks, x + way, y, z) == crop
        along = along or block_at(world.blocks, x, y, z + way) == crop
        for other in range(-1, 2, 2):
            corner = corner or block_at(world.blocks, x + way, y, z + other) == crop
    return points / CROP_CROWD if (across and along) or corner else points


@part
def _grow(world: World, x: int, y: int, z: int) -> None:
    clock, crop, age = world.clock[0], block_at(world.blocks, x, y, z), int(world.level[x, y, z])
    rests = RESTS[crop] > 0 and pick(clock, RESTS[crop]) == 0
    if not endures(world, x, y, z):
        break_block(world, x, y, z, AIR, True)
        return
    if rests or age >= RIPE[crop] or light_for_spawning(world, x, y + 1, z) < CROP_LIGHT:
        return
    if pick(clock, int(CROP_ODDS / growth(world, x, y, z)) + 1) == 0:
        world.level[x, y, z] = age + 1


@part
def tick_randomly(world: World, x: int, y: int, z: int) -> None:
    """Run a random tick of the crop or the farmland of a cell. Nothing happens far from the player, as in the game."""
    p = world.player[0]
    dx, dz = x // CHUNK * CHUNK + CHUNK // 2 - p.x, z // CHUNK * CHUNK + CHUNK // 2 - p.z
    if dx * dx + dz * dz >= RANDOM_TICK_RANGE**2:
        return
    if block_at(world.blocks, x, y, z) == FARMLAND:
        _moisten(world, x, y, z)
    else:
        _grow(world, x, y, z)
