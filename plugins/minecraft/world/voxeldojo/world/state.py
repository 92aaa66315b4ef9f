"""The state of a world. The state of a world consists only of arrays and records, so that compiled code can use it and
a copy is complete.

Axes are those of the game: x east, y up, z south, in blocks. Yaw is in degrees: 0 is south (+z), 90 is west (-x). Pitch
is in degrees: positive values look down. Speeds are in blocks per tick; a tick is 1/20 s. The position of a player or
mob is the centre of the feet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

CHUNK = 16
"""Columns of a chunk along each axis."""
TILE = 4
"""Columns along each axis that one entry of ``World.peak`` covers."""
HEIGHT = 128
"""Number of layers of the world."""
SIZE = 512
"""Columns of the world along each axis. Beyond them is a wall, like the game's world border."""
SLOTS = 41
"""Number of slots. 0-8 hotbar, 9-35 rest of the inventory, 36-39 feet, legs, chest, head, 40 off hand, as in Malmo."""
MOBS = 64
DROPS = 128
QUEUE = 4096
RELIT = 1024
"""Maximal number of block changes that wait for the light update. With more, the light of the whole world is
recomputed.
"""

SLOT = np.dtype(
    [
        ("item", np.int16),  # index into items.NAMES; 0 is air
        ("quantity", np.int16),
        ("variant", np.int16),  # the game's metadata: for planks, 2 is birch; for wool, 14 is red
        ("damage", np.int16),  # uses so far; the maximum is in ``items.DURABILITY``
    ],
    align=True,
)

PLAYER = np.dtype(
    [
        *((name, np.float64) for name in ("x", "y", "z", "vx", "vy", "vz", "yaw", "pitch")),
        *((name, np.float64) for name in ("life", "food", "saturation", "exhaustion", "xp", "fall")),
        *((name, np.float64) for name in ("spawn_x", "spawn_y", "spawn_z")),
        ("dig_progress", np.float64),  # digging progress at the block dig_*, 0 to 1
        *((name, np.int32) for name in ("dig_x", "dig_y", "dig_z", "dig_delay")),
        ("air", np.int32),  # ticks of breath, 300 at most
        ("use_ticks", np.int32),  # ticks of the current meal
        ("use_delay", np.int32),
        ("used_item", np.int32),  # item that is being eaten
        ("held_item", np.int32),  # item in the hand in the last tick; a change restarts the recovery of the arm
        ("dig_item", np.int32),  # item used for digging; a change discards the progress
        ("jump_delay", np.int32),
        ("hurt_ticks", np.int32),  # remaining ticks in which only a damage larger than the last one counts
        ("last_damage", np.float64),  # the last damage
        ("fire_ticks", np.int32),
        ("food_timer", np.int32),
        ("attack_ticks", np.int32),  # ticks since the last swing, which determine the strength of the next swing
        ("fuel_ticks", np.int32),  # ticks of remaining heat from the last fuel
        ("selected", np.int32),  # slot of the main hand, 0 to 8
        *((name, np.bool_) for name in ("on_ground", "in_water", "in_lava", "sneaking", "sprinting", "sleeping")),
        ("attack_held", np.bool_),
        ("bumped", np.bool_),  # blocked by a wall in the last tick
        ("dead", np.bool_),
        ("poison", np.uint8),  # losses of half a heart that a poison still brings
        *((name, np.uint8) for name in ("slowness", "weakness")),  # remaining seconds of these effects
    ],
    align=True,
)

MOB = np.dtype(
    [
        ("kind", np.int8),  # index into mob_kinds.NAMES; 0 is none
        ("sheared", np.bool_),
        ("on_ground", np.bool_),
        ("colour", np.int8),  # metadata of its wool
        ("mode", np.int16),  # what the mob is doing, for kinds with several ways of behaviour; 0 otherwise
        ("goal_y", np.int16),  # height of the goal of a flying mob
        *((name, np.float64) for name in ("x", "y", "z", "vx", "vy", "vz", "yaw", "life", "fall", "goal_x", "goal_z")),
        ("last_damage", np.float64),  # a further damage during hurt_ticks counts only as far as it exceeds this one
        *((name, np.int32) for name in ("id", "age", "wander", "panic", "hurt_ticks", "cooldown", "fire_ticks")),
        ("hit_ticks", np.int32),  # remaining ticks in which its death counts as a kill by the player
    ],
    align=True,
)

