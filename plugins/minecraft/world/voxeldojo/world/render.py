"""Renders the player's view as a picture of any size."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.arithmetic import maximum, minimum
from voxeldojo.world.blocks import AIR, LAVA, WATER
from voxeldojo.world.constants import BLOCK_REACH, FIELD_OF_VIEW
from voxeldojo.world.horizon import SECTORS, horizon
from voxeldojo.world.jit import jit
from voxeldojo.world.light import settle
from voxeldojo.world.mob_models import BOX_VALUES, ROOM, gather, paint_boxes
from voxeldojo.world.ray import FAR, eyes, look, trace
from voxeldojo.world.raymarch import SURFACE, X_BITS, Y_BITS, View, draw_terrain
from voxeldojo.world.sky import FOG, SKY_VALUES, ZENITH, Floats, sky_of
from voxeldojo.world.state import HEIGHT, SIZE, TILE, World
from voxeldojo.world.textures import Art, art

SIGHT = 48.0
"""Visible distance in blocks. Beyond this distance there is only fog. The land within it is always generated."""
WATER_FOG, LAVA_FOG = 0.08, 2.0
CRACKS = 10
MURK = np.array([(20.0, 52.0, 150.0), (200.0, 60.0, 0.0)])
"""Colours of water and lava from inside."""
Flat = NDArray[np.uint8]


@jit
def draw(
    world: World,
    art: Art,
    flat: tuple[Flat, Flat, Flat],
    image: NDArray[np.uint8],
    depth: Floats,
    boxes: Floats,
) -> None:
    """Draw the player's view into ``image`` ``(height, width, 3)``.

    :param flat: the flattened arrays of the world's blocks, level and light.
    :param depth: a work array ``(height, width)``, filled with ``FAR``.
    :param boxes: a work array ``(ROOM, BOX_VALUES)``.
    """
    p = world.player[0]
    at, sky, lit, murk = np.empty((4, 3)), np.empty(SKY_VALUES), np.empty((256, 3)), np.empty(6)
    steepest = np.empty(SECTORS)
    x, y, z = eyes(world)
    dx, dy, dz = look(p.yaw, p.pitch)
    right_x, right_z = look(p.yaw + 90.0, 0.0)[0], look(p.yaw + 90.0, 0.0)[2]
    at[0, 0], at[0, 1], at[0, 2], at[1, 0], at[1, 1], at[1, 2] = x, y, z, dx, dy, dz
    at[2, 0], at[2, 1], at[2, 2] = right_x, 0.0, right_z
    at[3, 0], at[3, 1], at[3, 2] = -right_z * dy, right_z * dx - right_x * dz, right_x * dy
    sky_of(world, sky, lit)
    horizon(world.peak, x, y, z, SIGHT, steepest)
    ceiling = 0
    for i in range(int(maximum(x - SIGHT, 0.0)) // TILE, int(minimum(x + SIGHT, SIZE - 1.0)) // TILE + 1):
        for k in range(int(maximum(z - SIGHT, 0.0)) // TILE, int(minimum(z + SIGHT, SIZE - 1.0)) // TILE + 1):
            if world.peak[i, k] >= ceiling:
                ceiling = world.peak[i, k] + 1
    # Outside of the world, nothing is visible.
    sight = SIGHT if 0.0 <= x < SIZE and y >= 0.0 and 0.0 <= z < SIZE else 0.0
    thick, here, block, above = 0.0, 240, AIR, AIR
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    if 0 <= cx < SIZE and 0 <= cy < HEIGHT - 1 and 0 <= cz < SIZE:
        here, block, above = int(world.light[cx, cy, cz]), world.blocks[cx, cy, cz], world.blocks[cx, cy + 1, cz]
    bright = (here >> 4 if here >> 4 > here & 15 else here & 15) / 15.0
    # The brightness of the fog is that of the player's position (the game's ``fogColor1``).
    bright = 0.12 + 0.88 * bright / (4.0 - 3.0 * bright)
    if block in (WATER, LAVA) and (above == block or y < cy + SURFACE):
        thick = WATER_FOG if block == WATER else LAVA_FOG
    for k in range(3):
        murk[k], murk[3 + k] = sky[FOG + k] * bright, sky[ZENITH + k] * bright
        if thick > 0.0:
            murk[k] = murk[3 + k] = MURK[0, k] * lit[here, k] if block == WATER else MURK[1, k]
    block, _, fx, fy, fz, _ = trace(world, x, y, z, dx, dy, dz, BLOCK_REACH, False)
    focus, crack = -1, -1
    if block != AIR:
        focus = (fx << X_BITS) + (fy << Y_BITS) + fz
        if p.dig_progress > 0.0 and p.dig_x == fx and p.dig_y == fy and p.dig_z == fz:
            stage = int(p.dig_progress * CRACKS)
            crack = art.cracks[stage if stage < CRACKS else CRACKS - 1]
    tangent = math.tan(math.radians(FIELD_OF_VIEW / 2))
    view = View(
        flat[0],
        flat[1],
        flat[2],
        world.biome,
        at,
        sky,
        lit,
        steepest,
        ceiling,
        sight,
        tangent,
        focus,
        crack,
        thick,
        murk,
    )
    paint_boxes(view, art, image, depth, boxes, gather(world, view, art, boxes))
    draw_terrain(view, art, image, depth)


class Camera:
    """Renders pictures of one size.

    :param height, width: the size of a picture in pixels. The vertical field of view of the camera is ``FIELD_OF_VIEW``
        degrees.
    :raises ValueError: a side has no pixels.
    """

    def __init__(self, height: int, width: int) -> None:
        if height < 1 or width < 1:
            raise ValueError(f"a picture of {height} x {width} pixels; each must be at least 1.")
        self._art = art()
        self._depth, self._boxes = np.empty((height, width)), np.empty((ROOM, BOX_VALUES))

    def picture(self, world: World) -> NDArray[np.uint8]:
        """Render the player's current view to a new array, uint8 ``(height, width, 3)``."""
        image = np.empty((*self._depth.shape, 3), np.uint8)
        self._depth.fill(FAR)
        if world.clock["relit"][0]:
            settle(world)
        flat = (world.blocks.reshape(-1), world.level.reshape(-1), world.light.reshape(-1))
        draw(world, self._art, flat, image, self._depth, self._boxes)
        return image
