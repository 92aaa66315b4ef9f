"""Computes the position of the sun and the brightness of the day, as in ``World`` and ``WorldProvider`` of Minecraft
1.11.2.
"""

from __future__ import annotations

import math

from voxeldojo.world.constants import DAY_TICKS, SKY_DIMS
from voxeldojo.world.jit import jit
from voxeldojo.world.light import block_light, sky_light
from voxeldojo.world.state import World


@jit
def celestial_angle(time: int) -> float:
    """Return the angle of the sun in [0, 1), which is 0 at noon and 0.5 at midnight. ``time`` is in ticks since
    sunrise.
    """
    part = (time % DAY_TICKS) / DAY_TICKS - 0.25
    if part < 0.0:
        part += 1.0
    return part + (1.0 - (math.cos(part * math.pi) + 1.0) / 2.0 - part) / 3.0


@jit
def _brightness(world: World, offset: float) -> float:
    clock = world.clock[0]
    bright = min(max(math.cos(celestial_angle(clock.time) * 2.0 * math.pi) * 2.0 + offset, 0.0), 1.0)
    if clock.raining:
        bright *= 1.0 - 5.0 / 16.0
    if clock.thundering:
        bright *= 1.0 - 5.0 / 16.0
    return bright


@jit
def sun_brightness(world: World) -> float:
    """Return the game's ``getSunBrightnessFactor``, from 0 at night to 1 at noon."""
    return _brightness(world, 0.5)


@jit
def sky_brightness(world: World) -> float:
    """Return the game's ``getSunBrightness``, from 0.2 at night to 1 at noon. MineDojo's observation
    ``sky_light_level`` is the value of the game's ``getSunBrightness``.
    """
    return _brightness(world, 0.2) * 0.8 + 0.2


@jit
def light_for_spawning(world: World, x: int, y: int, z: int) -> int:
    """Return the light that decides about spawning, which is the maximum of block light and sky light. For spawning,
    the sky light is reduced by up to ``SKY_DIMS`` at night. Monsters do not spawn if the light for spawning is above 7.
    """
    dimmed = int((1.0 - sun_brightness(world)) * SKY_DIMS)
    return max(sky_light(world, x, y, z) - dimmed, block_light(world, x, y, z))


@jit
def light_level(world: World, x: int, y: int, z: int) -> int:
    """Return the maximum of the block light and the sky light of full daylight, at any time of day. MineDojo reads the
    sky light from the game's client, which does not reduce the sky light at night.
    """
    return max(sky_light(world, x, y, z), block_light(world, x, y, z))
