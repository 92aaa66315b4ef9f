"""Reads and changes single blocks, and keeps the height map, the queue of block updates and the queue of light changes
up to date.

``light.settle`` updates the light. Each tick calls it first.
"""

from __future__ import annotations

from voxeldojo.world.blocks import AIR, BEDROCK, DELAY, LIGHT, OPACITY
from voxeldojo.world.crops import TICKS
from voxeldojo.world.jit import jit
from voxeldojo.world.state import HEIGHT, QUEUE, RELIT, SIZE, TILE, World


@jit
def inside(x: int, y: int, z: int) -> bool:
    """Return whether a position is inside the world."""
    return 0 <= x < SIZE and 0 <= y < HEIGHT and 0 <= z < SIZE


@jit
def get(world: World, x: int, y: int, z: int) -> int:
    """Return the id of the block at a position. Positions below the world and beyond its border count as bedrock,
    positions above the world and in missing chunks as air.
    """
    if y >= HEIGHT:
        return AIR
    if not inside(x, y, z):
        return BEDROCK
    return int(world.blocks[x, y, z])


@jit
def queue_update(world: World, x: int, y: int, z: int, delay: int) -> None:
    """Queue an update of the block at a position, due in ``delay`` ticks. If the queue of block updates is full, the
    update is lost and counted in ``clock.overflow``.
    """
    clock = world.clock[0]
    after = (clock.queue_end + 1) % QUEUE
    if after == clock.queue_start:
        clock.overflow += 1
        return
    entry = world.queue[clock.queue_end]
    entry.x, entry.y, entry.z, entry.due = x, y, z, clock.tick + delay
    clock.queue_end = after


@jit
def queue_random_ticks(world: World, x: int, y: int, z: int) -> None:
    """Queue the random ticks of the block at a position, unless they are queued already. From then on, ``run_updates``
    keeps their entry in the queue as long as the cell contains a block with random ticks (``crops.TICKS``).
    """
    clock = world.clock[0]
    at = clock.queue_start
    while at != clock.queue_end:
        entry = world.queue[at]
        if entry.x == x and entry.y == y + HEIGHT and entry.z == z:
            return
        at = (at + 1) % QUEUE
    queue_update(world, x, y + HEIGHT, z, 0)


@jit
def update_around(world: World, x: int, y: int, z: int) -> None:
    """Queue updates of the block at a position and of its six neighbours, as far as these blocks react to changes. Each
    kind of block has its own delay.
    """
    for face in range(7):
        nx = x + (face == 1) - (face == 2)
        ny = y + (face == 3) - (face == 4)
        nz = z + (face == 5) - (face == 6)
        if inside(nx, ny, nz):
            delay = DELAY[world.blocks[nx, ny, nz]]
            if delay > 0:
                queue_update(world, nx, ny, nz, delay)


@jit
def set_block(world: World, x: int, y: int, z: int, block: int, level: int) -> bool:
    """Set the block at a position and queue updates of its neighbours. If the position is outside the world, change
    nothing and return False.

    :param level: the level of a fluid (0 for a source, 1 to 7 for shallower flows, 8 for a falling fluid), the age of a
        crop, or the moisture of farmland; 0 for all other blocks.
    """
    if not inside(x, y, z):
        return False
    old = world.blocks[x, y, z]
    world.blocks[x, y, z] = block
    world.level[x, y, z] = level
    if OPACITY[old] != OPACITY[block] or LIGHT[old] != LIGHT[block]:
        clock = world.clock[0]
        if clock.relit < RELIT:
            world.relit[clock.relit] = (x * HEIGHT + y) * SIZE + z
        clock.relit += 1
    if block != AIR and y > world.peak[x // TILE, z // TILE]:
        world.peak[x // TILE, z // TILE] = y
    if OPACITY[block] > 0:
        if y > world.top[x, z]:
            world.top[x, z] = y
    elif y == world.top[x, z]:
        below = y - 1
        while below >= 0 and OPACITY[world.blocks[x, below, z]] == 0:
            below -= 1
        world.top[x, z] = below
    update_around(world, x, y, z)
    if TICKS[block] and not TICKS[old]:
        queue_random_ticks(world, x, y, z)
    return True
