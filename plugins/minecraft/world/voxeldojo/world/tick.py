"""Runs one tick of the world, in the game's order.

In a tick, the player first turns, then attacks or uses the target under the cross-hair, then moves. Because the player
moves last, the target under the cross-hair is nearly the target that the last observation shows.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.chunks import SPAWN_CHUNKS, ensure
from voxeldojo.world.clock import step_clock
from voxeldojo.world.effects import step_effects
from voxeldojo.world.health import step_life
from voxeldojo.world.item_motion import step_drops
from voxeldojo.world.jit import jit, part
from voxeldojo.world.light import settle
from voxeldojo.world.mobs import step_mobs
from voxeldojo.world.player_actions import step_hands
from voxeldojo.world.player_motion import step_player, turn
from voxeldojo.world.spawn import spawn_mobs
from voxeldojo.world.state import CHUNK, World
from voxeldojo.world.updates import run_updates

NOTHING = -1


@part
def _forget_events(world: World) -> None:
    e = world.events[0]
    e.broke = e.placed = e.hit_mob = e.killed_mob = e.ate = e.milked = e.sheared = NOTHING
    e.used = e.tilled = False
    e.amount = e.distance = e.yaw = e.pitch = e.hunger = 0.0
    e.explosion = e.fire = e.magic = e.projectile = e.unblockable = False


def tick(world: World, action: NDArray[np.void]) -> None:
    """Advance the world by one tick, 1/20 s. The world continues to tick after the player's death.

    :param action: the keys of the player in this tick, ACTION ``(1,)``.
    """
    if _tick(world, action):
        player = world.player[0]
        ensure(world, int(player["x"]), int(player["z"]), SPAWN_CHUNKS)


@jit
def _tick(world: World, action: NDArray[np.void]) -> bool:
    """Advance the world by one tick. Return whether the player entered another chunk in the tick."""
    p, a = world.player[0], action[0]
    chunk_x, chunk_z = math.floor(p.x / CHUNK), math.floor(p.z / CHUNK)
    settle(world)
    _forget_events(world)
    if not p.dead:
        turn(world, a.yaw, a.pitch)
        step_hands(world, action)
        step_player(world, action)
    step_mobs(world)
    step_drops(world)
    spawn_mobs(world)
    run_updates(world)
    step_life(world)
    step_effects(world)
    step_clock(world)
    return bool(math.floor(p.x / CHUNK) != chunk_x or math.floor(p.z / CHUNK) != chunk_z)


KERNEL: Final[Any] = _tick
"""The compiled function."""
