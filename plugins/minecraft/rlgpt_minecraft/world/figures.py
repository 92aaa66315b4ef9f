"""What moves, drawn before the land: mobs, items that lie about, and the player's own hand."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rlgpt_minecraft.world.blocks import PLACES, VARIANTS
from rlgpt_minecraft.world.jit import part
from rlgpt_minecraft.world.march import TEXTURE, Eye, fogged, texel
from rlgpt_minecraft.world.ray import meet
from rlgpt_minecraft.world.sky import Floats
from rlgpt_minecraft.world.skins import BOXES, HINGE, SPANS, SWING, WOOL, WOOL_COLOURS
from rlgpt_minecraft.world.state import DROPS, HEIGHT, MOBS, SIZE, World
from rlgpt_minecraft.world.textures import Art

Image = NDArray[np.uint8]
SHADES = (0.55, 1.0, 0.8, 0.85, 0.65, 0.65)
STRIDE = 0.6662
"""Radians of a step's swing in a tick."""
FLASH = 0.4
HAND = 0.2
"""Blocks to a unit of the hand's boxes: nearer than any wall can be."""
SWING_TICKS = 6


@part
def _light(eye: Eye, x: float, y: float, z: float) -> int:
    cx, cy, cz = math.floor(x), math.floor(y), math.floor(z)
    if 0 <= cx < SIZE and 0 <= cy < HEIGHT and 0 <= cz < SIZE:
        return int(eye.light[(cx * HEIGHT + cy) * SIZE + cz])
    return 240


