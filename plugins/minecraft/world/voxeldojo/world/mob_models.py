"""Renders mobs, items on the ground and the player's hand as boxes, before the terrain is rendered.

The function ``gather`` describes each box by ``BOX_VALUES`` numbers, in this order:

- the position of the model (x, y, z), and the sine and cosine of its yaw;
- the height and depth of the box's hinge, and the sine and cosine of its swing;
- the factors of red, green and blue from light and dye;
- the lower and upper corner of the box in the model's frame;
- the tiles on the six faces of the box.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.arithmetic import maximum, minimum
from voxeldojo.world.blocks import PLACES, VARIANTS
from voxeldojo.world.jit import part
from voxeldojo.world.mob_bombs import TICK
from voxeldojo.world.mob_kinds import CREEPER
from voxeldojo.world.ray import meet
from voxeldojo.world.raymarch import TEXTURE, X_BITS, Y_BITS, View, fog_share, texel
from voxeldojo.world.skins import BOXES, HINGE, SPANS, SWING, WOOL, WOOL_COLOURS
from voxeldojo.world.sky import Floats, climb
from voxeldojo.world.state import DROPS, HEIGHT, MOBS, SIZE, World
from voxeldojo.world.textures import Art

YAW, HINGED, TINT, LOW, HIGH, TILES = 3, 5, 9, 12, 15, 18
BOX_VALUES = 24
ROOM = MOBS * int((SPANS[:, 1] - SPANS[:, 0]).max()) + DROPS + 1
SHADES = np.array([0.55, 1.0, 0.8, 0.85, 0.65, 0.65])
"""Brightness of the faces: below, above, back, front, right, left."""
STRIDE = 0.6662
"""Angle by which legs swing in one tick, radians."""
FLASH = 0.4
"""Factor of red for a mob that was just hurt."""
BLINK, BRIGHT = 3, 1.8
"""A swelling creeper is brighter by this factor in every other span of so many ticks."""
HAND = 0.2
"""Size of a unit of the hand's boxes, in blocks: the hand is nearer than any wall."""
SWING_TICKS = 6
FULL_DAY = 240


@part
def _stand(view: View, row: Floats, x: float, y: float, z: float, yaw: float) -> None:
    """Write the position of a box, no swing, and the light at the position to ``row``."""
    row[0], row[1], row[2] = x, y, z
    row[YAW], row[YAW + 1] = math.sin(yaw), math.cos(yaw)
    row[HINGED], row[HINGED + 1], row[HINGED + 2], row[HINGED + 3] = 0.0, 0.0, 0.0, 1.0
    byte, cx, cy, cz = FULL_DAY, math.floor(x), math.floor(y + 0.3), math.floor(z)
    if 0 <= cx < SIZE and 0 <= cy < HEIGHT and 0 <= cz < SIZE:
        byte = int(view.light[(cx << X_BITS) + (cy << Y_BITS) + cz])
    for k in range(3):
        row[TINT + k] = view.lit[byte, k]


@part
def _as_item(art: Art, row: Floats, item: int, variant: int, size: float) -> bool:
    """Write the box of an item, whose lower end is at height 0, and the tiles of the box to ``row``. Return True if the
    item is drawn as a small block, False if it is drawn as a thin picture.
    """
    icon = art.icons[item, variant % VARIANTS]
    for side in range(6):
        row[TILES + side] = icon if icon >= 0 else art.faces[0, PLACES[item, variant % VARIANTS], side]
    wide = size if icon < 0 else 1.6 * size
    thin = size if icon < 0 else 0.06 * size
    row[LOW], row[LOW + 1], row[LOW + 2] = -wide / 2, 0.0, -thin / 2
    row[HIGH], row[HIGH + 1], row[HIGH + 2] = wide / 2, wide, thin / 2
    return bool(icon < 0)


