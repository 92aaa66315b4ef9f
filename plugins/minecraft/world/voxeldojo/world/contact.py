"""Finds out which fluids, fire, cacti, ladders and webs the player's body touches."""

from __future__ import annotations

import math

import numpy as np

from voxeldojo.world.blocks import BLOCKS, FULL, ID, LAVA, WATER
from voxeldojo.world.collide import block_at
from voxeldojo.world.constants import (
    EYE_HEIGHT,
    FALLING_LEVEL,
    FLUID_NINTHS,
    FLUID_WAIST,
    LAVA_SIDE,
    PLAYER_HEIGHT,
    PLAYER_WIDTH,
    SNEAKING_EYE_HEIGHT,
    SUFFOCATE_HEIGHT,
    SUFFOCATE_WIDTH,
    TOUCH_SKIN,
)
from voxeldojo.world.jit import jit
from voxeldojo.world.state import World

IN_WATER, IN_LAVA, IN_FIRE, AT_CACTUS, IN_WEB, ON_SOUL_SAND = 1, 2, 4, 8, 16, 32
HALF = PLAYER_WIDTH / 2
HEAD, CROWN = SUFFOCATE_WIDTH * PLAYER_WIDTH / 2, SUFFOCATE_HEIGHT / 2
"""Half width and half height of the part of the head that suffocates in a block."""

_MARK = np.zeros(BLOCKS, np.int64)
for _key, _bit in (("cactus", AT_CACTUS), ("fire", IN_FIRE), ("web", IN_WEB), ("soul_sand", ON_SOUL_SAND)):
    _MARK[ID[_key]] = _bit
_MARK[WATER], _MARK[LAVA] = IN_WATER, IN_LAVA
_CLIMBED = np.zeros(BLOCKS, np.bool_)
_CLIMBED[[ID["ladder"], ID["vine"]]] = True
for _array in (_MARK, _CLIMBED):
    _array.flags.writeable = False


@jit
def touched(world: World) -> int:
    """Return what the player's body touches, as a sum of the flags ``IN_WATER``, ``IN_LAVA``, ``IN_FIRE`` and
    others.
    """
    p = world.player[0]
    x, y, z = p.x, p.y, p.z
    found = 0
    for cx in range(math.floor(x - HALF + TOUCH_SKIN), math.floor(x + HALF - TOUCH_SKIN) + 1):
        for cz in range(math.floor(z - HALF + TOUCH_SKIN), math.floor(z + HALF - TOUCH_SKIN) + 1):
            for cy in range(math.floor(y + TOUCH_SKIN), math.floor(y + PLAYER_HEIGHT - TOUCH_SKIN) + 1):
                mark = _MARK[block_at(world.blocks, cx, cy, cz)]
                if mark in (IN_WATER, IN_LAVA):
                    if cy > y + PLAYER_HEIGHT - FLUID_WAIST - TOUCH_SKIN or cy + 1 <= y + FLUID_WAIST + TOUCH_SKIN:
                        continue
                    if mark == IN_LAVA and abs(x - cx - 0.5) >= 0.5 + HALF - LAVA_SIDE:
                        continue
                    if mark == IN_LAVA and abs(z - cz - 0.5) >= 0.5 + HALF - LAVA_SIDE:
                        continue
                found |= mark
    return found


@jit
def climbs(world: World) -> bool:
    """Return whether the player's feet are in the cell of a ladder or a vine."""
    p = world.player[0]
    x, y, z = math.floor(p.x), math.floor(p.y), math.floor(p.z)
    return bool(_CLIMBED[block_at(world.blocks, x, y, z)])


@jit
def surface(level: int) -> float:
    """Return the height of the surface of a fluid with a given level in its cell, from 1/9 for the shallowest flow to
    8/9 for a source.
    """
    return 1.0 - (1.0 if level >= FALLING_LEVEL else level + 1.0) / FLUID_NINTHS


@jit
def head_in(world: World, fluid: int) -> bool:
    """Return whether the player's eyes are below the surface of ``fluid``."""
    p = world.player[0]
    eyes = p.y + (SNEAKING_EYE_HEIGHT if p.sneaking else EYE_HEIGHT)
    x, y, z = math.floor(p.x), math.floor(eyes), math.floor(p.z)
    if block_at(world.blocks, x, y, z) != fluid:
        return False
    return bool(eyes < y + surface(int(world.level[x, y, z])) + 1.0 / FLUID_NINTHS)


@jit
def buried(world: World) -> bool:
    """Return whether a corner of the player's head is in an opaque block, which suffocates the player."""
    p = world.player[0]
    eyes = p.y + (SNEAKING_EYE_HEIGHT if p.sneaking else EYE_HEIGHT)
    for i in range(8):
        x = math.floor(p.x + (HEAD if i & 1 else -HEAD))
        y = math.floor(eyes + (CROWN if i & 2 else -CROWN))
        z = math.floor(p.z + (HEAD if i & 4 else -HEAD))
        if FULL[block_at(world.blocks, x, y, z)]:
            return True
    return False
