"""Updates water and lava, which spread, fall, dry up, mix and push.

The rules of fluids are those of the game (``BlockDynamicLiquid``, ``BlockLiquid``, 1.11.2; minecraft.wiki, Fluid). A
fluid is updated at a fixed interval. The level of a flowing fluid is that of its highest neighbour minus a fixed
decrement, which is larger for lava than for water. A fluid falls if possible. A fluid that cannot fall spreads towards
the nearest hole within reach, or to all sides. Two water sources beside a cell make the cell a third source. Lava that
touches water becomes obsidian (if the lava is a source) or cobblestone. Lava that flows onto water turns the water to
stone.
"""

from __future__ import annotations

import math

from voxeldojo.world.blocks import (
    AIR,
    BLOCKS_MOVEMENT,
    COBBLESTONE,
    ID,
    LAVA,
    OBSIDIAN,
    REEDS,
    SOLID,
    STONE,
    WATER,
)
from voxeldojo.world.collide import Blocks, block_at
from voxeldojo.world.constants import (
    COBBLE_LEVEL,
    FALLING_LEVEL,
    FALLING_PULL,
    LAVA_SEEKS,
    LAVA_THINS,
    SOURCES_MAKE,
    STONE_WAITS,
    WATER_SEEKS,
    WATER_THINS,
)
from voxeldojo.world.edit import inside, queue_update, set_block
from voxeldojo.world.jit import jit, part
from voxeldojo.world.loot import break_block
from voxeldojo.world.occupancy import occupied
from voxeldojo.world.state import CHUNK, World

FAR = 1000
"""Larger than any distance to a hole."""
STOPS = BLOCKS_MOVEMENT.copy()
"""Blocks that fluids cannot enter."""
STOPS[[REEDS, ID["ladder"]]] = True
STOPS.flags.writeable = False


@part
def _side(face: int) -> tuple[int, int]:
    """Return the direction of a side face of a block as x and z. Face 2 of a block is the north side, 3 the south side,
    4 the west side and 5 the east side.
    """
    return (face == 3) - (face == 2), (face == 1) - (face == 0)


@part
def _depth(world: World, x: int, y: int, z: int, fluid: int) -> int:
    """Return the level of ``fluid`` in a cell, or -1 if the cell does not contain this fluid."""
    if block_at(world.blocks, x, y, z) != fluid or y < 0:
        return -1
    return int(world.level[x, y, z])


