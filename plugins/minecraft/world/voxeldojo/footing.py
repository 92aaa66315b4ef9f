"""Where a body may be put: firm ground, room above it, nothing that drowns or burns."""

from __future__ import annotations

from voxeldojo.world.blocks import FIRE, FULL, LIQUID, TOP
from voxeldojo.world.state import HEIGHT, SIZE, World


def can_stand(world: World, x: int, y: int, z: int) -> bool:
    """Whether feet may stand in the block at a place whose land is made, a head above them, on a whole block below."""
    if not (0 <= x < SIZE and 0 <= z < SIZE and 1 <= y < HEIGHT - 1) or not FULL[world.blocks[x, y - 1, z]]:
        return False
    room = world.blocks[x, y : y + 2, z]
    return not (TOP[room].any() or LIQUID[room].any() or (room == FIRE).any())
