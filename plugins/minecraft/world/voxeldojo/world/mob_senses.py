"""What a mob perceives: the player, the light, and dangers in its path."""

from __future__ import annotations

import math
from typing import Any

from voxeldojo.world.blocks import AIR, CACTUS, FIRE, LAVA, TOP, WATER
from voxeldojo.world.collide import Blocks, block_at
from voxeldojo.world.constants import EYE_HEIGHT, MOB_FALL
from voxeldojo.world.jit import part
from voxeldojo.world.light import FULL_LIGHT
from voxeldojo.world.mob_kinds import CALM_LIGHT, EYES, HALF
from voxeldojo.world.mob_motion import block_of
from voxeldojo.world.ray import trace
from voxeldojo.world.state import World
from voxeldojo.world.sun import light_for_spawning


@part
def sees(world: World, m: Any, most: float) -> bool:
    """Return whether the player's eyes are at most ``most`` blocks away from a mob's eyes and visible from there."""
    p = world.player[0]
    dx, dy, dz = p.x - m.x, p.y + EYE_HEIGHT - m.y - EYES[m.kind], p.z - m.z
    far = math.sqrt(dx * dx + dy * dy + dz * dz)
    if far > most:
        return False
    if far < 0.1:
        return True
    return trace(world, m.x, m.y + EYES[m.kind], m.z, dx / far, dy / far, dz / far, far, False)[0] == AIR


@part
def calmed(world: World, m: Any) -> bool:
    """Return whether the light at the eyes of a mob calms the mob (``EntitySpider``; its brightness of 0.5 is the light
    12).
    """
    least = CALM_LIGHT[m.kind]
    if least > FULL_LIGHT:
        return False
    x, y, z = math.floor(m.x), math.floor(m.y + EYES[m.kind]), math.floor(m.z)
    return bool(light_for_spawning(world, x, y, z) >= least)


@part
def barred(blocks: Blocks, m: Any, fall: int, beyond: float) -> bool:
    """Return whether a mob must stop because a fall of more than ``fall`` blocks or a harmful block is ahead.

    :param beyond: how far ahead of the mob's body the mob looks, in blocks.
    """
    yaw, ahead = math.radians(m.yaw), HALF[m.kind] + beyond
    x, z = math.floor(m.x - math.sin(yaw) * ahead), math.floor(m.z + math.cos(yaw) * ahead)
    feet = math.floor(m.y + 0.5)
    inside = block_of(blocks, m.x, m.y + 0.5, m.z)
    for y in range(feet, feet - fall - 2, -1):
        block = block_at(blocks, x, y, z)
        if block in (LAVA, FIRE, CACTUS):
            return True
        if block == WATER:
            return inside != WATER and fall == MOB_FALL
        if TOP[block] > 0:
            return False
    return inside != WATER
