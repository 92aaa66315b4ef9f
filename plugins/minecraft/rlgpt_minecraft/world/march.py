"""Rays of sight through the blocks: one for each pixel, as ``ray.trace`` goes, but with textures, light, water and fog."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlgpt_minecraft.world.jit import part
from rlgpt_minecraft.world.looks import BOXED, CLEAR, CROSS, CUBE, FLUID, HOLED
from rlgpt_minecraft.world.ray import FAR, meet
from rlgpt_minecraft.world.sky import Floats, sky_at
from rlgpt_minecraft.world.state import HEIGHT, SIZE
from rlgpt_minecraft.world.textures import Art

STEP_X, STEP_Y, STEP_Z = HEIGHT * SIZE, SIZE, 1
"""From a cell to the next, in flat arrays."""
SHADES = (0.5, 1.0, 0.8, 0.8, 0.6, 0.6)
"""How bright each face is: below, above, north, south, west, east."""
SURFACE = 8.0 / 9.0
"""Height of a fluid's source."""
OCCLUSION = 0.35
"""What is left of light in the corner of a solid neighbour."""
TEXTURE = 16
SHARP = 2.0
"""Texels a pixel may cover, along one side and squared, before the next smaller size of a texture is taken."""


class Eye(NamedTuple):
    """What a picture is taken of and how.

    :ivar blocks, level, light: the world's, flat. :ivar top, biome: the world's.
    :ivar at: float64 ``(4, 3)``: the eyes, and unit vectors ahead, to the right and up.
    :ivar sky, lit: of ``sky.sky_of``.
    :ivar ceiling: no block is higher. :ivar far: blocks seen. :ivar tangent: of half the vertical field of view.
    :ivar focus: flat place of the block under the cross-hair, -1 for none. :ivar crack: tile over it, -1 for none.
    :ivar thick: how thick what the eyes are in is: fog a block, 0 in air; :ivar murk: its colour.
    """

    blocks: NDArray[np.uint8]
    level: NDArray[np.uint8]
    light: NDArray[np.uint8]
    biome: NDArray[np.uint8]
    at: Floats
    sky: Floats
    lit: Floats
    ceiling: int
    far: float
    tangent: float
    focus: int
    crack: int
    thick: float
    murk: tuple[float, float, float]


@part
def fogged(eye: Eye, far: float) -> float:
    """How much of a thing's colour is lost at a distance, 0 to 1."""
    if eye.thick > 0.0:
        return 1.0 - math.exp(-eye.thick * far)
    return min(max((far - 0.6 * eye.far) / (0.4 * eye.far), 0.0), 1.0)


@part
def texel(art: Art, tile: int, u: float, v: float, spread: float) -> int:
    """The texel of a tile at ``u`` to the right and ``v`` down, of a size that suits ``spread``: its texels a pixel,
    squared."""
    size, first = TEXTURE, 0
    while spread > SHARP and size > 1:
        first += size * size
        size >>= 1
        spread *= 0.25
    column, row = min(int(u * size), size - 1), min(int(v * size), size - 1)
    return int(art.texels[tile, first + row * size + column])


