"""Creepers swell near the player and explode (``EntityCreeper``, ``EntityAICreeperSwell``, 1.11.2)."""

from __future__ import annotations

from typing import Any

from voxeldojo.world.blasts import explode
from voxeldojo.world.constants import CREEPER_FAR, CREEPER_FUSE, CREEPER_NEAR, CREEPER_POWER
from voxeldojo.world.jit import part
from voxeldojo.world.mob_kinds import SIGHT, TALL
from voxeldojo.world.mob_senses import sees
from voxeldojo.world.state import World

SWELLS, TICK = 1, 2
"""The ``mode`` of a creeper is ``TICK`` times the ticks by which it has swollen, plus ``SWELLS`` while it swells and
stands.
"""


@part
def swell(world: World, m: Any, away: float) -> None:
    """Let a creeper that hunts the player swell or shrink for one tick. A creeper that has swollen for ``CREEPER_FUSE``
    ticks explodes and leaves nothing.

    :param away: the squared distance to the player.
    """
    if not m.mode & SWELLS and away < CREEPER_NEAR * CREEPER_NEAR:
        m.mode |= SWELLS
    if m.mode & SWELLS and (away > CREEPER_FAR * CREEPER_FAR or not sees(world, m, SIGHT[m.kind])):
        m.mode -= SWELLS
    if not m.mode & SWELLS:
        shrink(m)
        return
    m.mode += TICK
    if m.mode >= TICK * CREEPER_FUSE:
        x, y, z = m.x, m.y + TALL[m.kind] / 2.0, m.z
        m.kind = 0
        explode(world, x, y, z, float(CREEPER_POWER))


@part
def shrink(m: Any) -> None:
    """Let a creeper shrink for one tick."""
    m.mode = max(int(m.mode) // TICK - 1, 0) * TICK
