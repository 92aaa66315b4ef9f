"""What the sky looks like and how bright each level of light is, at the world's time.

Colours of sky, fog and sunset: ``WorldProvider``, ``Biome`` and ``World`` of Minecraft 1.11.2; of light: its
``EntityRenderer.updateLightmap`` at the middle of the brightness slider (minecraft.wiki, pages Light and Daylight cycle).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rlgpt_minecraft.world.jit import part
from rlgpt_minecraft.world.rng import mix
from rlgpt_minecraft.world.state import World
from rlgpt_minecraft.world.sun import celestial_angle, sky_brightness

Floats = NDArray[np.float64]

ZENITH, FOG, SUNSET, SUN_X, SUN_Y, NIGHT, GLARE, CLOUD, DRIFT = 0, 3, 6, 9, 10, 11, 12, 13, 14
"""Places in the array that ``sky_of`` fills: three colours of three numbers, then single numbers."""
SKY_VALUES = 15
CLOUDS = 128.0
CLOUD_CELL = 12.0
HALF_SUN, HALF_MOON = 0.1, 0.07
GAMMA = 0.5


@part
def sky_of(world: World, sky: Floats, lit: Floats) -> None:
    """Fill ``sky`` ``(SKY_VALUES,)`` and ``lit`` ``(256, 3)``: what a byte of light leaves of red, green and blue."""
    clock = world.clock[0]
    angle = celestial_angle(clock.time) * 2.0 * math.pi
    high = math.cos(angle)
    day = min(max(high * 2.0 + 0.5, 0.0), 1.0)
    dull = 0.45 if clock.raining else 1.0
    for k in range(3):
        fog = (0.7529, 0.8471, 1.0)[k] * (day * (0.94, 0.94, 0.91)[k] + (0.06, 0.06, 0.09)[k])
        blue = (0.475, 0.655, 1.0)[k] * day
        if clock.raining:
            fog, blue = fog * 0.6 + 0.1 * day, 0.4 * day
        sky[ZENITH + k], sky[FOG + k] = 255.0 * blue, 255.0 * (0.77 * fog + 0.23 * blue)
    low = min(max(high / 0.4, -1.0), 1.0) * 0.5 + 0.5
    sky[SUNSET], sky[SUNSET + 1], sky[SUNSET + 2] = 255 * (low * 0.3 + 0.7), 255 * (low * low * 0.7 + 0.2), 51.0
    sky[GLARE] = (1.0 - (1.0 - math.sin(low * math.pi)) * 0.99) ** 2 * dull if abs(high) < 0.4 else 0.0
    sky[SUN_X], sky[SUN_Y] = -math.sin(angle), high
    sky[NIGHT] = min(max(0.75 - (high * 2.0 + 0.25), 0.0), 1.0) * (0.0 if clock.raining else 1.0)
    sky[CLOUD] = (day * 0.9 + 0.1) * dull
    sky[DRIFT] = clock.tick * 0.03
    sun = sky_brightness(world)
    for byte in range(256):
        above = (byte >> 4) / 15.0
        glow = (byte & 15) / 15.0
        above = above / (4.0 - 3.0 * above) * (sun * 0.95 + 0.05)
        glow = glow / (4.0 - 3.0 * glow) * 1.5
        for k in range(3):
            cold = above if k == 2 else above * (sun * 0.65 + 0.35)
            warm = glow
            if k == 1:
                warm = glow * ((glow * 0.6 + 0.4) * 0.6 + 0.4)
            elif k == 2:
                warm = glow * (glow * glow * 0.6 + 0.4)
            value = min((cold + warm) * 0.96 + 0.03, 1.0)
            value = value * (1.0 - GAMMA) + (1.0 - (1.0 - value) ** 4) * GAMMA
            lit[byte, k] = min(value * 0.96 + 0.03, 1.0)


@part
def _chance(a: int, b: int) -> float:
    return (
        float(mix(np.uint64(a & 0xFFFFFFFF) * np.uint64(0x9E3779B1) ^ np.uint64(b & 0xFFFFFFFF)) >> np.uint64(40))
        / 2**24
    )


@part
def sky_at(sky: Floats, x: float, y: float, z: float, dx: float, dy: float, dz: float) -> tuple[float, float, float]:
    """The sky's colour, 0 to 255, from an eye along a unit vector."""
    up = min(max(dy * 2.4, 0.0), 1.0)
    up = up * (2.0 - up)
    red = sky[FOG] + (sky[ZENITH] - sky[FOG]) * up
    green = sky[FOG + 1] + (sky[ZENITH + 1] - sky[FOG + 1]) * up
    blue = sky[FOG + 2] + (sky[ZENITH + 2] - sky[FOG + 2]) * up
    if sky[GLARE] > 0.0:
        share = sky[GLARE] * max(0.2 + 0.8 * dx * math.copysign(1.0, sky[SUN_X]), 0.0) * max(1.0 - abs(dy) * 2.5, 0.0)
        red += (sky[SUNSET] - red) * share
        green += (sky[SUNSET + 1] - green) * share
        blue += (sky[SUNSET + 2] - blue) * share
    if dy <= 0.0:
        return red, green, blue
    toward = dx * sky[SUN_X] + dy * sky[SUN_Y]
    aside = max(abs(dx * sky[SUN_Y] - dy * sky[SUN_X]), abs(dz))
    if toward > 0.0 and aside < HALF_SUN * 1.35 * toward:
        share = 1.0 if aside < HALF_SUN * toward else 0.35
        red, green, blue = red + (255 - red) * share, green + (250 - green) * share, blue + (190 - blue) * share
    elif toward < 0.0 and aside < -HALF_MOON * toward:
        spot = _chance(int((dx * 90.0) // 3), int((dz * 90.0) // 3))
        grey = 205.0 + 40.0 * spot
        red, green, blue = grey, grey, grey + 8.0
    elif sky[NIGHT] > 0.0:
        a, b = (dx, dz) if dy > 0.5 else (math.atan2(dx, dz), dy)
        if _chance(int(a * 110.0 + 1000), int(b * 110.0 + 3000)) < 0.006:
            red, green, blue = red + 190 * sky[NIGHT], green + 190 * sky[NIGHT], blue + 200 * sky[NIGHT]
    if y < CLOUDS and dy > 0.02:
        far = (CLOUDS - y) / dy
        a, b = int((x + dx * far + sky[DRIFT]) // CLOUD_CELL), int((z + dz * far) // CLOUD_CELL)
        if _chance(a >> 2, b >> 2) + 0.6 * _chance(a >> 1, b >> 1) + 0.3 * _chance(a, b) > 1.15:
            share = 0.75 * min(max(1.6 - far / 250.0, 0.0), 1.0)
            red += (250 * sky[CLOUD] - red) * share
            green += (250 * sky[CLOUD] - green) * share
            blue += (255 * sky[CLOUD] - blue) * share
    return min(red, 255.0), min(green, 255.0), min(blue, 255.0)
