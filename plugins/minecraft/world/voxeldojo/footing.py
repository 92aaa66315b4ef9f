"""Finds safe positions for a player or mob. A safe position is on solid ground, has free space above the ground, and
touches neither fluids nor fire.
"""

from __future__ import annotations

from voxeldojo.world.blocks import FIRE, FULL, LIQUID, TOP
from voxeldojo.world.state import HEIGHT, SIZE, World


def can_stand(world: World, x: int, y: int, z: int) -> bool:
    """Return whether a player can stand in a cell. The block below the cell must be full, and both the cell and the
    next cell above must be free. The chunk of the cell must be generated.
    """
    if not (0 <= x < SIZE and 0 <= z < SIZE and 1 <= y < HEIGHT - 1) or not FULL[world.blocks[x, y - 1, z]]:
        return False
    room = world.blocks[x, y : y + 2, z]
    return not (TOP[room].any() or LIQUID[room].any() or (room == FIRE).any())