@part
def _box(
    eye: Eye, art: Art, image: Image, depth: Floats, place: Floats, low: Floats, high: Floats, tiles: NDArray[np.int64]
) -> None:
    """Draw one box where it is nearer than what was drawn.

    :param place: float64 ``(12,)``: where the model stands, sine and cosine of its yaw, height and depth of the box's
        hinge, sine and cosine of the swing about it; red, green, blue left by light and dye.
    """
    rows, columns = image.shape[0], image.shape[1]
    sin, cos, hinge_y, hinge_z, sin_swing, cos_swing = place[3], place[4], place[5], place[6], place[7], place[8]
    my, mz = (low[1] + high[1]) / 2 - hinge_y, (low[2] + high[2]) / 2 - hinge_z
    mx = (low[0] + high[0]) / 2
    my, mz = hinge_y + my * cos_swing - mz * sin_swing, hinge_z + my * sin_swing + mz * cos_swing
    ox, oy, oz = eye.at[0, 0] - place[0], eye.at[0, 1] - place[1], eye.at[0, 2] - place[2]
    cx, cy, cz = cos * mx - sin * mz - ox, my - oy, sin * mx + cos * mz - oz
    radius = math.sqrt((high[0] - low[0]) ** 2 + (high[1] - low[1]) ** 2 + (high[2] - low[2]) ** 2) / 2
    ahead = cx * eye.at[1, 0] + cy * eye.at[1, 1] + cz * eye.at[1, 2]
    right = cx * eye.at[2, 0] + cy * eye.at[2, 1] + cz * eye.at[2, 2]
    up = cx * eye.at[3, 0] + cy * eye.at[3, 1] + cz * eye.at[3, 2]
    if ahead < -radius or math.sqrt(cx * cx + cy * cy + cz * cz) > eye.far:
        return
    first_row, last_row, first_column, last_column = 0, rows, 0, columns
    pixel = 2.0 * eye.tangent / rows
    if ahead > radius * 1.01:
        near, beyond = (ahead - radius) * pixel, (ahead + radius) * pixel
        first_column = max(0, int(columns / 2 + min((right - radius) / near, (right - radius) / beyond)))
        last_column = min(columns, int(columns / 2 + max((right + radius) / near, (right + radius) / beyond)) + 1)
        first_row = max(0, int(rows / 2 - max((up + radius) / near, (up + radius) / beyond)))
        last_row = min(rows, int(rows / 2 - min((up - radius) / near, (up - radius) / beyond)) + 1)
    # The eyes in the box's own frame: turned by the yaw, then back by the swing about its hinge.
    lx, ly, lz = cos * ox + sin * oz, oy - hinge_y, cos * oz - sin * ox - hinge_z
    ly, lz = ly * cos_swing + lz * sin_swing, lz * cos_swing - ly * sin_swing
    box_low = (low[0], low[1] - hinge_y, low[2] - hinge_z)
    box_high = (high[0], high[1] - hinge_y, high[2] - hinge_z)
    wide, tall, long = high[0] - low[0], high[1] - low[1], high[2] - low[2]
    for row in range(first_row, last_row):
        b = (1.0 - 2.0 * (row + 0.5) / rows) * eye.tangent
        for column in range(first_column, last_column):
            a = (2.0 * (column + 0.5) - columns) / rows * eye.tangent
            wx = eye.at[1, 0] + a * eye.at[2, 0] + b * eye.at[3, 0]
            wy = eye.at[1, 1] + a * eye.at[2, 1] + b * eye.at[3, 1]
            wz = eye.at[1, 2] + a * eye.at[2, 2] + b * eye.at[3, 2]
            dx, dz = cos * wx + sin * wz, cos * wz - sin * wx
            dy, dz = wy * cos_swing + dz * sin_swing, dz * cos_swing - wy * sin_swing
            at, side = meet(lx, ly, lz, dx, dy, dz, box_low, box_high)
            if at >= depth[row, column]:
                continue
            px, py, pz = lx + dx * at - box_low[0], ly + dy * at - box_low[1], lz + dz * at - box_low[2]
            if side < 2:
                u, v, texels = px / wide, pz / long, TEXTURE / min(wide, long)
            elif side < 4:
                u, v, texels = px / wide, 1.0 - py / tall, TEXTURE / min(wide, tall)
            else:
                u, v, texels = pz / long, 1.0 - py / tall, TEXTURE / min(long, tall)
            far = at * math.sqrt(1.0 + a * a + b * b)
            u, v = min(max(u, 0.0), 0.9999), min(max(v, 0.0), 0.9999)
            found = texel(art, tiles[side], u, v, min((texels * far * pixel) ** 2, 200.0))
            if found >> 24 < 128:
                continue
            lost = fogged(eye, far)
            kept = SHADES[side] * (1.0 - lost)
            depth[row, column] = at
            image[row, column, 0] = min(int((found & 255) * place[9] * kept + eye.murk[0] * lost), 255)
            image[row, column, 1] = min(int((found >> 8 & 255) * place[10] * kept + eye.murk[1] * lost), 255)
            image[row, column, 2] = min(int((found >> 16 & 255) * place[11] * kept + eye.murk[2] * lost), 255)


@part
def _item_box(
    art: Art, item: int, variant: int, size: float, low: Floats, high: Floats, tiles: NDArray[np.int64]
) -> bool:
    """The box of an item as a thing, its lower end at 0, and its tiles; False for a flat picture."""
    icon = art.icons[item, variant % VARIANTS]
    for side in range(6):
        tiles[side] = icon if icon >= 0 else art.faces[0, PLACES[item, variant % VARIANTS], side]
    thin = size if icon < 0 else 0.04 * size
    low[0], low[1], low[2] = -size / 2, 0.0, -thin / 2
    high[0], high[1], high[2] = size / 2, size, thin / 2
    return icon < 0


