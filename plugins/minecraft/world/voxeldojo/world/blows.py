"""Blows of mobs against the player: the damage, its description in the events, and the push away from the mob."""

from __future__ import annotations

import math
from typing import Any

from voxeldojo.world.constants import KNOCK, KNOCK_SHARE, KNOCK_UP
from voxeldojo.world.health import hurt
from voxeldojo.world.jit import part
from voxeldojo.world.state import World


@part
def blow(world: World, amount: float, kind: int, x: float, y: float, z: float) -> bool:
    """Damage the player by ``amount`` half hearts and describe the damage as one that comes from ``x, y, z``. Return
    False if the player takes no damage.

    :param kind: the flags of the damage (``health.PLAIN``, ``FIRE``, ``UNBLOCKABLE``).
    """
    p, e = world.player[0], world.events[0]
    dx, dy, dz = p.x - x, p.y - y, p.z - z
    if not hurt(world, amount, kind):
        return False
    flat = math.hypot(dx, dz)
    e.distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    e.yaw = (math.degrees(math.atan2(dx, -dz)) - p.yaw + 180.0) % 360.0 - 180.0
    e.pitch = math.degrees(math.atan2(dy, flat)) - p.pitch
    return True


@part
def push_back(p: Any, dx: float, dz: float) -> None:
    """Push the player in the direction ``dx``, ``dz`` and upwards (``EntityLivingBase.knockBack``)."""
    flat = math.hypot(dx, dz)
    if flat > 0.0:
        p.vx, p.vz = p.vx / KNOCK_SHARE + dx / flat * KNOCK, p.vz / KNOCK_SHARE + dz / flat * KNOCK
        if p.on_ground:
            p.vy = min(KNOCK_UP, p.vy / KNOCK_SHARE + KNOCK)
