"""Digs blocks, with the speed, tools and cost of the game, as in minecraft.wiki, Breaking, 1.11.

The order of the steps of digging is that of the game's client. In the tick in which the attack key is pressed, the
player begins to dig a block (``PlayerControllerMP.clickBlock``) and makes the first progress (``onPlayerDamageBlock``).
While the attack key is held, digging of the next block begins after a pause of ``DIG_DELAY`` ticks and one further
tick.
"""

from __future__ import annotations

import numpy as np

from voxeldojo.world.blocks import AIR, HARDNESS, ID, LEVEL, TABLE, TOOL, TOOL_FREE, WATER
from voxeldojo.world.constants import (
    BLOCK_REACH,
    DIG_AIR,
    DIG_DELAY,
    DIG_REQUIRED,
    DIG_WATER,
    DIG_WRONG,
    EXHAUSTION_DIG,
    SHEARS_LEAVES,
    SHEARS_WOOL,
    SWORD_DIG_WEAR,
    SWORD_PLANTS,
    TOOL_DIG_WEAR,
)
from voxeldojo.world.contact import head_in
from voxeldojo.world.inventory import wear
from voxeldojo.world.items import TOOL_CLASS, TOOL_LEVEL, TOOL_SPEED, TOOLS
from voxeldojo.world.jit import jit, part
from voxeldojo.world.loot import break_block
from voxeldojo.world.player_motion import exhaust
from voxeldojo.world.ray import eyes, look, trace
from voxeldojo.world.state import World

SWORD, SHEARS, NO_TOOL, HOE = (TOOLS.index(name) for name in ("sword", "shears", "none", "hoe"))
WEB = ID["web"]
WHOLE = 1.0 - 1e-9
"""Progress at which a block breaks. In floating point, sixty times a sixtieth is a little less than 1."""

_CUT = ("leaves", "vines", "pumpkin", "melon", "jack o'lantern")
BY_SWORD = np.array([block.name in _CUT or (block.shape == "cross" and block.tool == "axe") for block in TABLE])
"""Blocks that a sword cuts a little faster: leaves, plants, gourds."""
WOOL = np.array([block.name == "wool" for block in TABLE])
for _array in (BY_SWORD, WOOL):
    _array.flags.writeable = False


@jit
def harvests(block: int, item: int) -> bool:
    """Return whether a block gives its drops if the player breaks the block with the item ``item``."""
    if TOOL_FREE[block]:
        return True
    if block == WEB and TOOL_CLASS[item] == SHEARS:
        return True
    tool = TOOL_CLASS[item]
    return bool(tool != NO_TOOL and tool == TOOL[block] and TOOL_LEVEL[item] >= LEVEL[block])


@jit
def tool_speed(block: int, item: int) -> float:
    """Return the factor by which an item digs a block faster than a bare hand."""
    tool = TOOL_CLASS[item]
    if tool == SHEARS:
        return SHEARS_WOOL if WOOL[block] else float(SHEARS_LEAVES) if TOOL[block] == SHEARS or block == WEB else 1.0
    if tool == SWORD:
        return float(SHEARS_LEAVES) if block == WEB else SWORD_PLANTS if BY_SWORD[block] else 1.0
    return float(TOOL_SPEED[item]) if tool == TOOL[block] and tool != NO_TOOL else 1.0


@jit
def dig_speed(world: World, block: int, item: int) -> float:
    """Return the progress of digging in one tick, as a share of the whole block. The progress of digging is 0 for
    unbreakable blocks.
    """
    p = world.player[0]
    hardness = HARDNESS[block]
    if hardness < 0:
        return 0.0
    if hardness == 0:
        return 1.0
    speed = tool_speed(block, item) * world.clock[0].break_speed
    if head_in(world, WATER):
        speed /= DIG_WATER
    if not p.on_ground:
        speed /= DIG_AIR
    return float(speed / hardness / (DIG_REQUIRED if harvests(block, item) else DIG_WRONG))


@part
def _broken(world: World, block: int, item: int) -> None:
    """Break the block under the cross-hair after its digging is complete."""
    p = world.player[0]
    harvested = harvests(block, item)
    break_block(world, int(p.dig_x), int(p.dig_y), int(p.dig_z), item, harvested)
    if harvested:
        exhaust(world, EXHAUSTION_DIG)
    tool = TOOL_CLASS[item]
    if tool == SHEARS or (HARDNESS[block] != 0 and tool != NO_TOOL and tool != HOE):
        wear(world, int(p.selected), SWORD_DIG_WEAR if tool == SWORD else TOOL_DIG_WEAR)
    world.events[0].broke = block
    p.dig_progress, p.dig_y = 0.0, -1


@jit
def stop_digging(world: World) -> None:
    """Discard the digging progress."""
    p = world.player[0]
    p.dig_progress, p.dig_y = 0.0, -1


@jit
def dig(world: World) -> bool:
    """Dig the block under the cross-hair for one tick. Return False if no block is in reach.

    A change of the block under the cross-hair, or of the item in the hand, discards the progress. While the attack key
    is held (``attack_held`` of the previous tick), digging of the next block begins ``DIG_DELAY`` ticks and one further
    tick after a block is broken. After a block that breaks in a single tick, digging continues without a pause.
    """
    p = world.player[0]
    x, y, z = eyes(world)
    dx, dy, dz = look(p.yaw, p.pitch)
    block, _, bx, by, bz, _ = trace(world, x, y, z, dx, dy, dz, BLOCK_REACH, False)
    if block == AIR:
        stop_digging(world)
        return False
    item = int(world.slots[p.selected].item)
    share = dig_speed(world, block, item)
    if bx != p.dig_x or by != p.dig_y or bz != p.dig_z or item != p.dig_item:
        if p.attack_held and p.dig_delay > 0:
            p.dig_delay -= 1
            return True
        p.dig_x, p.dig_y, p.dig_z, p.dig_item, p.dig_progress = bx, by, bz, item, 0.0
        if share >= 1.0:
            _broken(world, block, item)
            return True
        if p.attack_held:
            return True
    if p.dig_delay > 0:
        p.dig_delay -= 1
        return True
    p.dig_progress += share
    if p.dig_progress >= WHOLE:
        _broken(world, block, item)
        p.dig_delay = DIG_DELAY
    return True