@part
def figures(world: World, eye: Eye, art: Art, image: Image, depth: Floats) -> None:
    """Draw mobs, items and the hand. ``depth``: how far along its ray, in planes from the eye, each pixel shows."""
    place, low, high, tiles = np.zeros(12), np.empty(3), np.empty(3), np.empty(6, np.int64)
    for i in range(MOBS):
        mob = world.mobs[i]
        if mob.kind == 0:
            continue
        byte = _light(eye, mob.x, mob.y + 0.5, mob.z)
        place[0], place[1], place[2] = mob.x, mob.y, mob.z
        place[3], place[4] = math.sin(math.radians(mob.yaw)), math.cos(math.radians(mob.yaw))
        pace = min(math.sqrt(mob.vx * mob.vx + mob.vz * mob.vz) * 8.0, 1.0)
        turned = math.cos(mob.age * STRIDE) * pace
        for part_of in range(SPANS[2 * mob.kind + mob.sheared, 0], SPANS[2 * mob.kind + mob.sheared, 1]):
            angle = turned * SWING[part_of]
            place[5], place[6] = HINGE[part_of, 0], HINGE[part_of, 1]
            place[7], place[8] = math.sin(angle), math.cos(angle)
            for k in range(3):
                dye = WOOL_COLOURS[mob.colour & 15, k] / 255.0 if WOOL[part_of] else 1.0
                place[9 + k] = eye.lit[byte, k] * dye
                if mob.hurt_ticks > 0:
                    place[9 + k] *= 1.0 + FLASH if k == 0 else 1.0 - FLASH
            _box(eye, art, image, depth, place, BOXES[part_of, :3], BOXES[part_of, 3:], art.skins[part_of])
    place[5], place[6] = 0.0, 0.0
    for i in range(DROPS):
        drop = world.drops[i]
        if not drop.alive:
            continue
        byte = _light(eye, drop.x, drop.y + 0.2, drop.z)
        place[0], place[2] = drop.x, drop.z
        place[1] = drop.y + 0.1 + 0.1 * math.sin(drop.age / 10.0)
        place[3], place[4], place[7], place[8] = math.sin(drop.age / 20.0), math.cos(drop.age / 20.0), 0.0, 1.0
        for k in range(3):
            place[9 + k] = eye.lit[byte, k]
        if not _item_box(art, drop.item, drop.variant, 0.25, low, high, tiles):
            _item_box(art, drop.item, drop.variant, 0.4, low, high, tiles)
        _box(eye, art, image, depth, place, low, high, tiles)
    p, held = world.player[0], world.slots[world.player[0].selected]
    byte = _light(eye, eye.at[0, 0], eye.at[0, 1], eye.at[0, 2])
    yaw, pitch = math.radians(p.yaw), math.radians(p.pitch)
    swing = math.sin(min(p.attack_ticks / SWING_TICKS, 1.0) * math.pi) if p.attack_held else 0.0
    for k in range(3):
        place[k], place[9 + k] = eye.at[0, k], eye.lit[byte, k]
    place[3], place[4], place[7], place[8] = math.sin(yaw), math.cos(yaw), -math.sin(pitch), math.cos(pitch)
    if held.quantity > 0:
        cube = _item_box(art, held.item, held.variant, 0.4 if held.item > 0 else 0.0, low, high, tiles)
        if not cube:
            # A picture is held edgewise: its plane along the look, its width ahead.
            for k in range(6):
                tiles[k] = art.icons[held.item, held.variant % VARIANTS]
            low[0], high[0], low[2], high[2] = -0.01, 0.01, -0.35, 0.35
            high[1] = 0.7
        for k in range(3):
            shift = (-0.75, -0.85 - 0.25 * swing, 0.95 + 0.2 * swing)[k]
            low[k], high[k] = (low[k] + shift) * HAND, (high[k] + shift) * HAND
    else:
        for k in range(6):
            tiles[k] = art.hand
        for k in range(3):
            shift = (0.15 * swing, -0.15 * swing, 0.25 * swing)[k]
            low[k] = ((-0.85, -1.0, 0.5)[k] + shift) * HAND
            high[k] = ((-0.6, -0.62, 1.15)[k] + shift) * HAND
    _box(eye, art, image, depth, place, low, high, tiles)
