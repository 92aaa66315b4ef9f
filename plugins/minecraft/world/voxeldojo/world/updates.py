"""Updates blocks after a change of a neighbouring block. Updates of blocks wait in a queue, from which a limited number
runs in each tick.

The queue is a ring buffer. A block update that is not due yet returns to the end of the queue. Block updates are lost
if the queue is full (``clock.overflow``). To recover lost block updates, the columns around the player are searched,
and an update is queued for every block that would react.

Each block with random ticks (a crop, farmland) has one more entry in the queue, as long as it exists. Each tick is a
random tick of the block with the probability ``RANDOM_TICK``, with which the game chooses a block. A world without such
blocks draws no random number for them.
"""

from __future__ import annotations

import math

from voxeldojo.world.blocks import AIR, DELAY, FALLS, LIQUID
from voxeldojo.world.collide import block_at
from voxeldojo.world.constants import RANDOM_TICK
from voxeldojo.world.crops import TICKS
from voxeldojo.world.edit import queue_random_ticks, queue_update
from voxeldojo.world.falling import update_falling
from voxeldojo.world.farming import endures, tick_randomly, update_farm
from voxeldojo.world.fluids import update_fluid
from voxeldojo.world.jit import jit, part
from voxeldojo.world.loot import break_block
from voxeldojo.world.occupancy import stands
from voxeldojo.world.rng import draw
from voxeldojo.world.state import CHUNK, HEIGHT, QUEUE, SIZE, World

DONE = 512
"""Maximal number of updates per tick."""
SWEPT = 64
"""Side of the square around the player that is searched after an overflow, in columns."""
COLUMNS = 4
"""Number of these columns that are searched per tick."""


@part
def _update(world: World, x: int, y: int, z: int) -> None:
    block = int(world.blocks[x, y, z])
    if LIQUID[block]:
        update_fluid(world, x, y, z)
    elif FALLS[block]:
        update_falling(world, x, y, z)
    elif TICKS[block]:
        update_farm(world, x, y, z)
    elif not stands(world, x, y, z, block):
        break_block(world, x, y, z, AIR, True)


@part
def _uneasy(world: World, x: int, y: int, z: int, block: int) -> bool:
    """Return whether an update would change the block at a position."""
    under = block_at(world.blocks, x, y - 1, z)
    if FALLS[block]:
        return bool(under == AIR or LIQUID[under])
    if TICKS[block]:
        return not endures(world, x, y, z)
    if not LIQUID[block]:
        return not stands(world, x, y, z, block)
    if world.level[x, y, z] > 0 or under == AIR:
        return True
    for face in range(4):
        if block_at(world.blocks, x + (face == 0) - (face == 1), y, z + (face == 2) - (face == 3)) == AIR:
            return True
    return False


@part
def _sweep(world: World) -> None:
    """Search one column for lost updates."""
    clock, p = world.clock[0], world.player[0]
    clock.sweep -= 1
    x = math.floor(p.x) - SWEPT // 2 + clock.sweep % SWEPT
    z = math.floor(p.z) - SWEPT // 2 + clock.sweep // SWEPT
    if not (0 <= x < SIZE and 0 <= z < SIZE) or not world.generated[x // CHUNK, z // CHUNK]:
        return
    for y in range(HEIGHT):
        block = int(world.blocks[x, y, z])
        if DELAY[block] > 0 and _uneasy(world, x, y, z, block):
            queue_update(world, x, y, z, int(DELAY[block]))
        if TICKS[block]:
            queue_random_ticks(world, x, y, z)


@jit
def run_updates(world: World) -> None:
    """Run the due block updates of the queue, at most ``DONE`` updates, and the random ticks of crops and farmland."""
    clock = world.clock[0]
    waiting = (clock.queue_end - clock.queue_start) % QUEUE
    done = 0
    for _ in range(waiting):
        if done >= DONE:
            break
        entry = world.queue[clock.queue_start]
        x, y, z, due = int(entry.x), int(entry.y), int(entry.z), int(entry.due)
        clock.queue_start = (clock.queue_start + 1) % QUEUE
        if due > clock.tick:
            queue_update(world, x, y, z, due - clock.tick)
        elif y >= HEIGHT:
            if TICKS[world.blocks[x, y - HEIGHT, z]]:
                queue_update(world, x, y, z, 1)
                if draw(clock) < RANDOM_TICK:
                    tick_randomly(world, x, y - HEIGHT, z)
        else:
            _update(world, x, y, z)
            done += 1
    if clock.overflow > 0:
        clock.overflow, clock.sweep = 0, SWEPT * SWEPT
    if waiting < QUEUE // 2:
        for _ in range(min(COLUMNS, clock.sweep)):
            _sweep(world)