@part
def gather(world: World, view: View, art: Art, boxes: Floats) -> int:
    """Write the boxes of all movable objects into ``boxes`` ``(ROOM, BOX_VALUES)``. Return their number."""
    count = 0
    for i in range(MOBS):
        mob = world.mobs[i]
        if mob.kind == 0:
            continue
        pace = minimum(math.sqrt(mob.vx * mob.vx + mob.vz * mob.vz) * 8.0, 1.0)
        turned = math.cos(mob.age * STRIDE) * pace
        model = 2 * mob.kind + mob.sheared
        for j in range(SPANS[model, 0], SPANS[model, 1]):
            row = boxes[count]
            _stand(view, row, mob.x, mob.y, mob.z, math.radians(mob.yaw))
            row[HINGED], row[HINGED + 1] = HINGE[j, 0], HINGE[j, 1]
            row[HINGED + 2], row[HINGED + 3] = math.sin(turned * SWING[j]), math.cos(turned * SWING[j])
            for k in range(3):
                row[LOW + k], row[HIGH + k] = BOXES[j, k], BOXES[j, 3 + k]
                if WOOL[j]:
                    row[TINT + k] *= WOOL_COLOURS[mob.colour & 15, k] / 255.0
                if mob.kind == CREEPER and mob.mode // (TICK * BLINK) % 2 == 1:
                    row[TINT + k] *= BRIGHT
                if mob.hurt_ticks > 0:
                    row[TINT + k] *= 1.0 + FLASH if k == 0 else 1.0 - FLASH
            for side in range(6):
                row[TILES + side] = art.skins[j, side]
            count += 1
    for i in range(DROPS):
        drop = world.drops[i]
        if drop.alive:
            row = boxes[count]
            _stand(view, row, drop.x, drop.y + 0.1 + 0.1 * math.sin(drop.age / 10.0), drop.z, drop.age / 20.0)
            _as_item(art, row, drop.item, drop.variant, 0.25)
            count += 1
    _hand(world, view, art, boxes[count])
    return count + 1


@part
def _hand(world: World, view: View, art: Art, row: Floats) -> None:
    """Write the box of the player's hand or of the item in the hand, in a frame that turns with the view direction."""
    p = world.player[0]
    held = world.slots[p.selected]
    _stand(view, row, view.at[0, 0], view.at[0, 1], view.at[0, 2], math.radians(p.yaw))
    pitch = math.radians(p.pitch)
    row[HINGED + 2], row[HINGED + 3] = math.sin(pitch), math.cos(pitch)
    swing = math.sin(minimum(p.attack_ticks / SWING_TICKS, 1.0) * math.pi) if p.attack_held else 0.0
    row[LOW], row[LOW + 1], row[LOW + 2] = -0.12, -0.1, -0.4
    row[HIGH], row[HIGH + 1], row[HIGH + 2] = 0.1, 0.22, 0.25
    if held.quantity > 0:
        if not _as_item(art, row, held.item, held.variant, 0.42):
            # The plane of the picture contains the view direction.
            row[LOW], row[LOW + 2], row[HIGH], row[HIGH + 2] = row[LOW + 2], row[LOW], row[HIGH + 2], row[HIGH]
    else:
        for side in range(6):
            row[TILES + side] = art.hand
    for end in (LOW, HIGH):
        row[end] = (row[end] - 0.75 + 0.15 * swing) * HAND
        row[end + 1] = (row[end + 1] - 0.82 - 0.1 * swing) * HAND
        row[end + 2] = (row[end + 2] + 0.9 + 0.25 * swing) * HAND


