"""Renders the terrain by ray marching, with textures, light, water and fog. Each pixel of the picture has one ray,
which is traced as in ``ray.trace``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.appearance import BOXED, CLEAR, CROSS, CUBE, FLUID, HOLED
from voxeldojo.world.arithmetic import clamp, maximum, minimum
from voxeldojo.world.blocks import AIR
from voxeldojo.world.horizon import SECTORS, sector
from voxeldojo.world.jit import part
from voxeldojo.world.ray import FAR, meet
from voxeldojo.world.sky import Floats, climb, sky_at
from voxeldojo.world.state import HEIGHT, SIZE
from voxeldojo.world.textures import Art

STEP_X, STEP_Y, STEP_Z = HEIGHT * SIZE, SIZE, 1
"""Index steps between neighbouring cells in flat arrays. The steps are powers of two, so bit shifts give the
coordinates.
"""
X_BITS, Y_BITS = STEP_X.bit_length() - 1, STEP_Y.bit_length() - 1
SHADES = np.array([0.5, 1.0, 0.8, 0.8, 0.6, 0.6])
"""Brightness of the faces: below, above, north, south, west, east."""
SURFACE = 8.0 / 9.0
"""Height of a fluid source, in blocks."""
OCCLUSION = 0.35
"""Share of light that remains in the corner of a solid neighbour."""
TEXTURE = 16
SHARP = 2.0
"""Squared number of texels along the side of a pixel, above which the next smaller size of a texture is used."""
CLEAR_SIGHT = 0.65
"""Share of the visible distance without fog."""
CLOSE = 1e-6
OPAQUE = 0.01


class View(NamedTuple):
    """Holds the inputs of the renderer for one picture.

    :ivar blocks, level, light: the world's arrays ``blocks``, ``level`` and ``light``, flattened.
    :ivar biome: the array of the world with this name.
    :ivar at: the position of the eyes, and the unit vectors forward, right and up, float64 ``(4, 3)``.
    :ivar sky, lit: the results of ``sky.sky_of``.
    :ivar steepest: the result of ``horizon.horizon``.
    :ivar ceiling: the height of a layer that is above all blocks.
    :ivar far: the visible distance in blocks.
    :ivar tangent: the tangent of half the camera's vertical field of view.
    :ivar focus: the flat index of the block under the cross-hair, or -1.
    :ivar crack: the tile of the cracks that are drawn over the block under the cross-hair, or -1 for no cracks.
    :ivar thick: the density of the fog (per block) if the eyes are in a fluid; 0 in air.
    :ivar murk: the colours of the fog at the horizon and at the zenith, float64 ``(6,)``.
    """

    blocks: NDArray[np.uint8]
    level: NDArray[np.uint8]
    light: NDArray[np.uint8]
    biome: NDArray[np.uint8]
    at: Floats
    sky: Floats
    lit: Floats
    steepest: Floats
    ceiling: int
    far: float
    tangent: float
    focus: int
    crack: int
    thick: float
    murk: Floats


@part
def fog_share(far: float, sight: float, thick: float) -> float:
    """Return the weight of the fog's colour at the distance ``far``, 0 to 1."""
    if thick > 0.0:
        return 1.0 - math.exp(-thick * far)
    return clamp((far - CLEAR_SIGHT * sight) / ((1.0 - CLEAR_SIGHT) * sight), 0.0, 1.0)


@part
def texel(texels: NDArray[np.uint32], tile: int, u: float, v: float, spread: float) -> int:
    """Return the texel (pixel of a texture) of a tile at ``u`` to the right and ``v`` down.

    :param spread: the squared number of texels per pixel, which selects one of the tile's sizes (the mipmap level).
    """
    size, first = TEXTURE, 0
    while spread > SHARP and size > 1:
        first += size * size
        size >>= 1
        spread *= 0.25
    column, row = int(clamp(u, 0.0, 0.9999) * size), int(clamp(v, 0.0, 0.9999) * size)
    return int(texels[tile, first + row * size + column])


