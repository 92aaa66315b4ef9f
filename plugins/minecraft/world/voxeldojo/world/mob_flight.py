"""Bats fly around at random, and hang below blocks (``EntityBat``, 1.11.2)."""

from __future__ import annotations

import math
from typing import Any

from voxeldojo.world.blocks import AIR, FULL
from voxeldojo.world.collide import Blocks, block_at
from voxeldojo.world.constants import (
    AIR_ACCELERATION,
    AIR_DRAG,
    BAT_ALONG,
    BAT_ARRIVES,
    BAT_BELOW,
    BAT_FLOATS,
    BAT_FORWARD,
    BAT_HANG_ODDS,
    BAT_HIGH,
    BAT_ODDS,
    BAT_TURNS,
    BAT_UP,
    BAT_WAKES,
    BAT_WIDE,
    GRAVITY,
    GROUND_DRAG,
    INPUT_FACTOR,
)
from voxeldojo.world.jit import part
from voxeldojo.world.mob_kinds import TALL
from voxeldojo.world.mob_motion import move_body
from voxeldojo.world.rng import pick
from voxeldojo.world.state import HEIGHT

FLIES, HANGS = 0, 1
"""Values of the ``mode`` of a bat."""


@part
def _roof(blocks: Blocks, m: Any) -> bool:
    """Return whether a full block is directly above the cell of a mob."""
    return bool(FULL[block_at(blocks, math.floor(m.x), math.floor(m.y) + 1, math.floor(m.z))])


@part
def _hang(blocks: Blocks, p: Any, m: Any) -> None:
    """Let a bat hang, or fly off if its block is gone, a player is near, or it was hurt."""
    near = not p.dead and (p.x - m.x) ** 2 + (p.y - m.y) ** 2 + (p.z - m.z) ** 2 < BAT_WAKES * BAT_WAKES
    m.vx = m.vy = m.vz = m.fall = 0.0
    if near or m.hurt_ticks > 0 or not _roof(blocks, m):
        m.mode = FLIES
        return
    m.y = math.floor(m.y) + 1.0 - TALL[m.kind]


@part
def _head_for_goal(blocks: Blocks, clock: Any, m: Any) -> None:
    """Let a flying bat choose a goal and turn its speed towards the goal."""
    cx, cy, cz = math.floor(m.goal_x), int(m.goal_y), math.floor(m.goal_z)
    blocked = m.wander == 0 or cy < 1 or cy >= HEIGHT or block_at(blocks, cx, cy, cz) != AIR
    reached = (cx - m.x) ** 2 + (cy - m.y) ** 2 + (cz - m.z) ** 2 < BAT_ARRIVES * BAT_ARRIVES
    if blocked or pick(clock, BAT_ODDS) == 0 or reached:
        m.goal_x = math.floor(m.x) + float(pick(clock, BAT_WIDE) - pick(clock, BAT_WIDE))
        m.goal_y = math.floor(m.y) + pick(clock, BAT_HIGH) - BAT_BELOW
        m.goal_z = math.floor(m.z) + float(pick(clock, BAT_WIDE) - pick(clock, BAT_WIDE))
        m.wander = 1
    dx, dy, dz = math.floor(m.goal_x) + 0.5 - m.x, m.goal_y + 0.1 - m.y, math.floor(m.goal_z) + 0.5 - m.z
    m.vx += (math.copysign(1.0, dx) * BAT_ALONG - m.vx) * BAT_TURNS
    m.vy += (math.copysign(1.0, dy) * BAT_UP - m.vy) * BAT_TURNS
    m.vz += (math.copysign(1.0, dz) * BAT_ALONG - m.vz) * BAT_TURNS
    m.yaw = math.degrees(math.atan2(-m.vx, m.vz))


@part
def flutter(blocks: Blocks, clock: Any, p: Any, m: Any) -> None:
    """Let a bat hang or fly for one tick."""
    if m.mode == HANGS:
        _hang(blocks, p, m)
        return
    _head_for_goal(blocks, clock, m)
    if pick(clock, BAT_HANG_ODDS) == 0 and _roof(blocks, m) and m.hurt_ticks == 0:
        m.mode = HANGS
    yaw = math.radians(m.yaw)
    m.vx -= math.sin(yaw) * AIR_ACCELERATION * BAT_FORWARD * INPUT_FACTOR
    m.vz += math.cos(yaw) * AIR_ACCELERATION * BAT_FORWARD * INPUT_FACTOR
    move_body(blocks, m)
    m.vx, m.vy, m.vz, m.fall = m.vx * GROUND_DRAG, (m.vy - GRAVITY) * AIR_DRAG * BAT_FLOATS, m.vz * GROUND_DRAG, 0.0
