"""The state of a world: arrays and records, nothing else, so that compiled code and copies reach all of it.

Axes are the game's: x east, y up, z south, in blocks; yaw in degrees, 0 is south (+z), 90 west (-x); pitch in degrees,
positive looks down. Speeds are blocks per tick; a tick is 1/20 s. A position is the middle of the feet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

CHUNK = 16
"""Columns of a chunk, each way."""
TILE = 4
"""Columns, each way, that ``World.peak`` takes together."""
HEIGHT = 128
"""Layers of the world."""
SIZE = 512
"""Columns of the world, each way; beyond them is a wall, as at the game's world border."""
SLOTS = 41
"""0-8 hotbar, 9-35 the rest of the inventory, 36-39 feet, legs, chest, head, 40 off hand: Malmo's numbering."""
MOBS = 64
DROPS = 128
QUEUE = 4096
RELIT = 1024
"""Changes of blocks that wait for their light; with more, all of the world is lit anew."""

SLOT = np.dtype(
    [
        ("item", np.int16),  # index into items.NAMES; 0 is air
        ("quantity", np.int16),
        ("variant", np.int16),  # the game's metadata: 2 is birch of planks, 14 red of wool
        ("damage", np.int16),  # uses so far; the item's table has how many it bears
    ],
    align=True,
)

PLAYER = np.dtype(
    [
        *((name, np.float64) for name in ("x", "y", "z", "vx", "vy", "vz", "yaw", "pitch")),
        *((name, np.float64) for name in ("life", "food", "saturation", "exhaustion", "xp", "fall")),
        *((name, np.float64) for name in ("spawn_x", "spawn_y", "spawn_z")),
        ("dig_progress", np.float64),  # 0 to 1 of the block at dig_*
        *((name, np.int32) for name in ("dig_x", "dig_y", "dig_z", "dig_delay")),
        ("air", np.int32),  # ticks of breath, 300 at most
        ("use_ticks", np.int32),  # for how long something has been eaten
        ("use_delay", np.int32),
        ("used_item", np.int32),  # what is being eaten
        ("held_item", np.int32),  # in the hand in the last tick: with another the arm has to recover anew
        ("dig_item", np.int32),  # what is dug with: another item begins anew
        ("jump_delay", np.int32),
        ("hurt_ticks", np.int32),  # for how long only a heavier blow than the last counts
        ("last_damage", np.float64),  # that blow
        ("fire_ticks", np.int32),
        ("food_timer", np.int32),
        ("attack_ticks", np.int32),  # since the last swing, for the strength of the next
        ("fuel_ticks", np.int32),  # of burning, left over from what was put into furnaces
        ("selected", np.int32),  # slot of the main hand, 0 to 8
        *((name, np.bool_) for name in ("on_ground", "in_water", "in_lava", "sneaking", "sprinting", "sleeping")),
        ("attack_held", np.bool_),
        ("bumped", np.bool_),  # against a wall in the last tick
        ("dead", np.bool_),
    ],
    align=True,
)

MOB = np.dtype(
    [
        ("kind", np.int8),  # index into kinds.NAMES; 0 is none
        ("sheared", np.bool_),
        ("on_ground", np.bool_),
        ("colour", np.int8),  # of wool
        *((name, np.float64) for name in ("x", "y", "z", "vx", "vy", "vz", "yaw", "life", "fall", "goal_x", "goal_z")),
        ("last_damage", np.float64),  # of the newest blow: while hurt_ticks last only what exceeds it counts
        *((name, np.int32) for name in ("id", "age", "wander", "panic", "hurt_ticks", "cooldown", "fire_ticks")),
        ("hit_ticks", np.int32),  # for how long yet its death is the player's doing
    ],
    align=True,
)

DROP = np.dtype(
    [
        ("alive", np.bool_),
        *((name, np.int16) for name in ("item", "quantity", "variant", "damage")),  # as in SLOT
        *((name, np.float64) for name in ("x", "y", "z", "vx", "vy", "vz")),
        ("age", np.int32),  # ticks; gone at 6,000
        ("delay", np.int32),  # ticks until it can be picked up
    ],
    align=True,
)

CLOCK = np.dtype(
    [
        ("seed", np.uint64),
        ("rng", np.uint64),  # state of the world's generator; see rng.py
        ("tick", np.int64),  # since the world began
        ("time", np.int64),  # of day, 0 (sunrise) to 23,999
        ("next_id", np.int32),
        ("biome", np.int32),  # the game's id of the only biome; -1: as the seed has it
        ("break_speed", np.float64),
        ("aspect", np.float64),  # the picture's width over its height: what counts as in view is asked of it
        ("queue_start", np.int32),
        ("queue_end", np.int32),
        ("overflow", np.int32),  # block updates the queue had no room for since the last tick
        ("sweep", np.int32),  # columns yet to be searched for those
        ("relit", np.int32),  # how many changes wait in ``World.relit``, those it has no room for too
        *((name, np.bool_) for name in ("time_passes", "mobs_spawn", "raining", "thundering")),
    ],
    align=True,
)

