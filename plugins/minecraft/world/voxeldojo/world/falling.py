"""Moves sand and gravel, which fall block by block while air, fire or a fluid is below.

In the game, a falling block of sand or gravel is an entity. In this world, falling sand or gravel remains a block and
moves down by one block every ``blocks.DELAY`` ticks. Sand or gravel above a player or a mob does not move.
"""

from __future__ import annotations

from voxeldojo.world.blocks import AIR, FIRE, LIQUID
from voxeldojo.world.collide import block_at
from voxeldojo.world.constants import FALLING_WAITS
from voxeldojo.world.edit import queue_update, set_block
from voxeldojo.world.jit import jit
from voxeldojo.world.occupancy import occupied
from voxeldojo.world.state import World


@jit
def update_falling(world: World, x: int, y: int, z: int) -> None:
    """Move the sand or gravel of a cell down by one block if the cell below is free."""
    under = block_at(world.blocks, x, y - 1, z)
    if not (under in (AIR, FIRE) or LIQUID[under]):
        return
    block = int(world.blocks[x, y, z])
    if occupied(world, x, y - 1, z, block):
        queue_update(world, x, y, z, FALLING_WAITS)
        return
    set_block(world, x, y, z, AIR, 0)
    set_block(world, x, y - 1, z, block, 0)