DROP = np.dtype(
    [
        ("alive", np.bool_),
        # as in SLOT; a quantity of 0 means a projectile in flight, whose damage is the index of the mob that shot it
        *((name, np.int16) for name in ("item", "quantity", "variant", "damage")),
        *((name, np.float64) for name in ("x", "y", "z", "vx", "vy", "vz")),
        ("age", np.int32),  # age in ticks; the item vanishes at 6,000
        ("delay", np.int32),  # ticks until it can be picked up
    ],
    align=True,
)

CLOCK = np.dtype(
    [
        ("seed", np.uint64),
        ("rng", np.uint64),  # state of the random number generator; see rng.py
        ("tick", np.int64),  # ticks since the start
        ("time", np.int64),  # time of day, 0 (sunrise) to 23,999
        ("next_id", np.int32),
        ("biome", np.int32),  # the game's id of the only biome; -1: many biomes, which depend on the seed
        ("break_speed", np.float64),
        ("aspect", np.float64),  # width of the picture over its height, for the field of view
        ("queue_start", np.int32),
        ("queue_end", np.int32),
        ("overflow", np.int32),  # number of block updates that were lost since the last tick because the queue was full
        ("sweep", np.int32),  # number of columns that still have to be searched for lost updates
        ("relit", np.int32),  # number of changes for ``World.relit``, including those for which it has no room
        *((name, np.bool_) for name in ("time_passes", "mobs_spawn", "raining", "thundering")),
    ],
    align=True,
)

EVENTS = np.dtype(
    [
        # the newest damage; the fields are those of MineDojo's damage_source
        *((name, np.float64) for name in ("amount", "distance", "yaw", "pitch", "hunger")),
        *((name, np.bool_) for name in ("explosion", "fire", "magic", "projectile", "unblockable")),
        # events of this tick; -1 or 0 for none
        *((name, np.int32) for name in ("broke", "placed", "hit_mob", "killed_mob", "ate", "milked", "sheared")),
        ("used", np.bool_),  # the use key had an effect on a block or an animal
        ("tilled", np.bool_),  # the use key tilled the soil
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
    """The complete state of a world. Compiled functions take a world as one argument and change its arrays in place.

    :ivar blocks: the index into ``blocks.TABLE`` of each block, uint8 ``(SIZE, HEIGHT, SIZE)`` with the axes x, y, z.
    :ivar level: the level of the fluid in each cell, uint8 with the shape of ``blocks``. The level is 0 for a source
        and for blocks that are no fluid, 1 to 7 for flows (the larger the number, the shallower the flow), and 8 for a
        falling fluid. For a crop, it is the age (``crops.RIPE``), and for farmland the moisture, 0 to 7.
    :ivar light: the light in each cell, uint8 with the shape of ``blocks``, which is 16 times the sky light (0 to 15,
        at full daylight) plus the block light.
    :ivar generated: whether each chunk is generated, bool ``(SIZE / CHUNK, SIZE / CHUNK)``.
    :ivar top: the height of the highest block of each column that stops light, or -1, int16 ``(SIZE, SIZE)``.
    :ivar peak: an upper bound of the height of all blocks in each square of ``TILE`` x ``TILE`` columns, or -1, int16
        ``(SIZE / TILE, SIZE / TILE)``.
    :ivar biome: the game's biome id of each column, uint8 ``(SIZE, SIZE)``.
    :ivar slots: the slots of the player's inventory, dtype SLOT ``(SLOTS,)``.
    :ivar mobs: the mobs of the world, dtype MOB ``(MOBS,)``.
    :ivar drops: the items on the ground, dtype DROP ``(DROPS,)``.
    :ivar queue: the pending block updates, dtype QUEUED ``(QUEUE,)``, in a ring buffer from ``queue_start`` to
        ``queue_end``. An entry whose y is ``HEIGHT`` or more stands for the random ticks of the block ``HEIGHT``
        lower.
    :ivar relit: the flat indices into ``blocks`` of the places whose light must be updated, int32 ``(RELIT,)``.
    :ivar kills: the number of mobs of each kind that the player killed, int64 ``(KINDS,)``.
    :ivar player: the state of the player, dtype PLAYER ``(1,)``.
    :ivar clock: the time, the state of the random numbers and the counters of the world, dtype CLOCK ``(1,)``.
    :ivar events: what happened in the current tick, dtype EVENTS ``(1,)``.
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


KINDS = 32
"""Size of ``World.kills``."""


def empty(seed: int) -> World:
    """Create a world without generated chunks, at sunrise. All blocks are air. The operating system allocates memory
    only for the parts of the arrays that are written.
    """
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