@part
def _open(world: World, x: int, y: int, z: int, fluid: int) -> bool:
    """Return whether the fluid ``fluid`` can flow into a cell. Fluids cannot flow into missing chunks."""
    if not inside(x, y, z) or not world.generated[x // CHUNK, z // CHUNK]:
        return False
    block = world.blocks[x, y, z]
    return block != fluid and block != LAVA and not STOPS[block]


@part
def _hole(blocks: Blocks, level: Blocks, x: int, y: int, z: int, fluid: int, steps: int, last: int, came: int) -> int:
    """Return the distance, in steps between cells, to the nearest cell from which ``fluid`` would fall. The result is
    ``FAR`` if no cell within ``last`` steps lets ``fluid`` fall.
    """
    best = FAR
    for face in range(4):
        if face == came ^ 1:
            continue
        dx, dz = _side(face)
        nx, nz = x + dx, z + dz
        block = block_at(blocks, nx, y, nz)
        if STOPS[block] or (block == fluid and level[nx, y, nz] == 0):
            continue
        if not STOPS[block_at(blocks, nx, y - 1, nz)]:
            return steps
        if steps < last:
            best = min(best, _hole(blocks, level, nx, y, nz, fluid, steps + 1, last, face))
    return best


@jit
def mix(world: World, x: int, y: int, z: int) -> bool:
    """Turn lava to stone if water touches the lava at a side or from above. Lava does not turn to stone while a player
    or mob is in the cell.
    """
    if block_at(world.blocks, x, y, z) != LAVA:
        return False
    wet = block_at(world.blocks, x, y + 1, z) == WATER
    for face in range(4):
        dx, dz = _side(face)
        wet = wet or block_at(world.blocks, x + dx, y, z + dz) == WATER
    level = int(world.level[x, y, z])
    if not wet or level > COBBLE_LEVEL:
        return False
    if occupied(world, x, y, z, STONE):
        queue_update(world, x, y, z, STONE_WAITS)
        return False
    return set_block(world, x, y, z, OBSIDIAN if level == 0 else COBBLESTONE, 0)


@jit
def pour(world: World, x: int, y: int, z: int, fluid: int, level: int) -> None:
    """Set a fluid. The fluid removes the block in its cell. When lava is poured beside water, it turns to stone in the
    same tick.
    """
    if world.blocks[x, y, z] != AIR and fluid == WATER and world.blocks[x, y, z] != WATER:
        break_block(world, x, y, z, AIR, True)
    set_block(world, x, y, z, fluid, level)
    if fluid == LAVA:
        mix(world, x, y, z)
        return
    mix(world, x, y - 1, z)
    for face in range(4):
        dx, dz = _side(face)
        mix(world, x + dx, y, z + dz)


@part
def _spread(world: World, x: int, y: int, z: int, fluid: int, level: int) -> None:
    """Let a fluid flow from a cell to the sides, in the directions with the shortest path to a hole."""
    best, ways, last = FAR, 0, WATER_SEEKS if fluid == WATER else LAVA_SEEKS
    for face in range(4):
        dx, dz = _side(face)
        block = block_at(world.blocks, x + dx, y, z + dz)
        if STOPS[block] or (block == fluid and world.level[x + dx, y, z + dz] == 0):
            continue
        steps = 0
        if STOPS[block_at(world.blocks, x + dx, y - 1, z + dz)]:
            steps = _hole(world.blocks, world.level, x + dx, y, z + dz, fluid, 1, last, face)
        if steps < best:
            best, ways = steps, 0
        if steps == best:
            ways |= 1 << face
    for face in range(4):
        dx, dz = _side(face)
        if ways >> face & 1 and _open(world, x + dx, y, z + dz, fluid):
            pour(world, x + dx, y, z + dz, fluid, level)


@part
def _settled(world: World, x: int, y: int, z: int, fluid: int, level: int, loss: int) -> int:
    """Return the level that a flowing fluid gets from its neighbours, or -1 if the fluid dries up."""
    best, sources = -1, 0
    for face in range(4):
        dx, dz = _side(face)
        depth = _depth(world, x + dx, y, z + dz, fluid)
        sources += depth == 0
        depth = 0 if depth >= FALLING_LEVEL else depth
        if depth >= 0 and (best < 0 or depth < best):
            best = depth
    result = best + loss
    if best < 0 or result >= FALLING_LEVEL:
        result = -1
    if _depth(world, x, y + 1, z, fluid) >= 0:
        result = FALLING_LEVEL
    if sources >= SOURCES_MAKE and fluid == WATER:
        under = block_at(world.blocks, x, y - 1, z)
        if SOLID[under] or _depth(world, x, y - 1, z, fluid) == 0:
            result = 0
    return result


@jit
def update_fluid(world: World, x: int, y: int, z: int) -> None:
    """Update the fluid in a cell."""
    fluid, level = int(world.blocks[x, y, z]), int(world.level[x, y, z])
    loss = WATER_THINS if fluid == WATER else LAVA_THINS
    if mix(world, x, y, z):
        return
    if level > 0:
        new = _settled(world, x, y, z, fluid, level, loss)
        if new < 0:
            set_block(world, x, y, z, AIR, 0)
            return
        if new != level:
            level = new
            set_block(world, x, y, z, fluid, level)
    under = block_at(world.blocks, x, y - 1, z)
    if fluid == LAVA and under == WATER:
        if occupied(world, x, y - 1, z, STONE):
            queue_update(world, x, y, z, STONE_WAITS)
        else:
            set_block(world, x, y - 1, z, STONE, 0)
    elif _open(world, x, y - 1, z, fluid):
        pour(world, x, y - 1, z, fluid, FALLING_LEVEL)
    elif level == 0 or STOPS[under]:
        thinner = 1 if level >= FALLING_LEVEL else level + loss
        if thinner < FALLING_LEVEL:
            _spread(world, x, y, z, fluid, thinner)


@jit
def current(world: World, x: int, y: int, z: int) -> tuple[float, float, float]:
    """Return the direction of the flow of water in a cell as a unit vector, or zeros for still water or a cell without
    water (``getFlow``).
    """
    level = _depth(world, x, y, z, WATER)
    if level < 0:
        return 0.0, 0.0, 0.0
    here = 0 if level >= FALLING_LEVEL else level
    fx, fy, fz, walled = 0.0, 0.0, 0.0, False
    for face in range(4):
        dx, dz = _side(face)
        there = _depth(world, x + dx, y, z + dz, WATER)
        there = 0 if there >= FALLING_LEVEL else there
        pull = there - here
        if there < 0:
            pull = 0
            if not BLOCKS_MOVEMENT[block_at(world.blocks, x + dx, y, z + dz)]:
                lower = _depth(world, x + dx, y - 1, z + dz, WATER)
                if lower >= 0:
                    pull = (0 if lower >= FALLING_LEVEL else lower) - (here - FALLING_LEVEL)
            walled = walled or BLOCKS_MOVEMENT[block_at(world.blocks, x + dx, y, z + dz)]
        fx += dx * pull
        fz += dz * pull
    length = math.sqrt(fx * fx + fz * fz)
    if length > 0:
        fx, fz = fx / length, fz / length
    if level >= FALLING_LEVEL and walled:
        fy = -FALLING_PULL
        length = math.sqrt(fx * fx + fy * fy + fz * fz)
        fx, fy, fz = fx / length, fy / length, fz / length
    return fx, fy, fz
