"""Traces rays by voxel traversal (Amanatides and Woo 1987) and by the slab test for boxes, both exactly.

The faces of a block have the same numbers as in the game, which are 0 below, 1 above, 2 north (-z), 3 south (+z), 4
west (-x), 5 east (+x). A ray that starts inside a box hits the face through which the ray leaves the box, as in the
game's ``AxisAlignedBB.calculateIntercept``.
"""

from __future__ import annotations

import math

from voxeldojo.world.blocks import AIR, LIQUID
from voxeldojo.world.constants import ASLEEP_EYE_HEIGHT, EYE_HEIGHT, SNEAKING_EYE_HEIGHT
from voxeldojo.world.crops import RIPE, TALLER
from voxeldojo.world.jit import jit
from voxeldojo.world.shapes import AIMABLE, BOX, WHOLE
from voxeldojo.world.state import HEIGHT, SIZE, World

FAR = 1e30


@jit
def eyes(world: World) -> tuple[float, float, float]:
    """Return the position of the player's eyes."""
    p = world.player[0]
    tall = ASLEEP_EYE_HEIGHT if p.sleeping else SNEAKING_EYE_HEIGHT if p.sneaking else EYE_HEIGHT
    return p.x, p.y + tall, p.z


@jit
def look(yaw: float, pitch: float) -> tuple[float, float, float]:
    """Return the unit vector of the view direction ``yaw``, ``pitch``. Yaw and pitch are in degrees."""
    a, b = math.radians(yaw), math.radians(pitch)
    return -math.sin(a) * math.cos(b), -math.sin(b), math.cos(a) * math.cos(b)


@jit
def meet(
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    low: tuple[float, float, float],
    high: tuple[float, float, float],
) -> tuple[float, int]:
    """Return the distance at which a ray hits a box (in multiples of the direction's length), and the number of the
    face that it hits. If the ray misses the box, the result is ``FAR`` and -1.
    """
    near, far, into, out = -FAR, FAR, -1, -1
    for o, d, lo, hi, face in (
        (y, dy, low[1], high[1], 0),
        (z, dz, low[2], high[2], 2),
        (x, dx, low[0], high[0], 4),
    ):
        if d == 0.0:
            if o < lo or o > hi:
                return FAR, -1
            continue
        first, last = (lo - o) / d, (hi - o) / d
        one, other = face, face + 1
        if first > last:
            first, last, one, other = last, first, other, one
        if first > near:
            near, into = first, one
        if last < far:
            far, out = last, other
    if near > far or far < 0.0:
        return FAR, -1
    return (near, into) if near >= 0.0 else (far, out)


@jit
def trace(
    world: World, x: float, y: float, z: float, dx: float, dy: float, dz: float, reach: float, liquids: bool
) -> tuple[int, float, int, int, int, int]:
    """Find the first block that a ray meets.

    :param x, y, z: the start of the ray.
    :param dx, dy, dz: the direction of the ray, a unit vector.
    :param reach: the length of the ray in blocks.
    :param liquids: whether sources of water and lava stop the ray. Flowing fluids never stop a ray
        (``BlockLiquid.canCollideCheck``).
    :returns: the block, its distance, its x, y and z, and the face that the ray meets. If the ray meets no block, the
        result is 0, ``reach``, the x, y and z of the cell at the ray's end, and -1.
    """
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    sx, sy, sz = 1 if dx > 0 else -1, 1 if dy > 0 else -1, 1 if dz > 0 else -1
    ix, iy, iz = 1 / dx if dx != 0 else FAR, 1 / dy if dy != 0 else FAR, 1 / dz if dz != 0 else FAR
    # Recompute the distances to the next grid plane: a running sum would accumulate rounding errors.
    tx = (cx + (dx > 0) - x) * ix if dx != 0 else FAR
    ty = (cy + (dy > 0) - y) * iy if dy != 0 else FAR
    tz = (cz + (dz > 0) - z) * iz if dz != 0 else FAR
    distance, face = 0.0, -1
    while distance <= reach:
        if 0 <= cx < SIZE and 0 <= cz < SIZE and 0 <= cy < HEIGHT:
            block = int(world.blocks[cx, cy, cz])
            if block != AIR:
                hit = liquids and world.level[cx, cy, cz] == 0 if LIQUID[block] else AIMABLE[block]
                if hit:
                    if WHOLE[block] and face >= 0:
                        return block, distance, cx, cy, cz, face
                    top = BOX[block, 4]
                    if RIPE[block] > 0:
                        top += TALLER[block] * world.level[cx, cy, cz]
                    low = (cx + BOX[block, 0], cy + BOX[block, 1], cz + BOX[block, 2])
                    high = (cx + BOX[block, 3], cy + top, cz + BOX[block, 5])
                    at, side = meet(x, y, z, dx, dy, dz, low, high)
                    if at <= reach:
                        return block, at, cx, cy, cz, side
        elif (cy < 0 and dy <= 0) or (cy >= HEIGHT and dy >= 0):
            break
        if tx < ty and tx < tz:
            distance, cx, face = tx, cx + sx, 4 if sx > 0 else 5
            tx = (cx + (dx > 0) - x) * ix
        elif ty < tz:
            distance, cy, face = ty, cy + sy, 0 if sy > 0 else 1
            ty = (cy + (dy > 0) - y) * iy
        else:
            distance, cz, face = tz, cz + sz, 2 if sz > 0 else 3
            tz = (cz + (dz > 0) - z) * iz
    end = (math.floor(x + dx * reach), math.floor(y + dy * reach), math.floor(z + dz * reach))
    return AIR, reach, end[0], end[1], end[2], -1