EVENTS = np.dtype(
    [
        # the newest damage, as MineDojo's damage_source tells it
        *((name, np.float64) for name in ("amount", "distance", "yaw", "pitch", "hunger")),
        *((name, np.bool_) for name in ("explosion", "fire", "magic", "projectile", "unblockable")),
        # what happened in this tick; -1 or 0 where nothing did
        *((name, np.int32) for name in ("broke", "placed", "hit_mob", "killed_mob", "ate", "milked", "sheared")),
        ("used", np.bool_),  # the use was spent on a block or an animal
    ],
    align=True,
)

QUEUED = np.dtype([("x", np.int16), ("y", np.int16), ("z", np.int16), ("due", np.int64)], align=True)

ACTION = np.dtype(
    [
        *((name, np.float64) for name in ("yaw", "pitch")),  # degrees to turn by
        *((name, np.int8) for name in ("forward", "strafe")),  # 1 forward or left, -1 back or right
        *((name, np.bool_) for name in ("jump", "sneak", "sprint", "attack", "use", "drop")),
    ],
    align=True,
)


class World(NamedTuple):
    """All of a world. Compiled functions take it whole and change it in place.

    :ivar blocks: uint8 ``(SIZE, HEIGHT, SIZE)``, x, y, z: index into ``blocks.TABLE``. Fluids' levels lie in ``level``.
    :ivar level: uint8, like ``blocks``: of a fluid, 0 a source, 1 to 7 flowing thinner, 8 falling; else 0.
    :ivar light: uint8, like ``blocks``: 16 times the sky's light (0 to 15, of a bright day) plus that of blocks.
    :ivar generated: bool ``(SIZE / CHUNK, SIZE / CHUNK)``: which chunks were generated.
    :ivar top: int16 ``(SIZE, SIZE)``: the highest block of a column that stops light, -1 where none does.
    :ivar peak: int16 ``(SIZE / TILE, SIZE / TILE)``: no block of so many columns each way is higher; -1 where none is.
    :ivar biome: uint8 ``(SIZE, SIZE)``: the game's biome ids.
    :ivar slots: SLOT ``(SLOTS,)``. :ivar mobs: MOB ``(MOBS,)``. :ivar drops: DROP ``(DROPS,)``.
    :ivar queue: QUEUED ``(QUEUE,)``: block updates to come, a ring from ``queue_start`` to ``queue_end``.
    :ivar relit: int32 ``(RELIT,)``: places, as flat indices of ``blocks``, whose light has to be looked at again.
    :ivar kills: int64, one for each kind of mob: killed by the player since the world began.
    :ivar player: PLAYER ``(1,)``. :ivar clock: CLOCK ``(1,)``. :ivar events: EVENTS ``(1,)``.
    """

    blocks: NDArray[np.uint8]
    level: NDArray[np.uint8]
    light: NDArray[np.uint8]
    generated: NDArray[np.bool_]
    top: NDArray[np.int16]
    peak: NDArray[np.int16]
    biome: NDArray[np.uint8]
    slots: NDArray[Any]
    mobs: NDArray[Any]
    drops: NDArray[Any]
    queue: NDArray[Any]
    relit: NDArray[np.int32]
    kills: NDArray[np.int64]
    player: NDArray[Any]
    clock: NDArray[Any]
    events: NDArray[Any]


KINDS = 16
"""Room for kinds of mobs in ``World.kills``."""


def empty(seed: int) -> World:
    """A world of air without a chunk, its clock at sunrise. Memory is taken only where something is written."""
    world = World(
        blocks=np.zeros((SIZE, HEIGHT, SIZE), np.uint8),
        level=np.zeros((SIZE, HEIGHT, SIZE), np.uint8),
        light=np.zeros((SIZE, HEIGHT, SIZE), np.uint8),
        generated=np.zeros((SIZE // CHUNK, SIZE // CHUNK), np.bool_),
        top=np.full((SIZE, SIZE), -1, np.int16),
        peak=np.full((SIZE // TILE, SIZE // TILE), -1, np.int16),
        biome=np.zeros((SIZE, SIZE), np.uint8),
        slots=np.zeros(SLOTS, SLOT),
        mobs=np.zeros(MOBS, MOB),
        drops=np.zeros(DROPS, DROP),
        queue=np.zeros(QUEUE, QUEUED),
        relit=np.zeros(RELIT, np.int32),
        kills=np.zeros(KINDS, np.int64),
        player=np.zeros(1, PLAYER),
        clock=np.zeros(1, CLOCK),
        events=np.zeros(1, EVENTS),
    )
    world.player["life"], world.player["food"], world.player["saturation"], world.player["air"] = 20, 20, 5, 300
    clock = world.clock
    clock["seed"] = clock["rng"] = np.uint64(seed % 2**64)
    clock["aspect"], clock["biome"] = 1.6, -1
    clock["break_speed"], clock["time_passes"], clock["mobs_spawn"], clock["next_id"] = 1.0, True, True, 1
    return world