@part
def terrain(eye: Eye, art: Art, image: NDArray[np.uint8], depth: Floats) -> None:
    """Draw the land and the sky. What ``image`` shows already stays where ``depth`` says that it is nearer."""
    rows, columns = image.shape[0], image.shape[1]
    ox, oy, oz = eye.at[0]
    blocks, light, lit = eye.blocks, eye.light, eye.lit
    pixel = 2.0 * eye.tangent / rows
    for row in range(rows):
        up = (1.0 - 2.0 * (row + 0.5) / rows) * eye.tangent
        for column in range(columns):
            right = (2.0 * (column + 0.5) - columns) / rows * eye.tangent
            dx = eye.at[1, 0] + right * eye.at[2, 0] + up * eye.at[3, 0]
            dy = eye.at[1, 1] + right * eye.at[2, 1] + up * eye.at[3, 1]
            dz = eye.at[1, 2] + right * eye.at[2, 2] + up * eye.at[3, 2]
            length = math.sqrt(1.0 + right * right + up * up)
            ix, iy, iz = 1.0 / dx if dx != 0 else FAR, 1.0 / dy if dy != 0 else FAR, 1.0 / dz if dz != 0 else FAR
            # Within the world's walls, its floor and the highest block no step can leave the arrays.
            start, end = 0.0, min(eye.far / length, depth[row, column])
            end = min(end, ((SIZE if dx > 0 else 0) - ox) * ix - 1e-6, ((SIZE if dz > 0 else 0) - oz) * iz - 1e-6)
            if dy > 0:
                end = min(end, (eye.ceiling - oy) * iy - 1e-6)
            else:
                end = min(end, -oy * iy - 1e-6)
                if oy >= eye.ceiling:
                    start = (eye.ceiling - oy) * iy + 1e-6
            x, y, z = math.floor(ox + dx * start), math.floor(oy + dy * start), math.floor(oz + dz * start)
            tx = (x + (dx > 0) - ox) * ix if dx != 0 else FAR
            ty = (y + (dy > 0) - oy) * iy if dy != 0 else FAR
            tz = (z + (dz > 0) - oz) * iz if dz != 0 else FAR
            gap_x, gap_y, gap_z = abs(ix), abs(iy), abs(iz)
            step_x, step_y, step_z = STEP_X if dx > 0 else -STEP_X, STEP_Y if dy > 0 else -STEP_Y, 1 if dz > 0 else -1
            face_x, face_y, face_z = 4 if dx > 0 else 5, 0 if dy > 0 else 1, 2 if dz > 0 else 3
            cell, step, face, t, within = (x * HEIGHT + y) * SIZE + z, 0, -1, start, 0
            red, green, blue, clear = 0.0, 0.0, 0.0, 1.0
            while t < end:
                block = int(blocks[cell])
                look = art.looks[block]
                if look == 0:
                    within = 0
                else:
                    x, y, z = cell // STEP_X, cell // STEP_Y % HEIGHT, cell % SIZE
                    for turn in range(2 if look == CROSS else 1):
                        at, side, outside = t, face, cell - step
                        if look <= CLEAR:
                            if face < 0 or (look != CUBE and blocks[outside] == block and look + face != HOLED + 7):
                                continue
                        elif look == FLUID:
                            entered = within != block
                            within = block
                            flat = y + 1.0
                            if y + 1 >= HEIGHT or blocks[cell + STEP_Y] != block:
                                shallow = int(eye.level[cell])
                                flat = y + (SURFACE if shallow >= 8 else (8 - shallow) / 9.0)
                            if not entered or (face < 0 and oy < flat):
                                continue
                            if oy + dy * t > flat + 1e-9:
                                at, side, outside = (flat - oy) * iy, 1, cell
                                if dy >= 0 or at > min(tx, ty, tz):
                                    within = 0
                                    continue
                        elif look == CROSS:
                            first = ((oz - z) - (ox - x)) / (dx - dz) if dx != dz else FAR
                            other = (1.0 - (ox - x) - (oz - z)) / (dx + dz) if dx != -dz else FAR
                            at, side, outside = min(first, other) if turn == 0 else max(first, other), 3, cell
                            if at < t or at > min(tx, ty, tz):
                                continue
                        elif look == BOXED:
                            low = (x + art.boxes[block, 0], y + art.boxes[block, 1], z + art.boxes[block, 2])
                            high = (x + art.boxes[block, 3], y + art.boxes[block, 4], z + art.boxes[block, 5])
                            at, side = meet(ox, oy, oz, dx, dy, dz, low, high)
                            outside = cell if light[cell] >= light[outside] else outside
                            if side < 0:
                                continue
                        if at >= end:
                            continue
                        hx, hy, hz = ox + dx * at - x, oy + dy * at - y, oz + dz * at - z
                        if side < 2:
                            u, v, slant, along, across = hx, hz, abs(dy), STEP_X, STEP_Z
                        elif side < 4:
                            u, v, slant, along, across = hx, 1.0 - hy, abs(dz), STEP_X, STEP_Y
                        else:
                            u, v, slant, along, across = hz, 1.0 - hy, abs(dx), STEP_Z, STEP_Y
                        if look == CROSS:
                            slant = length
                        if side == 2 or side == 5:
                            u = 1.0 - u
                        far = at * length
                        spread = (TEXTURE * far * pixel) ** 2 * length / max(slant, 1e-3)
                        u, v = min(max(u, 0.0), 0.9999), min(max(v, 0.0), 0.9999)
                        if look == HOLED or look == CROSS:
                            spread = min(spread, 16.0 * SHARP)
                        kind = art.climate[eye.biome[x, z]]
                        found = texel(art, art.faces[kind, block, side], u, v, spread)
                        cover = (found >> 24) / 255.0
                        if look != FLUID and look != CLEAR:
                            if cover < 0.5:
                                continue
                            cover = 1.0
                        shade = 1.0 if look == CROSS else SHADES[side]
                        here = int(light[outside])
                        light_r, light_g, light_b = lit[here, 0], lit[here, 1], lit[here, 2]
                        if look == CUBE or look == HOLED:
                            # Light between the middles of cells goes over smoothly; solid cells darken their corners.
                            p, q = (hx, hz) if side < 2 else (hx, hy) if side < 4 else (hz, hy)
                            along, across = along if p > 0.5 else -along, across if q > 0.5 else -across
                            p, q = abs(p - 0.5), abs(q - 0.5)
                            for corner in range(1, 4):
                                share = (p if corner & 1 else 1.0 - p) * (q if corner & 2 else 1.0 - q)
                                near = outside + (along if corner & 1 else 0) + (across if corner & 2 else 0)
                                if near < 0 or near >= len(blocks):
                                    continue
                                if art.looks[blocks[near]] == CUBE:
                                    shade -= shade * share * (1.0 - OCCLUSION)
                                elif light[near] != here:
                                    other_light = int(light[near])
                                    light_r += share * (lit[other_light, 0] - lit[here, 0])
                                    light_g += share * (lit[other_light, 1] - lit[here, 1])
                                    light_b += share * (lit[other_light, 2] - lit[here, 2])
                        if cell == eye.focus:
                            if eye.crack >= 0:
                                mark = texel(art, eye.crack, u, v, spread)
                                shade *= 1.0 - 0.75 * ((mark >> 24) / 255.0)
                            rim = min(max(1.2 * far * pixel, 0.008), 0.05)
                            if min(u, v, 1.0 - u, 1.0 - v) < rim and (look == CUBE or look == HOLED):
                                shade *= 0.3
                        lost = fogged(eye, far)
                        kept = shade * (1.0 - lost) * cover * clear
                        lost *= cover * clear
                        red += (found & 255) * light_r * kept + eye.murk[0] * lost
                        green += (found >> 8 & 255) * light_g * kept + eye.murk[1] * lost
                        blue += (found >> 16 & 255) * light_b * kept + eye.murk[2] * lost
                        clear *= 1.0 - cover
                        if clear < 0.01:
                            break
                    if clear < 0.01:
                        break
                if tx < ty and tx < tz:
                    t, step, face = tx, step_x, face_x
                    tx += gap_x
                elif ty < tz:
                    t, step, face = ty, step_y, face_y
                    ty += gap_y
                else:
                    t, step, face = tz, step_z, face_z
                    tz += gap_z
                cell += step
            if clear >= 0.01:
                if depth[row, column] * length < eye.far:
                    back_r, back_g, back_b = (
                        float(image[row, column, 0]),
                        float(image[row, column, 1]),
                        float(image[row, column, 2]),
                    )
                elif eye.thick > 0.0:
                    back_r, back_g, back_b = eye.murk
                else:
                    back_r, back_g, back_b = sky_at(eye.sky, ox, oy, oz, dx / length, dy / length, dz / length)
                red, green, blue = red + clear * back_r, green + clear * back_g, blue + clear * back_b
            image[row, column, 0] = min(int(red), 255)
            image[row, column, 1] = min(int(green), 255)
            image[row, column, 2] = min(int(blue), 255)
