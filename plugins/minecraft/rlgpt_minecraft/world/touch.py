"""What the player's body is in: fluids, fire, thorns, what one climbs and what one sticks in."""

from __future__ import annotations

import math

import numpy as np

from rlgpt_minecraft.world.blocks import BLOCKS, FULL, ID, LAVA, WATER
from rlgpt_minecraft.world.collide import block_at
from rlgpt_minecraft.world.constants import EYE_HEIGHT, PLAYER_HEIGHT, PLAYER_WIDTH, SNEAKING_EYE_HEIGHT
from rlgpt_minecraft.world.jit import jit
from rlgpt_minecraft.world.state import World

IN_WATER, IN_LAVA, IN_FIRE, AT_CACTUS, IN_WEB, ON_SOUL_SAND = 1, 2, 4, 8, 16, 32
HALF = PLAYER_WIDTH / 2
SKIN = 0.001
"""Blocks by which the game shrinks a body before it asks what it touches (``Entity.doBlockCollisions``)."""
WAIST = 0.4
"""Blocks at both ends of a body that may be in a fluid without the body counting as in it."""
LAVA_SIDE = 0.1
HEAD = 0.24
"""Half the width of what suffocates in a block: 0.8 of the body's."""

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
    """What the player's body touches: a sum of ``IN_WATER``, ``IN_LAVA``, ``IN_FIRE`` and so on."""
    p = world.player[0]
    x, y, z = p.x, p.y, p.z
    found = 0
    for cx in range(math.floor(x - HALF + SKIN), math.floor(x + HALF - SKIN) + 1):
        for cz in range(math.floor(z - HALF + SKIN), math.floor(z + HALF - SKIN) + 1):
            for cy in range(math.floor(y + SKIN), math.floor(y + PLAYER_HEIGHT - SKIN) + 1):
                mark = _MARK[block_at(world.blocks, cx, cy, cz)]
                if mark in (IN_WATER, IN_LAVA):
                    if cy > y + PLAYER_HEIGHT - WAIST - SKIN or cy + 1 <= y + WAIST + SKIN:
                        continue
                    if mark == IN_LAVA and abs(x - cx - 0.5) >= 0.5 + HALF - LAVA_SIDE:
                        continue
                    if mark == IN_LAVA and abs(z - cz - 0.5) >= 0.5 + HALF - LAVA_SIDE:
                        continue
                found |= mark
    return found


@jit
def climbs(world: World) -> bool:
    """Whether there is a ladder or a vine where the feet are."""
    p = world.player[0]
    x, y, z = math.floor(p.x), math.floor(p.y), math.floor(p.z)
    return bool(_CLIMBED[block_at(world.blocks, x, y, z)])


@jit
def surface(level: int) -> float:
    """How high a fluid of a level stands in its cell: 8/9 of a source's, 1/9 of the thinnest."""
    return 1.0 - (1.0 if level >= 8 else level + 1.0) / 9.0


@jit
def head_in(world: World, fluid: int) -> bool:
    """Whether the eyes are under the surface of ``fluid``."""
    p = world.player[0]
    eyes = p.y + (SNEAKING_EYE_HEIGHT if p.sneaking else EYE_HEIGHT)
    x, y, z = math.floor(p.x), math.floor(eyes), math.floor(p.z)
    if block_at(world.blocks, x, y, z) != fluid:
        return False
    return bool(eyes < y + surface(int(world.level[x, y, z])) + 1.0 / 9.0)


@jit
def buried(world: World) -> bool:
    """Whether a corner of the head is in a block that nothing is seen through: it suffocates."""
    p = world.player[0]
    eyes = p.y + (SNEAKING_EYE_HEIGHT if p.sneaking else EYE_HEIGHT)
    for i in range(8):
        x = math.floor(p.x + (HEAD if i & 1 else -HEAD))
        y = math.floor(eyes + (0.05 if i & 2 else -0.05))
        z = math.floor(p.z + (HEAD if i & 4 else -HEAD))
        if FULL[block_at(world.blocks, x, y, z)]:
            return True
    return False
