"""Runs the effect of the use key on the block under the cross-hair, which places blocks and crops, fills and empties
buckets, and tills the soil.

The rules of the use key come from ``ItemBlock.onItemUse``, ``ItemSeeds.onItemUse``, ``ItemBucket``, ``ItemBed`` and
``BlockTorch.onBlockPlaced`` of 1.11.2. The module ``player_actions.py`` defines how often a held use key has an effect.
"""

from __future__ import annotations

import math

import numpy as np

from voxeldojo.world.blocks import (
    AIR,
    FARMLAND,
    FULL,
    ID,
    LAVA,
    LIQUID,
    ON,
    PLACES,
    REPLACEABLE,
    TABLE,
    TORCH,
    WATER,
)
from voxeldojo.world.collide import block_at
from voxeldojo.world.constants import BLOCK_REACH, BUCKET_REACH
from voxeldojo.world.drops import exchange
from voxeldojo.world.edit import inside, set_block
from voxeldojo.world.farming import HOE, till
from voxeldojo.world.fluids import pour
from voxeldojo.world.inventory import remove
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.items import TOOL_CLASS
from voxeldojo.world.jit import jit, part
from voxeldojo.world.loot import TALL
from voxeldojo.world.occupancy import ON_FARMLAND, ON_WATER, occupied, stands
from voxeldojo.world.ray import eyes, look, trace
from voxeldojo.world.state import World

BUCKET, WATER_BUCKET, LAVA_BUCKET = ITEM["bucket"], ITEM["water_bucket"], ITEM["lava_bucket"]
BED_FOOT = np.array([ID[f"bed_foot_{way}"] for way in ("south", "west", "north", "east")])
BED_HEAD = np.array([ID[f"bed_head_{way}"] for way in ("south", "west", "north", "east")])
TORCHES = np.array([-1, TORCH, *(ID[f"torch_{way}"] for way in ("north", "south", "west", "east"))])
"""By clicked face: the torch for that face."""
TOP_HALF, LADDER = ID["double_plant_top"], ID["ladder"]
OPENS = np.array(
    [
        block.name
        in ("crafting table", "furnace", "chest", "trapped chest", "ender chest", "dispenser", "dropper", "hopper")
        or block.name
        in ("anvil", "enchantment table", "bed", "note block", "beacon", "brewing stand", "trapdoor", "lever")
        or block.name.endswith(("fence gate", "button"))
        for block in TABLE
    ]
)
"""Blocks that react to the use key themselves, unless the player sneaks."""
for _array in (BED_FOOT, BED_HEAD, TORCHES, OPENS):
    _array.flags.writeable = False


@part
def _fits(world: World, x: int, y: int, z: int, block: int) -> bool:
    """Return whether ``block`` can be placed into a cell."""
    if not inside(x, y, z) or not REPLACEABLE[block_at(world.blocks, x, y, z)]:
        return False
    return not occupied(world, x, y, z, block) and stands(world, x, y, z, block)


@part
def _torch(world: World, x: int, y: int, z: int, face: int) -> int:
    """Return the block of a torch that has support in a cell, or -1 if no torch has support. A torch at the clicked
    face has priority over torches at other faces.
    """
    if face > 0 and stands(world, x, y, z, TORCHES[face]):
        return int(TORCHES[face])
    for other in (2, 3, 4, 5, 1):
        if stands(world, x, y, z, TORCHES[other]):
            return int(TORCHES[other])
    return -1


