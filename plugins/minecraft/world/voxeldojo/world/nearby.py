"""Finds out whether a crafting table or a furnace is near and in view, by Malmo's rule.

Malmo (NearbyCraftCommandsImplementation) accepts blocks whose centre is at most ``CRAFT_REACH`` from the head
(``CRAFT_HEAD`` above the feet), in front of the player, and within half the field of view in both directions (corrected
by the aspect of the picture). Malmo's projections are wrong by a factor, the cosine of the pitch; this module repeats
this error. If the view direction is vertical, Malmo divides by zero, so no crafting table or furnace is in view. Malmo
accepts only crafting tables and furnaces that were placed since the start of the mission; this module accepts every
crafting table and furnace.
"""

from __future__ import annotations

import numpy as np

from voxeldojo.world.blocks import CRAFTING_TABLE, FURNACE, LIT_FURNACE
from voxeldojo.world.constants import CRAFT_HEAD, CRAFT_REACH, FIELD_OF_VIEW, SINES
from voxeldojo.world.jit import part
from voxeldojo.world.state import HEIGHT, SIZE, World

HALF_VIEW = FIELD_OF_VIEW / 2
STRAIGHT = np.cos(np.radians(90 - 360 / SINES))
"""Smaller cosines are 0 in the game's table."""


@part
def _angle(ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> float:
    """Return the angle between two vectors in degrees. The first is a unit vector."""
    cosine = (ax * bx + ay * by + az * bz) / np.sqrt(bx * bx + by * by + bz * bz)
    return float(np.degrees(np.arccos(min(1.0, cosine))))


@part
def in_view(world: World, x: float, y: float, z: float) -> bool:
    """Return whether a point, relative to the head, is in the field of view by Malmo's rule."""
    yaw, pitch = np.radians(world.player[0].yaw), np.radians(world.player[0].pitch)
    level = np.cos(pitch)
    if level < STRAIGHT:
        return False
    lx, ly, lz = -np.sin(yaw) * level, -np.sin(pitch), np.cos(yaw) * level
    if lx * x + ly * y + lz * z <= 0:
        return False
    # look x up has the length ``level``, not 1, so the components along it and along the third axis are scaled by it
    side = (-lz * x + lx * z) / level
    above = (-lx * ly * x + level * level * y - ly * lz * z) / level
    tall = _angle(lx, ly, lz, x + side * lz, y, z - side * lx)
    wide = _angle(lx, ly, lz, x + above * lx * ly, y - above * level * level, z + above * ly * lz)
    aspect = world.clock[0].aspect
    return bool(wide <= min(1.0, aspect) * HALF_VIEW and tall <= min(1.0, 1 / aspect) * HALF_VIEW)


@part
def nearby(world: World) -> tuple[bool, bool]:
    """Return whether a crafting table and whether a furnace is near and in view."""
    player = world.player[0]
    hx, hy, hz = player.x, player.y + CRAFT_HEAD, player.z
    table, furnace = False, False
    for x in range(max(int(np.floor(hx)) - CRAFT_REACH, 0), min(int(np.floor(hx)) + CRAFT_REACH + 1, SIZE)):
        for y in range(max(int(np.floor(hy)) - CRAFT_REACH, 0), min(int(np.floor(hy)) + CRAFT_REACH + 1, HEIGHT)):
            for z in range(max(int(np.floor(hz)) - CRAFT_REACH, 0), min(int(np.floor(hz)) + CRAFT_REACH + 1, SIZE)):
                block = world.blocks[x, y, z]
                if block in (CRAFTING_TABLE, FURNACE, LIT_FURNACE):
                    dx, dy, dz = x + 0.5 - hx, y + 0.5 - hy, z + 0.5 - hz
                    if dx * dx + dy * dy + dz * dz <= CRAFT_REACH * CRAFT_REACH and in_view(world, dx, dy, dz):
                        table, furnace = table or block == CRAFTING_TABLE, furnace or block != CRAFTING_TABLE
    return table, furnace