@part
def draw_terrain(view: View, art: Art, image: NDArray[np.uint8], depth: Floats) -> None:
    """Draw the terrain and the sky. A pixel of ``image`` does not change if its ``depth`` is smaller than the distance
    of the terrain at this pixel.
    """
    rows, columns = image.shape[0], image.shape[1]
    ox, oy, oz = view.at[0, 0], view.at[0, 1], view.at[0, 2]
    blocks, light, lit, looks, texels, faces = view.blocks, view.light, view.lit, art.looks, art.texels, art.faces
    pixel = 2.0 * view.tangent / rows
    for row in range(rows):
        up = view.tangent - (row + 0.5) * pixel
        for column in range(columns):
            right = (column + 0.5 - 0.5 * columns) * pixel
            dx = view.at[1, 0] + right * view.at[2, 0] + up * view.at[3, 0]
            dy = view.at[1, 1] + right * view.at[2, 1] + up * view.at[3, 1]
            dz = view.at[1, 2] + right * view.at[2, 2] + up * view.at[3, 2]
            length = math.sqrt(1.0 + right * right + up * up)
            ix = 1.0 / dx if dx != 0.0 else FAR
            iy = 1.0 / dy if dy != 0.0 else FAR
            iz = 1.0 / dz if dz != 0.0 else FAR
            slope, fall = 1.0 / (dx - dz) if dx != dz else FAR, 1.0 / (dx + dz) if dx != -dz else FAR
            # Between the borders of the world, its floor and its highest block, no step of a ray leaves the arrays.
            start, end = 0.0, minimum(view.far / length, depth[row, column])
            end = minimum(end, ((SIZE if dx > 0.0 else 0) - ox) * ix - CLOSE)
            end = minimum(end, ((SIZE if dz > 0.0 else 0) - oz) * iz - CLOSE)
            end = minimum(end, ((view.ceiling if dy > 0.0 else 0) - oy) * iy - CLOSE)
            if dy < 0.0 and oy >= view.ceiling:
                start = (view.ceiling - oy) * iy + CLOSE
            run = dx * dx + dz * dz
            if dy > 0.0 and run > 0.0 and dy * dy > view.steepest[int(sector(dx, dz)) % SECTORS] * run:
                end = 0.0
            x, y, z = math.floor(ox + dx * start), math.floor(oy + dy * start), math.floor(oz + dz * start)
            tx = (x + (dx > 0.0) - ox) * ix if dx != 0.0 else FAR
            ty = (y + (dy > 0.0) - oy) * iy if dy != 0.0 else FAR
            tz = (z + (dz > 0.0) - oz) * iz if dz != 0.0 else FAR
            gap_x, gap_y, gap_z = abs(ix), abs(iy), abs(iz)
            step_x = STEP_X if dx > 0.0 else -STEP_X
            step_y = STEP_Y if dy > 0.0 else -STEP_Y
            step_z = STEP_Z if dz > 0.0 else -STEP_Z
            cell, t, within_fluid = (x << X_BITS) + (y << Y_BITS) + z, start, AIR
            step = step_y if start > 0.0 else 0
            red, green, blue, clear = 0.0, 0.0, 0.0, 1.0
            while t < end:
                block = int(blocks[cell])
                if block == AIR:
                    within_fluid = AIR
                else:
                    look, face = int(looks[block]), -1
                    if step == step_x:
                        face = 4 if step > 0 else 5
                    elif step == step_y:
                        face = 0 if step > 0 else 1
                    elif step == step_z:
                        face = 2 if step > 0 else 3
                    x, y, z = cell >> X_BITS, (cell >> Y_BITS) & (HEIGHT - 1), cell & (SIZE - 1)
                    leaves = minimum(minimum(tx, ty), tz)
                    for turn in range(2 if look == CROSS else 1):
                        at, side, outside = t, face, cell - step
                        if look <= CLEAR:
                            if face < 0 or (look == CLEAR and blocks[outside] == block):
                                continue
                        elif look == FLUID:
                            entered = within_fluid != block
                            within_fluid = block
                            surface = y + 1.0
                            if y + 1 >= HEIGHT or blocks[cell + STEP_Y] != block:
                                shallow = int(view.level[cell])
                                surface = y + (SURFACE if shallow >= 8 else (8 - shallow) / 9.0)
                            if not entered or (face < 0 and oy < surface):
                                continue
                            if oy + dy * t > surface + CLOSE:
                                at, side, outside = (surface - oy) * iy, 1, cell
                                if dy >= 0.0 or at > leaves:
                                    within_fluid = AIR
                                    continue
                        elif look == CROSS:
                            first, other = ((oz - z) - (ox - x)) * slope, (1.0 - (ox - x) - (oz - z)) * fall
                            at, side, outside = minimum(first, other) if turn == 0 else maximum(first, other), 3, cell
                            if at < t or at > leaves:
                                continue
                        elif look == BOXED:
                            box = art.boxes[block]
                            low, high = (x + box[0], y + box[1], z + box[2]), (x + box[3], y + box[4], z + box[5])
                            at, side = meet(ox, oy, oz, dx, dy, dz, low, high)
                            if light[cell] >= light[outside]:
                                outside = cell
                            if side == 1 and art.leveled[block] > 0 and y + 1 < HEIGHT:
                                # The light of farmland is that above it: its own cell and those beside it are dark.
                                outside = cell + STEP_Y
                        if side < 0 or at >= end:
                            continue
                        hx, hy, hz = ox + dx * at - x, oy + dy * at - y, oz + dz * at - z
                        if side < 2:
                            p, q, slant, along, across = hx, hz, abs(dy), STEP_X, STEP_Z
                        elif side < 4:
                            p, q, slant, along, across = hx, hy, abs(dz), STEP_X, STEP_Y
                        else:
                            p, q, slant, along, across = hz, hy, abs(dx), STEP_Z, STEP_Y
                        u, v = 1.0 - p if side == 2 or side == 5 else p, q if side < 2 else 1.0 - q
                        far = at * length
                        spread = TEXTURE * far * pixel
                        spread *= spread
                        if look == CUBE:
                            spread *= length / maximum(slant, 1e-3)
                        elif look != FLUID:
                            spread = minimum(spread, 16.0 * SHARP)
                        tile, row_of = faces[art.climate[view.biome[x, z]], block, side], art.leveled[block]
                        if row_of > 0:
                            tile = art.levels[row_of, view.level[cell], side]
                        found = texel(texels, tile, u, v, spread)
                        cover = (found >> 24) / 255.0
                        if look != FLUID and look != CLEAR:
                            if cover < 0.5:
                                continue
                            cover = 1.0
                        shade = 1.0 if look == CROSS else SHADES[side]
                        here = int(light[outside])
                        light_r, light_g, light_b = lit[here, 0], lit[here, 1], lit[here, 2]
                        if look <= HOLED:
                            # Light is interpolated between the centres of cells. Solid cells count as dark, which
                            # darkens corners.
                            if p < 0.5:
                                along = -along
                            if q < 0.5:
                                across = -across
                            p, q = abs(p - 0.5), abs(q - 0.5)
                            for corner in range(1, 4):
                                near, share = outside, 1.0
                                if corner & 1:
                                    near, share = near + along, share * p
                                else:
                                    share *= 1.0 - p
                                if corner & 2:
                                    near, share = near + across, share * q
                                else:
                                    share *= 1.0 - q
                                if near < 0 or near >= len(blocks):
                                    continue
                                if looks[blocks[near]] == CUBE:
                                    shade -= shade * share * (1.0 - OCCLUSION)
                                elif light[near] != here:
                                    lighter = int(light[near])
                                    light_r += share * (lit[lighter, 0] - lit[here, 0])
                                    light_g += share * (lit[lighter, 1] - lit[here, 1])
                                    light_b += share * (lit[lighter, 2] - lit[here, 2])
                        if cell == view.focus:
                            if view.crack >= 0:
                                shade *= 1.0 - (texel(texels, view.crack, u, v, spread) >> 24) / 340.0
                            rim = clamp(1.2 * far * pixel, 0.008, 0.05)
                            if look <= HOLED and minimum(minimum(u, v), minimum(1.0 - u, 1.0 - v)) < rim:
                                shade *= 0.3
                        lost = fog_share(far, view.far, view.thick)
                        kept, lost = shade * (1.0 - lost) * cover * clear, lost * cover * clear
                        red += (found & 255) * light_r * kept
                        green += ((found >> 8) & 255) * light_g * kept
                        blue += ((found >> 16) & 255) * light_b * kept
                        if lost > 0.0:
                            rise = climb(dy / length)
                            red += (view.murk[0] + (view.murk[3] - view.murk[0]) * rise) * lost
                            green += (view.murk[1] + (view.murk[4] - view.murk[1]) * rise) * lost
                            blue += (view.murk[2] + (view.murk[5] - view.murk[2]) * rise) * lost
                        clear *= 1.0 - cover
                        if clear < OPAQUE:
                            break
                    if clear < OPAQUE:
                        break
                if tx < ty:
                    if tx < tz:
                        t, step = tx, step_x
                        tx += gap_x
                    else:
                        t, step = tz, step_z
                        tz += gap_z
                elif ty < tz:
                    t, step = ty, step_y
                    ty += gap_y
                else:
                    t, step = tz, step_z
                    tz += gap_z
                cell += step
            if clear >= OPAQUE:
                if depth[row, column] * length < view.far:
                    red += clear * image[row, column, 0]
                    green += clear * image[row, column, 1]
                    blue += clear * image[row, column, 2]
                elif view.thick > 0.0:
                    red, green, blue = (
                        red + clear * view.murk[0],
                        green + clear * view.murk[1],
                        blue + clear * view.murk[2],
                    )
                else:
                    far_r, far_g, far_b = sky_at(view.sky, ox, oy, oz, dx / length, dy / length, dz / length)
                    red, green, blue = red + clear * far_r, green + clear * far_g, blue + clear * far_b
            image[row, column, 0] = int(minimum(red, 255.0))
            image[row, column, 1] = int(minimum(green, 255.0))
            image[row, column, 2] = int(minimum(blue, 255.0))
