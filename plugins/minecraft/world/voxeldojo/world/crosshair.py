"""Finds the entity (a mob, or an item on the ground) whose box is under the cross-hair."""

from __future__ import annotations

from voxeldojo.world.constants import ITEM_SIZE
from voxeldojo.world.jit import jit, part
from voxeldojo.world.mob_kinds import HALF, TALL
from voxeldojo.world.ray import meet
from voxeldojo.world.state import DROPS, MOBS, World

NOTHING, MOB, DROP = 0, 1, 2


@jit
def aim(
    world: World, x: float, y: float, z: float, dx: float, dy: float, dz: float, reach: float, drops: bool
) -> tuple[int, int, float]:
    """Find the nearest entity that a ray meets within ``reach``. The function ignores blocks. If blocks stop the ray,
    the caller first calls ``voxeldojo.world.ray.trace`` and passes the distance to the block as ``reach``.

    :param drops: whether items on the ground count as entities.
    :returns: the kind of the entity (``NOTHING``, ``MOB`` or ``DROP``), its index in ``world.mobs`` or ``world.drops``,
        and its distance (0 if the ray starts inside its box). If the ray meets no entity, the result is ``NOTHING``, -1
        and ``reach``.
    """
    what, index, best = NOTHING, -1, reach
    for i in range(MOBS):
        mob = world.mobs[i]
        if mob.kind == 0:
            continue
        half, tall = HALF[mob.kind], TALL[mob.kind]
        distance = reaches(x, y, z, dx, dy, dz, mob.x, mob.y, mob.z, half, tall)
        if distance < best:
            what, index, best = MOB, i, distance
    if drops:
        for i in range(DROPS):
            drop = world.drops[i]
            if not drop.alive:
                continue
            distance = reaches(x, y, z, dx, dy, dz, drop.x, drop.y, drop.z, ITEM_SIZE / 2, ITEM_SIZE)
            if distance < best:
                what, index, best = DROP, i, distance
    return what, index, best


@part
def reaches(
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    at_x: float,
    at_y: float,
    at_z: float,
    half: float,
    tall: float,
) -> float:
    """Return the distance along a ray to the box of an entity at a position. The distance to the entity's box is 0 if
    the ray starts inside the box, and ``FAR`` if the ray misses the box.
    """
    px, py, pz = x - at_x, y - at_y, z - at_z
    if abs(px) < half and abs(pz) < half and 0 < py < tall:
        return 0.0
    return meet(px, py, pz, dx, dy, dz, (-half, 0.0, -half), (half, tall, half))[0]