@part
def paint_boxes(view: View, art: Art, image: NDArray[np.uint8], depth: Floats, boxes: Floats, count: int) -> None:
    """Draw the boxes. A pixel of a box is drawn only if the box is nearer than ``depth``, the smallest distance so far
    at this pixel.
    """
    rows, columns = image.shape[0], image.shape[1]
    at, pixel = view.at, 2.0 * view.tangent / rows
    for n in range(count):
        box = boxes[n]
        sin, cos, hinge_y, hinge_z = box[YAW], box[YAW + 1], box[HINGED], box[HINGED + 1]
        sin_swing, cos_swing = box[HINGED + 2], box[HINGED + 3]
        wide, tall, long = box[HIGH] - box[LOW], box[HIGH + 1] - box[LOW + 1], box[HIGH + 2] - box[LOW + 2]
        ox, oy, oz = at[0, 0] - box[0], at[0, 1] - box[1], at[0, 2] - box[2]
        # The centre of the box, relative to the eyes. The box is within ``radius`` of it.
        mx, my, mz = box[LOW] + wide / 2, box[LOW + 1] + tall / 2 - hinge_y, box[LOW + 2] + long / 2 - hinge_z
        swung_y, swung_z = hinge_y + my * cos_swing - mz * sin_swing, hinge_z + my * sin_swing + mz * cos_swing
        cx, cy, cz = cos * mx - sin * swung_z - ox, swung_y - oy, sin * mx + cos * swung_z - oz
        radius = 0.5 * math.sqrt(wide * wide + tall * tall + long * long)
        ahead = cx * at[1, 0] + cy * at[1, 1] + cz * at[1, 2]
        right = cx * at[2, 0] + cy * at[2, 1] + cz * at[2, 2]
        up = cx * at[3, 0] + cy * at[3, 1] + cz * at[3, 2]
        if ahead < -radius or ahead > view.far:
            continue
        first_row, last_row, first_column, last_column = 0.0, float(rows), 0.0, float(columns)
        if ahead > 1.01 * radius:
            near, beyond = (ahead - radius) * pixel, (ahead + radius) * pixel
            first_column = maximum(0.0, columns / 2 + minimum((right - radius) / near, (right - radius) / beyond))
            last_column = minimum(
                last_column, columns / 2 + maximum((right + radius) / near, (right + radius) / beyond) + 1
            )
            first_row = maximum(0.0, rows / 2 - maximum((up + radius) / near, (up + radius) / beyond))
            last_row = minimum(last_row, rows / 2 - minimum((up - radius) / near, (up - radius) / beyond) + 1)
        # The eyes in the frame of the box: rotated by the yaw, then by the inverse swing about the hinge.
        lx, wy, wz = cos * ox + sin * oz, oy - hinge_y, cos * oz - sin * ox - hinge_z
        ly, lz = wy * cos_swing + wz * sin_swing, wz * cos_swing - wy * sin_swing
        low = (box[LOW], box[LOW + 1] - hinge_y, box[LOW + 2] - hinge_z)
        high = (box[HIGH], box[HIGH + 1] - hinge_y, box[HIGH + 2] - hinge_z)
        for row in range(int(first_row), int(last_row)):
            b = view.tangent - (row + 0.5) * pixel
            for column in range(int(first_column), int(last_column)):
                a = (column + 0.5 - 0.5 * columns) * pixel
                wx = at[1, 0] + a * at[2, 0] + b * at[3, 0]
                wy = at[1, 1] + a * at[2, 1] + b * at[3, 1]
                wz = at[1, 2] + a * at[2, 2] + b * at[3, 2]
                dx, ahead = cos * wx + sin * wz, cos * wz - sin * wx
                dy, dz = wy * cos_swing + ahead * sin_swing, ahead * cos_swing - wy * sin_swing
                away, side = meet(lx, ly, lz, dx, dy, dz, low, high)
                if away >= depth[row, column]:
                    continue
                u, v = (lx + dx * away - low[0]) / wide, 1.0 - (ly + dy * away - low[1]) / tall
                texels = TEXTURE / minimum(wide, tall)
                if side < 2:
                    v, texels = (lz + dz * away - low[2]) / long, TEXTURE / minimum(wide, long)
                elif side > 3:
                    u, texels = (lz + dz * away - low[2]) / long, TEXTURE / minimum(long, tall)
                far = away * math.sqrt(1.0 + a * a + b * b)
                texels *= far * pixel
                found = texel(art.texels, int(box[TILES + side]), u, v, minimum(texels * texels, 200.0))
                if found >> 24 < 128:
                    continue
                lost = fog_share(far, view.far, view.thick)
                kept, rise = SHADES[side] * (1.0 - lost), climb(wy * away / far)
                depth[row, column] = away
                for k in range(3):
                    seen = ((found >> (8 * k)) & 255) * box[TINT + k] * kept
                    seen += (view.murk[k] + (view.murk[3 + k] - view.murk[k]) * rise) * lost
                    image[row, column, k] = int(minimum(seen, 255.0))
