"""Computes the light of the sky and of blocks as in the game, 0 to 15 in every cell, when blocks change.

The light of a cell is the maximum of the cell's own emission and of one value for each of its six neighbours. The value
for a neighbour of a cell is the neighbour's light minus the opacity of the cell, where an opacity of 0 counts as 1. A
cell has the sky light 15 if no block above the cell has an opacity; all other cells have less sky light. The light of
the sky and the light of blocks are the unique solution of this module's rule, independent of the order of changes
(minecraft.wiki, page Light, Java Edition 1.11).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.blocks import LIGHT, OPACITY
from voxeldojo.world.jit import jit, maker
from voxeldojo.world.state import CHUNK, HEIGHT, RELIT, SIZE, World

FULL_LIGHT = 15
SKY, GLOW = 4, 0
"""Bit offset of each light in a byte of ``World.light``."""
Bytes = NDArray[np.uint8]
Cells = NDArray[np.int32]
ROOM = 4096
TAKES = np.maximum(OPACITY, 1).astype(np.int64)
GIVES = LIGHT.astype(np.int64)
for _array in (TAKES, GIVES):
    _array.flags.writeable = False


@jit
def sky_light(world: World, x: int, y: int, z: int) -> int:
    """Return the sky light of a cell at full daylight, 0 to 15."""
    if not (0 <= x < SIZE and 0 <= z < SIZE) or y >= HEIGHT:
        return FULL_LIGHT
    return int(np.int64(world.light[x, y, z])) >> SKY if y >= 0 else 0


@jit
def block_light(world: World, x: int, y: int, z: int) -> int:
    """Return the block light of a cell, 0 to 15."""
    if not (0 <= x < SIZE and 0 <= y < HEIGHT and 0 <= z < SIZE):
        return 0
    return int(np.int64(world.light[x, y, z])) & FULL_LIGHT


@jit
def can_see_sky(world: World, x: int, y: int, z: int) -> bool:
    """Return whether neither the cell nor any cell above the cell has an opaque block (``World.canSeeSky``)."""
    return not (0 <= x < SIZE and 0 <= z < SIZE) or y > world.top[x, z]


@jit
def settle(world: World) -> None:
    """Update the light after all changes of blocks since the last call of ``settle``."""
    clock = world.clock[0]
    count = clock.relit
    clock.relit = 0
    if count > RELIT:
        light_region(world, 0, 0, SIZE, SIZE)
        return
    if count > 0:
        _change(world, count, SKY)
        _change(world, count, GLOW)


@maker
def _change(world: World, count: int, shift: int) -> None:
    """Update the sky light or the block light around the first ``count`` positions of ``world.relit``."""
    blocks, light, top = world.blocks, world.light, world.top
    dark, darks = np.empty(count * HEIGHT, np.int32), 0
    bright, brights = np.empty(count * (HEIGHT + 7), np.int32), 0
    for i in range(count):
        cell = world.relit[i]
        x, y, z = cell // (HEIGHT * SIZE), cell // SIZE % HEIGHT, cell % SIZE
        low, high = y, y
        if shift == SKY:
            # Only cells under the open sky have sky light 15, so the cells that changed are next to the top of the
            # column.
            while low > 0 and low <= top[x, z] and light[x, low - 1, z] >> SKY == FULL_LIGHT:
                low -= 1
            while low > top[x, z] + 1 and light[x, low - 1, z] >> SKY < FULL_LIGHT:
                low -= 1
        for level in range(low, high + 1):
            place = (x * HEIGHT + level) * SIZE + z
            was = (int(light[x, level, z]) >> shift) & FULL_LIGHT
            gives = (FULL_LIGHT if level > top[x, z] else 0) if shift == SKY else GIVES[blocks[x, level, z]]
            if was > gives:
                dark[darks] = place * 16 + was
                darks += 1
            light[x, level, z] = (int(light[x, level, z]) & ~(FULL_LIGHT << shift)) | (gives << shift)
            bright[brights] = place
            brights += 1
        for face in range(6):
            nx, ny, nz = x + (face == 0) - (face == 1), y + (face == 2) - (face == 3), z + (face == 4) - (face == 5)
            if 0 <= nx < SIZE and 0 <= ny < HEIGHT and 0 <= nz < SIZE:
                bright[brights] = (nx * HEIGHT + ny) * SIZE + nz
                brights += 1
    _flow(blocks, light, world.generated, dark, darks, bright, brights, shift)


@maker
def light_region(world: World, x0: int, z0: int, x1: int, z1: int) -> None:
    """Recompute the light of the generated columns from ``x0, z0`` (included) to ``x1, z1`` (excluded).

    The new light includes light that enters the region from the columns around the region.
    """
    blocks, light, top, generated = world.blocks, world.light, world.top, world.generated
    for x in range(x0, x1):
        for y in range(HEIGHT):
            for z in range(z0, z1):
                if generated[x // CHUNK, z // CHUNK]:
                    sky = FULL_LIGHT << SKY if y > top[x, z] else 0
                    light[x, y, z] = sky + GIVES[blocks[x, y, z]]
    north, south = max(z0 - 1, 0), min(z1 + 1, SIZE)
    ends = np.empty(SIZE, np.int64)
    for shift in (SKY, GLOW):
        dark, bright, brights = np.empty(0, np.int32), np.empty(ROOM, np.int32), 0
        for x in range(max(x0 - 1, 0), min(x1 + 1, SIZE)):
            highest = 0
            for z in range(north, south):
                # Above the tops of the neighbouring columns, every neighbouring cell already has sky light 15.
                last = int(top[x, z]) + 2
                for face in range(4):
                    nx, nz = x + (face == 0) - (face == 1), z + (face == 2) - (face == 3)
                    if 0 <= nx < SIZE and 0 <= nz < SIZE:
                        last = max(last, top[nx, nz] + 1)
                last = min(last, HEIGHT) if shift == SKY else HEIGHT
                ends[z] = last if generated[x // CHUNK, z // CHUNK] else 0
                highest = max(highest, ends[z])
            for y in range(highest):
                if brights + SIZE > len(bright):
                    bright = _longer(bright)
                for z in range(north, south):
                    if y < ends[z] and (light[x, y, z] >> shift) & FULL_LIGHT > 1:
                        bright[brights] = (x * HEIGHT + y) * SIZE + z
                        brights += 1
        _flow(blocks, light, generated, dark, 0, bright, brights, shift)


@maker
def _flow(
    blocks: Bytes,
    light: Bytes,
    generated: NDArray[np.bool_],
    dark: Cells,
    darks: int,
    bright: Cells,
    brights: int,
    shift: int,
) -> None:
    """Remove the light that came from the cells in the array ``dark``. An entry of ``dark`` is 16 times the index of
    the cell plus the old light of the cell. After the removal, light spreads from the cells in ``bright`` and from the
    rim of the removed region.
    """
    keep = ~(FULL_LIGHT << shift)
    first, darkens = 0, True
    while True:
        if darkens and first == darks:
            first, darkens = 0, False
        if darkens:
            cell, here = dark[first] // 16, dark[first] % 16
            if darks + 6 > len(dark):
                dark = _longer(dark)
        elif first < brights:
            cell = bright[first]
            here = 0
        else:
            break
        first += 1
        x, y, z = cell // (HEIGHT * SIZE), cell // SIZE % HEIGHT, cell % SIZE
        if not darkens:
            here = (int(light[x, y, z]) >> shift) & FULL_LIGHT
            if here < 2:
                continue
        if brights + 6 > len(bright):
            bright = _longer(bright)
        for face in range(6):
            nx, ny, nz = x + (face == 0) - (face == 1), y + (face == 2) - (face == 3), z + (face == 4) - (face == 5)
            if nx < 0 or nx >= SIZE or ny < 0 or ny >= HEIGHT or nz < 0 or nz >= SIZE:
                continue
            if not generated[nx // CHUNK, nz // CHUNK]:
                continue
            all_light = int(light[nx, ny, nz])
            its = (all_light >> shift) & FULL_LIGHT
            new = its
            if not darkens:
                new = max(its, here - TAKES[blocks[nx, ny, nz]])
            elif 0 < its < here:
                new = GIVES[blocks[nx, ny, nz]] if shift == GLOW else 0
                dark[darks] = ((nx * HEIGHT + ny) * SIZE + nz) * 16 + its
                darks += 1
            if new != its:
                light[nx, ny, nz] = (all_light & keep) | (new << shift)
            if new > its or (darkens and new > 0):
                bright[brights] = (nx * HEIGHT + ny) * SIZE + nz
                brights += 1


@maker
def _longer(cells: Cells) -> Cells:
    longer = np.empty(2 * len(cells) + HEIGHT, np.int32)
    for i in range(len(cells)):  # assigning slices would take seconds to compile
        longer[i] = cells[i]
    return longer
