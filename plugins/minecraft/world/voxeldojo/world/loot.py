"""Creates the drops of broken blocks, and removes two-part blocks (beds, tall flowers), whose halves break together."""

from __future__ import annotations

import numpy as np

from voxeldojo.world.blocks import (
    AIR,
    BLOCKS,
    BLOCKS_MOVEMENT,
    DROP,
    DROP_LEAST,
    DROP_MOST,
    DROP_VARIANT,
    ID,
    ITEM_OF,
    LIQUID,
    RARE,
    RARE_CHANCE,
    RARE_INSTEAD,
    RARE_VARIANT,
    TABLE,
    VARIANT,
    WATER,
    XP_LEAST,
    XP_MOST,
)
from voxeldojo.world.collide import block_at
from voxeldojo.world.crops import PRODUCE, RIPE, SEED_CHANCE, SEEDS
from voxeldojo.world.crops import RARE as CROP_RARE
from voxeldojo.world.crops import RARE_CHANCE as CROP_RARE_CHANCE
from voxeldojo.world.drops import spill_block
from voxeldojo.world.edit import set_block
from voxeldojo.world.items import TOOL_CLASS, TOOLS
from voxeldojo.world.jit import jit, part
from voxeldojo.world.rng import below, uniform
from voxeldojo.world.state import World

SHEARS = TOOLS.index("shears")
ICE = ID["ice"]
STEPS = {"south": (0, 1), "west": (-1, 0), "north": (0, -1), "east": (1, 0)}
"""Direction from the foot of a bed to its head: x and z."""

SHEARED = np.array([b.name in ("leaves", "vines", "grass", "dead bush", "cobweb") for b in TABLE])
"""Whether shears give the block itself."""
for _key in ("double_tallgrass", "large_fern"):
    SHEARED[ID[_key]] = True
OTHER = np.zeros((BLOCKS, 3), np.int64)
"""Offset to the other half of a block, all 0 for single blocks."""
PAIRED = np.zeros((BLOCKS, BLOCKS), np.bool_)
"""Whether two blocks are the halves of one object."""
for _way, (_dx, _dz) in STEPS.items():
    _foot, _head = ID[f"bed_foot_{_way}"], ID[f"bed_head_{_way}"]
    OTHER[_foot], OTHER[_head] = (_dx, 0, _dz), (-_dx, 0, -_dz)
    PAIRED[_foot, _head] = PAIRED[_head, _foot] = True
TALL = np.array([b.item == "double_plant" and b.key != "double_plant_top" for b in TABLE])
"""The lower half of a plant of two blocks."""
_top = ID["double_plant_top"]
OTHER[_top] = (0, -1, 0)
for _id in np.flatnonzero(TALL):
    OTHER[_id] = (0, 1, 0)
    PAIRED[_id, _top] = PAIRED[_top, _id] = True
for _array in (SHEARED, OTHER, PAIRED, TALL):
    _array.flags.writeable = False


@part
def _reap(world: World, x: int, y: int, z: int, block: int) -> None:
    """Create the drops of a ripe crop (``data/crops.csv``)."""
    spill_block(world, x, y, z, int(PRODUCE[block]), 1, 0, 0)
    for _ in range(SEEDS[block]):
        if uniform(world) < SEED_CHANCE[block]:
            spill_block(world, x, y, z, int(ITEM_OF[block]), 1, 0, 0)
    if CROP_RARE[block] > 0 and uniform(world) < CROP_RARE_CHANCE[block]:
        spill_block(world, x, y, z, int(CROP_RARE[block]), 1, 0, 0)


@part
def _loot(world: World, x: int, y: int, z: int, block: int, level: int, tool: int) -> None:
    """Create the drops of a block that was broken with the item ``tool``. ``level`` is the age of a crop."""
    if RIPE[block] > 0 and level >= RIPE[block]:
        _reap(world, x, y, z, block)
        return
    if SHEARED[block] and TOOL_CLASS[tool] == SHEARS:
        spill_block(world, x, y, z, int(ITEM_OF[block]), 1, int(VARIANT[block]), 0)
        return
    instead = False
    for i in range(2):
        if RARE[block, i] > 0 and uniform(world) < RARE_CHANCE[block, i]:
            spill_block(world, x, y, z, int(RARE[block, i]), 1, int(RARE_VARIANT[block, i]), 0)
            instead = RARE_INSTEAD[block]
    if instead or DROP[block] == 0:
        return
    quantity = int(DROP_LEAST[block])
    if DROP_MOST[block] > quantity:
        quantity += below(world, int(DROP_MOST[block]) - quantity + 1)
    if quantity > 0:
        spill_block(world, x, y, z, int(DROP[block]), quantity, int(DROP_VARIANT[block]), 0)


@part
def blast_block(world: World, x: int, y: int, z: int, harvested: bool) -> None:
    """Remove a block that an explosion breaks. If ``harvested`` is True, create the drops of the block, which an
    explosion gives without a tool and without experience. The other half of a block breaks by its own update.
    """
    block, level = block_at(world.blocks, x, y, z), int(world.level[x, y, z])
    set_block(world, x, y, z, AIR, 0)
    if harvested:
        _loot(world, x, y, z, block, level, AIR)


@jit
def break_block(world: World, x: int, y: int, z: int, tool: int, harvested: bool) -> None:
    """Remove a block and its other half. If ``harvested`` is True, create the drops of the block, broken with the item
    ``tool``.

    Broken ice becomes water if a block or a fluid is below the ice (minecraft.wiki, Ice).
    """
    block = block_at(world.blocks, x, y, z)
    ox, oy, oz = x + OTHER[block, 0], y + OTHER[block, 1], z + OTHER[block, 2]
    other, level = block_at(world.blocks, ox, oy, oz), int(world.level[x, y, z])
    set_block(world, x, y, z, AIR, 0)
    if harvested:
        _loot(world, x, y, z, block, level, tool)
        if XP_MOST[block] > 0:
            world.player[0].xp += XP_LEAST[block] + below(world, int(XP_MOST[block] - XP_LEAST[block]) + 1)
    if PAIRED[block, other]:
        set_block(world, ox, oy, oz, AIR, 0)
        if harvested:
            _loot(world, ox, oy, oz, other, 0, tool)
    under = block_at(world.blocks, x, y - 1, z)
    if block == ICE and (BLOCKS_MOVEMENT[under] or LIQUID[under]):
        set_block(world, x, y, z, WATER, 0)
