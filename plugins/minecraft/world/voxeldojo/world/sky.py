"""Computes the colours of the sky, and the brightness of each light level, for a time of day.

The colours of sky, fog and sunset are those of ``WorldProvider``, ``Biome`` and ``World`` of Minecraft 1.11.2. The
colours of light are those of ``EntityRenderer.updateLightmap`` at the middle of the brightness slider (minecraft.wiki,
Light and Daylight cycle).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.arithmetic import clamp, maximum, minimum
from voxeldojo.world.jit import part
from voxeldojo.world.rng import mix
from voxeldojo.world.state import World
from voxeldojo.world.sun import celestial_angle, sky_brightness

Floats = NDArray[np.float64]

ZENITH, FOG, SUNSET, SUN_X, SUN_Y, NIGHT, GLARE, CLOUD, DRIFT = 0, 3, 6, 9, 10, 11, 12, 13, 14
"""Indices into the array of ``sky_of``: three colours of three numbers each, then single numbers."""
SKY_VALUES = 15
CLOUDS = 128.0
CLOUD_CELL = 12.0
HALF_SUN, HALF_MOON = 0.1, 0.07
GAMMA = 0.5


@part
def sky_of(world: World, sky: Floats, lit: Floats) -> None:
    """Compute the colours of the sky and of light at the world's time of day.

    :param sky: an output array ``(SKY_VALUES,)`` for the colours of the sky.
    :param lit: an output array ``(256, 3)``, which has the factors of red, green and blue for each byte of light.
    """
    clock = world.clock[0]
    angle = celestial_angle(clock.time) * 2.0 * math.pi
    high, rain = math.cos(angle), 1.0 if clock.raining else 0.0
    day = clamp(high * 2.0 + 0.5, 0.0, 1.0)
    for k in range(3):
        fog = (0.7529, 0.8471, 1.0)[k] * (day * (0.94, 0.94, 0.91)[k] + (0.06, 0.06, 0.09)[k]) * (1.0 - 0.35 * rain)
        blue = (0.475, 0.655, 1.0)[k] * day * (1.0 - rain) + 0.45 * day * rain
        sky[ZENITH + k], sky[FOG + k] = 255.0 * blue, 255.0 * (0.77 * fog + 0.23 * blue)
    low = clamp(high / 0.4, -1.0, 1.0) * 0.5 + 0.5
    sky[SUNSET], sky[SUNSET + 1], sky[SUNSET + 2] = 255 * (low * 0.3 + 0.7), 255 * (low * low * 0.7 + 0.2), 51.0
    glare = 1.0 - (1.0 - math.sin(low * math.pi)) * 0.99
    sky[GLARE] = glare * glare * (1.0 - rain)
    sky[SUN_X], sky[SUN_Y] = -math.sin(angle), high
    sky[NIGHT] = clamp(0.25 - high * 2.5, 0.0, 0.75) * (1.0 - rain)
    sky[CLOUD] = (day * 0.9 + 0.1) * (1.0 - 0.55 * rain)
    sky[DRIFT] = clock.tick * 0.03
    sun = sky_brightness(world)
    for byte in range(256):
        above, glow = (byte >> 4) / 15.0, (byte & 15) / 15.0
        above = above / (4.0 - 3.0 * above) * (sun * 0.95 + 0.05)
        glow = glow / (4.0 - 3.0 * glow) * 1.5
        cold = above * (sun * 0.65 + 0.35)
        lit[byte, 0] = _seen(cold + glow)
        lit[byte, 1] = _seen(cold + glow * ((glow * 0.6 + 0.4) * 0.6 + 0.4))
        lit[byte, 2] = _seen(above + glow * (glow * glow * 0.6 + 0.4))


@part
def _seen(light: float) -> float:
    """Return the brightness (0 to 1) with which the game displays a light value, at the setting of the game's
    brightness slider.
    """
    dark = 1.0 - minimum(light * 0.96 + 0.03, 1.0)
    return (1.0 - dark * (1.0 - GAMMA) - dark * dark * dark * dark * GAMMA) * 0.96 + 0.03


@part
def _chance(a: float, b: float) -> float:
    """Return a hash of two integers in [0, 1)."""
    bits = np.uint64(int(a) & 0xFFFFFFFF) * np.uint64(0x9E3779B1) ^ np.uint64(int(b) & 0xFFFFFFFF)
    return float(mix(bits) >> np.uint64(40)) / 2**24


@part
def climb(dy: float) -> float:
    """Return the weight of the zenith's colour in the colour of the sky, from 0 at the horizon to 1 at the zenith.

    :param dy: the upward component of a unit vector.
    """
    up = clamp(dy * 2.4, 0.0, 1.0)
    return up * (2.0 - up)


@part
def sky_at(sky: Floats, x: float, y: float, z: float, dx: float, dy: float, dz: float) -> tuple[float, float, float]:
    """Return the colour of the sky in the direction of a unit vector from the eyes, 0 to 255."""
    up = climb(dy)
    red = sky[FOG] + (sky[ZENITH] - sky[FOG]) * up
    green = sky[FOG + 1] + (sky[ZENITH + 1] - sky[FOG + 1]) * up
    blue = sky[FOG + 2] + (sky[ZENITH + 2] - sky[FOG + 2]) * up
    if sky[GLARE] > 0.01:
        side = 1.0 if sky[SUN_X] > 0.0 else -1.0
        share = sky[GLARE] * maximum(0.2 + 0.8 * dx * side, 0.0) * maximum(1.0 - abs(dy) * 2.5, 0.0)
        red += (sky[SUNSET] - red) * share
        green += (sky[SUNSET + 1] - green) * share
        blue += (sky[SUNSET + 2] - blue) * share
    if dy <= 0.0:
        return red, green, blue
    toward = dx * sky[SUN_X] + dy * sky[SUN_Y]
    aside = maximum(abs(dx * sky[SUN_Y] - dy * sky[SUN_X]), abs(dz))
    if toward > 0.0 and aside < HALF_SUN * 1.35 * toward:
        share = 1.0 if aside < HALF_SUN * toward else 0.35
        red, green, blue = red + (255 - red) * share, green + (250 - green) * share, blue + (190 - blue) * share
    elif toward < 0.0 and aside < -HALF_MOON * toward:
        red = 205.0 + 40.0 * _chance(math.floor(dx * 30.0), math.floor(dz * 30.0))
        green, blue = red, red + 8.0
    elif sky[NIGHT] > 0.0:
        # The stars are spread uniformly over the sky: one grid near the zenith, another grid near the horizon.
        a, b = (dx, dz) if dy > 0.5 else (4.0 + math.atan2(dx, dz), dy)
        if _chance(math.floor(a * 110.0), math.floor(b * 110.0)) < 0.006:
            red, green, blue = red + 190 * sky[NIGHT], green + 190 * sky[NIGHT], blue + 200 * sky[NIGHT]
    if y < CLOUDS and dy > 0.02:
        far = (CLOUDS - y) / dy
        share = 0.75 * clamp(1.6 - far / 250.0, 0.0, 1.0)
        if share > 0.0:
            a, b = math.floor((x + dx * far + sky[DRIFT]) / CLOUD_CELL), math.floor((z + dz * far) / CLOUD_CELL)
            thick = _chance(a >> 2, b >> 2)
            if thick > 0.25 and thick + 0.6 * _chance(a >> 1, b >> 1) + 0.3 * _chance(a, b) > 1.22:
                red += (250 * sky[CLOUD] - red) * share
                green += (250 * sky[CLOUD] - green) * share
                blue += (255 * sky[CLOUD] - blue) * share
    return minimum(red, 255.0), minimum(green, 255.0), minimum(blue, 255.0)
