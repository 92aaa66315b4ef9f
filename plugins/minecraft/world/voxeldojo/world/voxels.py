"""Computes MineDojo's observation ``voxels``, which has the blocks in a box around the player.

The box of voxels is relative to the block of the player's feet. MineDojo's angle of a block is between the view
direction and the vector from the eyes to the lowest corner of the block, not to the block's centre. The rules of
``voxels`` are those of the method ``JSONWorldDataHelper.buildGridData`` of MineDojo 0.1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world import blocks
from voxeldojo.world.jit import jit
from voxeldojo.world.ray import eyes, look
from voxeldojo.world.state import HEIGHT, SIZE, World

NAMES = np.array([block.name for block in blocks.TABLE])
FLAGS = {
    "is_collidable": blocks.COLLIDABLE,
    "is_tool_not_required": blocks.TOOL_FREE,
    "blocks_movement": blocks.BLOCKS_MOVEMENT,
    "is_liquid": blocks.LIQUID,
    "is_solid": blocks.SOLID,
    "can_burn": blocks.BURNS,
    "blocks_light": blocks.BLOCKS_LIGHT,
}


@jit
def read_box(
    world: World, x: int, y: int, z: int, ids: NDArray[np.int64], metas: NDArray[np.int64], cosines: NDArray[np.float32]
) -> None:
    """Fill three arrays of the same shape with the blocks of a box of voxels. The offset from the player's feet to the
    lowest corner of the box is ``x, y, z``.

    Cells of the box that are outside of the world or in missing chunks are air.
    """
    p = world.player[0]
    eye_x, eye_y, eye_z = eyes(world)
    look_x, look_y, look_z = look(p.yaw, p.pitch)
    x0, y0, z0 = math.floor(p.x) + x, math.floor(p.y) + y, math.floor(p.z) + z
    for i in range(ids.shape[0]):
        for j in range(ids.shape[1]):
            for k in range(ids.shape[2]):
                at_x, at_y, at_z = x0 + i, y0 + j, z0 + k
                block, level = 0, 0
                if 0 <= at_x < SIZE and 0 <= at_y < HEIGHT and 0 <= at_z < SIZE:
                    block, level = world.blocks[at_x, at_y, at_z], world.level[at_x, at_y, at_z]
                ids[i, j, k], metas[i, j, k] = block, blocks.META[block] + level
                dx, dy, dz = at_x - eye_x, at_y - eye_y, at_z - eye_z
                length = math.sqrt(dx * dx + dy * dy + dz * dz)
                # The game's Vec3d.normalize returns zero for shorter vectors.
                dot = (dx * look_x + dy * look_y + dz * look_z) / length if length > 1e-4 else 0.0
                cosines[i, j, k] = min(max(dot, -1.0), 1.0)


def voxels(world: World, low: tuple[int, int, int], high: tuple[int, int, int]) -> dict[str, NDArray[Any]]:
    """Return MineDojo's ``voxels`` for the box from ``low`` to ``high`` (both included), in blocks relative to the
    player's feet.

    :returns: the arrays ``block_name`` (str), ``block_meta`` (int64), seven flags (bool) and ``cos_look_vec_angle``
        (float32), each ``(x, y, z)`` with ascending coordinates.
    """
    shape = tuple(top - bottom + 1 for bottom, top in zip(low, high, strict=True))
    ids, metas = np.empty(shape, np.int64), np.empty(shape, np.int64)
    cosines = np.empty(shape, np.float32)
    read_box(world, *low, ids, metas, cosines)
    return as_observation(ids, metas, cosines)


def as_observation(
    ids: NDArray[np.int64], metas: NDArray[np.int64], cosines: NDArray[np.float32]
) -> dict[str, NDArray[Any]]:
    """Return MineDojo's ``voxels`` from the output arrays of ``read_box``. These arrays may have a leading axis."""
    flags = {name: flag[ids] for name, flag in FLAGS.items()}
    return {"block_name": NAMES[ids], "block_meta": metas, **flags, "cos_look_vec_angle": cosines}
