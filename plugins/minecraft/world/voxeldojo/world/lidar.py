"""Computes MineDojo's observation ``rays``, which states what the rays from the player's eyes hit.

The rules of ``rays`` are those of the method ``JSONWorldDataHelper.buildRichLidarData`` of MineDojo 0.1. The direction
of a ray is the view direction, rotated by ``Vec3d.rotatePitch`` about the world's x axis and then by ``rotateYaw``
about y. A ray ends at a block, a plant or the source of a fluid, and also reports a mob or an item that the ray meets
before its end. This module differs from MineDojo in the distance of a ray that meets no block. In this module, the
distance of a ray that meets no block is the length of the ray. In MineDojo, the distance of a ray that meets no block
depends on the position of the player, because MineDojo uses the vector of the ray as a position.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world import blocks
from voxeldojo.world.arithmetic import maximum
from voxeldojo.world.constants import ITEM_SIZE
from voxeldojo.world.crosshair import reaches
from voxeldojo.world.horizon import SECTORS, horizon, sector
from voxeldojo.world.items import NAMES as ITEMS
from voxeldojo.world.jit import jit
from voxeldojo.world.mob_kinds import HALF, TALL
from voxeldojo.world.mob_kinds import NAMES as KINDS
from voxeldojo.world.projectiles import PROJECTILES
from voxeldojo.world.ray import eyes, look, trace
from voxeldojo.world.state import DROPS, HEIGHT, MOBS, SIZE, World
from voxeldojo.world.voxels import NAMES

ENTITIES = np.array(["null", *KINDS[1:], *PROJECTILES.values(), "item"])
"""Values of ``entity_name``: kinds of mobs, then projectiles, then items."""
IN_FLIGHT = np.full(len(ITEMS), len(ENTITIES) - 1)
"""Index in ``ENTITIES`` of a projectile, by its item."""
for _item, _name in PROJECTILES.items():
    IN_FLIGHT[_item] = list(ENTITIES).index(_name)
IN_FLIGHT.flags.writeable = False
FLAGS = {
    "is_tool_not_required": blocks.TOOL_FREE,
    "blocks_movement": blocks.BLOCKS_MOVEMENT,
    "is_liquid": blocks.LIQUID,
    "is_solid": blocks.SOLID,
    "can_burn": blocks.BURNS,
}


CLOSE = 1e-9


@jit
def cast(
    world: World,
    rays: NDArray[np.float64],
    found: NDArray[np.int64],
    distances: NDArray[np.float64],
    places: NDArray[np.int64],
) -> None:
    """Trace rays and write what they hit.

    :param rays: the pitch and the yaw of each ray in radians relative to the view direction, and its length in blocks,
        ``(n, 3)``.
    :param found: an output array ``(n, 3)`` for the block that each ray hits, its metadata, and the index of the entity
        in ``ENTITIES``.
    :param distances: an output array ``(n, 2)`` for the distances from the eyes to the block and to the entity that
        each ray hits. If a ray meets no entity, both distances are those to the block.
    :param places: an output array ``(n, 3)`` for x, y and z of the block that each ray hits.
    """
    p = world.player[0]
    x, y, z = eyes(world)
    look_x, look_y, look_z = look(p.yaw, p.pitch)
    ways, steepest, farthest = np.empty((len(rays), 3)), np.empty(SECTORS), 0.0
    for i in range(len(rays)):
        farthest = maximum(farthest, rays[i, 2])
    horizon(world.peak, x, y, z, farthest, steepest)
    for i in range(len(rays)):
        pitch, yaw, reach = rays[i]
        up = math.cos(pitch) * look_y + math.sin(pitch) * look_z
        ahead = math.cos(pitch) * look_z - math.sin(pitch) * look_y
        dx, dz = math.cos(yaw) * look_x + math.sin(yaw) * ahead, math.cos(yaw) * ahead - math.sin(yaw) * look_x
        ways[i, 0], ways[i, 1], ways[i, 2] = dx, up, dz
        block, level, distance, run = 0, 0, reach, dx * dx + dz * dz
        if up > 0.0 and run > 0.0 and up * up > steepest[int(sector(dx, dz)) % SECTORS] * run:
            at_x, at_y, at_z = math.floor(x + dx * reach), math.floor(y + up * reach), math.floor(z + dz * reach)
        else:
            _, distance, at_x, at_y, at_z, _ = trace(world, x, y, z, dx, up, dz, reach, True)
        if 0 <= at_x < SIZE and 0 <= at_y < HEIGHT and 0 <= at_z < SIZE:
            block, level = int(world.blocks[at_x, at_y, at_z]), int(world.level[at_x, at_y, at_z])
        found[i, 0], found[i, 1], found[i, 2] = block, blocks.META[block] + level, 0
        distances[i, 0], distances[i, 1] = distance, distance
        places[i, 0], places[i, 1], places[i, 2] = at_x, at_y, at_z
    for j in range(MOBS + DROPS):
        if j < MOBS:
            mob = world.mobs[j]
            kind, at = int(mob.kind), (mob.x, mob.y, mob.z)
            half, tall = HALF[mob.kind], TALL[mob.kind]
        else:
            drop = world.drops[j - MOBS]
            kind, at = (len(ENTITIES) - 1) * int(drop.alive), (drop.x, drop.y, drop.z)
            if drop.alive and drop.quantity == 0:
                kind = IN_FLIGHT[drop.item]
            half, tall = ITEM_SIZE / 2, ITEM_SIZE
        # Most rays miss the sphere around an entity's box, so this cheap test comes first.
        mx, my, mz, ball = at[0] - x, at[1] + tall / 2 - y, at[2] - z, 2 * half * half + tall * tall / 4
        away = mx * mx + my * my + mz * mz
        if kind > 0 and math.sqrt(away) < farthest + math.sqrt(ball):
            for i in range(len(rays)):
                along = mx * ways[i, 0] + my * ways[i, 1] + mz * ways[i, 2]
                if away > ball and (along < 0.0 or away - along * along > ball + CLOSE):
                    continue
                near = reaches(x, y, z, ways[i, 0], ways[i, 1], ways[i, 2], at[0], at[1], at[2], half, tall)
                if near < distances[i, 1]:
                    distances[i, 1], found[i, 2] = near, kind


def lidar(world: World, rays: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return MineDojo's observation ``rays``.

    :param rays: the pitch and the yaw of each ray in radians relative to the view direction, and its length in blocks,
        ``(n, 3)``.
    :returns: a dict with 16 arrays ``(n,)``, one for each key of ``rays``; distances and places are float32, other
        numbers int64, flags bool and names str.
    """
    count = len(rays)
    found, places = np.empty((count, 3), np.int64), np.empty((count, 3), np.int64)
    distances = np.empty((count, 2))
    cast(world, np.ascontiguousarray(rays, np.float64), found, distances, places)
    return as_observation(rays, found, distances, places)


def as_observation(
    rays: NDArray[np.float64], found: NDArray[np.int64], distances: NDArray[np.float64], places: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Return MineDojo's observation ``rays`` from the output arrays of ``cast``. These arrays may have a leading
    axis.
    """
    ids = found[..., 0]
    angles = np.broadcast_to(rays, (*ids.shape, 3))
    return {
        "block_name": NAMES[ids],
        "block_distance": distances[..., 0].astype(np.float32),
        "block_meta": found[..., 1].copy(),
        "harvest_level": blocks.LEVEL[ids].astype(np.int64),
        **{name: flag[ids] for name, flag in FLAGS.items()},
        "entity_name": ENTITIES[found[..., 2]],
        "entity_distance": distances[..., 1].astype(np.float32),
        "ray_pitch": angles[..., 0].astype(np.float32),
        "ray_yaw": angles[..., 1].astype(np.float32),
        **{f"traced_block_{axis}": places[..., i].astype(np.float32) for i, axis in enumerate("xyz")},
    }
