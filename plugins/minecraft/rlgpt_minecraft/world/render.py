"""What the player sees: the picture in front of their eyes, of any size."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rlgpt_minecraft.world.blocks import AIR, LAVA, WATER
from rlgpt_minecraft.world.figures import figures
from rlgpt_minecraft.world.jit import jit
from rlgpt_minecraft.world.light import settle
from rlgpt_minecraft.world.march import SURFACE, Eye, terrain
from rlgpt_minecraft.world.ray import FAR, eyes, look, trace
from rlgpt_minecraft.world.sky import FOG, SKY_VALUES, Floats, sky_of
from rlgpt_minecraft.world.state import HEIGHT, SIZE, World
from rlgpt_minecraft.world.textures import Art, art

FIELD_OF_VIEW = 70.0
"""Degrees from the picture's lower edge to its upper: the game's default."""
SIGHT = 56.0
"""Blocks until everything is lost in the fog."""
REACH = 4.5
WATER_FOG, LAVA_FOG = 0.08, 2.0
CRACKS = 10
Flat = NDArray[np.uint8]


@jit
def draw(
    world: World, art: Art, blocks: Flat, level: Flat, light: Flat, image: NDArray[np.uint8], depth: Floats
) -> None:
    """Draw into ``image`` ``(height, width, 3)``. ``blocks``, ``level``, ``light``: the world's, flat; ``depth``
    ``(height, width)`` is for its own use."""
    p = world.player[0]
    at, sky, lit = np.empty((4, 3)), np.empty(SKY_VALUES), np.empty((256, 3))
    x, y, z = eyes(world)
    at[0], at[1] = (x, y, z), look(p.yaw, p.pitch)
    yaw, pitch = math.radians(p.yaw), math.radians(p.pitch)
    at[2] = (-math.cos(yaw), 0.0, -math.sin(yaw))
    at[3] = (-math.sin(yaw) * math.sin(pitch), math.cos(pitch), math.cos(yaw) * math.sin(pitch))
    sky_of(world, sky, lit)
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    ceiling = 0
    low_x, high_x = max(cx - int(SIGHT) - 1, 0), min(cx + int(SIGHT) + 2, SIZE)
    low_z, high_z = max(cz - int(SIGHT) - 1, 0), min(cz + int(SIGHT) + 2, SIZE)
    for i in range(low_x, high_x):
        for k in range(low_z, high_z):
            ceiling = max(ceiling, world.top[i, k] + 1)
    # What does not stop light stands above the last column's top: up to the first layer without a block.
    found = True
    while found and ceiling < HEIGHT:
        found = False
        for i in range(low_x, high_x):
            for k in range(low_z, high_z):
                found |= world.blocks[i, ceiling, k] != AIR
        ceiling += found
    thick, here = 0.0, 240
    murk = (sky[FOG], sky[FOG + 1], sky[FOG + 2])
    if 0 <= cx < SIZE and 0 <= cy < HEIGHT and 0 <= cz < SIZE:
        here, block = int(world.light[cx, cy, cz]), world.blocks[cx, cy, cz]
        bright = max(here >> 4, here & 15) / 15.0
        bright = 0.12 + 0.88 * bright / (4.0 - 3.0 * bright)
        murk = (murk[0] * bright, murk[1] * bright, murk[2] * bright)
        above = cy + 1 < HEIGHT and world.blocks[cx, cy + 1, cz] == block
        if (block == WATER or block == LAVA) and (above or y < cy + SURFACE):
            thick = WATER_FOG if block == WATER else LAVA_FOG
            murk = (20.0 * lit[here, 0], 52.0 * lit[here, 1], 150.0 * lit[here, 2])
            if block == LAVA:
                murk = (200.0, 60.0, 0.0)
    block, _, fx, fy, fz, _ = trace(world, x, y, z, at[1, 0], at[1, 1], at[1, 2], REACH, False)
    focus = (fx * HEIGHT + fy) * SIZE + fz if block != AIR else -1
    crack = -1
    if p.dig_progress > 0.0 and (p.dig_x, p.dig_y, p.dig_z) == (fx, fy, fz):
        crack = art.cracks[min(int(p.dig_progress * CRACKS), CRACKS - 1)]
    tangent = math.tan(math.radians(FIELD_OF_VIEW / 2))
    eye = Eye(blocks, level, light, world.biome, at, sky, lit, ceiling, SIGHT, tangent, focus, crack, thick, murk)
    depth[:] = FAR
    figures(world, eye, art, image, depth)
    terrain(eye, art, image, depth)


class Camera:
    """Takes pictures of one size.

    :param height, width: pixels. The field of view is 70 degrees from the lower edge to the upper.
    :raises ValueError: a picture without pixels.
    """

    def __init__(self, height: int, width: int) -> None:
        if height < 1 or width < 1:
            raise ValueError(f"a picture of {height} x {width} pixels; each must be at least 1.")
        self._art = art()
        self._depth = np.empty((height, width))

    def picture(self, world: World) -> NDArray[np.uint8]:
        """What the player sees now: uint8 ``(height, width, 3)``, a new array."""
        image = np.empty((*self._depth.shape, 3), np.uint8)
        settle(world)
        flat = (world.blocks.reshape(-1), world.level.reshape(-1), world.light.reshape(-1))
        draw(world, self._art, *flat, image, self._depth)
        return image