@part
def _put(world: World, x: int, y: int, z: int, face: int, block: int) -> bool:
    """Place a block into a cell if possible. Beds and tall plants are placed together with their other half."""
    if block == TORCH:
        block = _torch(world, x, y, z, face)
        if block < 0:
            return False
    if block == BED_FOOT[0]:
        quarter = math.floor(world.player[0].yaw / 90.0 + 0.5) & 3
        hx, hz = x + (quarter == 3) - (quarter == 1), z + (quarter == 0) - (quarter == 2)
        floors = FULL[block_at(world.blocks, x, y - 1, z)] and FULL[block_at(world.blocks, hx, y - 1, hz)]
        block, head = int(BED_FOOT[quarter]), int(BED_HEAD[quarter])
        if face != 1 or not floors or not _fits(world, x, y, z, block) or not _fits(world, hx, y, hz, head):
            return False
        set_block(world, hx, y, hz, head, 0)
    elif not _fits(world, x, y, z, block):
        return False
    elif TALL[block]:
        if not inside(x, y + 1, z) or block_at(world.blocks, x, y + 1, z) != AIR:
            return False
        set_block(world, x, y, z, block, 0)
        return set_block(world, x, y + 1, z, TOP_HALF, 0)
    return set_block(world, x, y, z, block, 0)


@part
def _place(world: World, block: int, hit: int, x: int, y: int, z: int, face: int) -> bool:
    """Place ``block`` at the face of the block ``hit``, or in its cell if ``hit`` is replaceable."""
    if block == LADDER and (face < 2 or not FULL[hit]):
        return False
    if ON[block] == ON_FARMLAND and (hit != FARMLAND or face != 1 or block_at(world.blocks, x, y + 1, z) != AIR):
        return False
    if ON[block] == ON_WATER:
        y += 1
    elif REPLACEABLE[hit]:
        face = 1
    else:
        x, y, z = x + (face == 5) - (face == 4), y + (face == 1) - (face == 0), z + (face == 3) - (face == 2)
    if not _put(world, x, y, z, face, block):
        return False
    world.events[0].placed = world.blocks[x, y, z]
    remove(world, int(world.player[0].selected), 1)
    return True


@part
def _bucket(world: World, item: int) -> bool:
    """Use the bucket in the hand, which fills an empty bucket from a source of a fluid, or pours out a full bucket."""
    p = world.player[0]
    x, y, z = eyes(world)
    dx, dy, dz = look(p.yaw, p.pitch)
    hit, _, bx, by, bz, face = trace(world, x, y, z, dx, dy, dz, BUCKET_REACH, item == BUCKET)
    if hit == AIR:
        return False
    if item == BUCKET:
        if not LIQUID[hit]:
            return False
        set_block(world, bx, by, bz, AIR, 0)
        exchange(world, WATER_BUCKET if hit == WATER else LAVA_BUCKET)
        return True
    if not REPLACEABLE[hit]:
        bx, by, bz = bx + (face == 5) - (face == 4), by + (face == 1) - (face == 0), bz + (face == 3) - (face == 2)
        if not inside(bx, by, bz) or not REPLACEABLE[block_at(world.blocks, bx, by, bz)]:
            return False
    pour(world, bx, by, bz, WATER if item == WATER_BUCKET else LAVA, 0)
    exchange(world, BUCKET)
    return True


@jit
def use_on_block(world: World) -> bool:
    """Use the item in the player's hand on the block under the cross-hair. Return whether the use had an effect.

    The function ``use_on_block`` sets ``placed`` (the block), ``used`` and ``tilled`` in ``world.events``.
    """
    p, e = world.player[0], world.events[0]
    slot = world.slots[p.selected]
    item, variant = int(slot.item), int(slot.variant)
    x, y, z = eyes(world)
    dx, dy, dz = look(p.yaw, p.pitch)
    block = int(PLACES[item, variant]) if slot.quantity > 0 else -1
    floats = block >= 0 and ON[block] == ON_WATER
    hit, _, bx, by, bz, face = trace(world, x, y, z, dx, dy, dz, BLOCK_REACH, floats)
    if hit != AIR and OPENS[hit] and not (p.sneaking and slot.quantity > 0):
        e.used = True
    elif item in (BUCKET, WATER_BUCKET, LAVA_BUCKET):
        e.used = slot.quantity > 0 and _bucket(world, item)
    elif TOOL_CLASS[item] == HOE:
        e.used = e.tilled = till(world, hit, bx, by, bz, face)
    elif block > 0 and hit != AIR:
        e.used = _place(world, block, hit, bx, by, bz, face)
    return bool(e.used)
