"""The motion of a mob in one tick, as in the game (``EntityLivingBase``, 1.11.2).

A mob accelerates along its yaw, climbs steps of 0.6 blocks (a horse: one block), jumps onto a block in its path, swims,
falls, and is pushed by other mobs. A spider climbs walls. On the ground, walking adds ``0.98 * pace ** 2`` to the mob's
speed in each tick; then friction multiplies the speed by 0.546.
"""

from __future__ import annotations

import math
from typing import Any

from voxeldojo.world.blocks import LAVA, SLIPPERINESS, WATER
from voxeldojo.world.collide import Blocks, block_at, limit, overlaps, slide
from voxeldojo.world.constants import (
    AIR_ACCELERATION,
    AIR_DRAG,
    CLIMB,
    FEET_DEEP,
    FLUID_GRAVITY,
    FLUTTER,
    GRAVITY,
    GROUND_DRAG,
    GROUND_FACTOR,
    INPUT_FACTOR,
    JUMP_SPEED,
    LAVA_DRAG,
    LEAVE_FLUID,
    PADDLE,
    SHOVE,
    SHOVE_LEAST,
    STEP_AHEAD,
    STILL,
    SWIM_UP,
    WATER_DRAG,
)
from voxeldojo.world.jit import part
from voxeldojo.world.mob_kinds import CHICKEN, CLIMBS, HALF, STEP, TALL
from voxeldojo.world.rng import draw


@part
def block_of(blocks: Blocks, x: float, y: float, z: float) -> int:
    """Return the block that contains the point ``x, y, z``."""
    return block_at(blocks, math.floor(x), math.floor(y), math.floor(z))


@part
def move_body(blocks: Blocks, m: Any) -> bool:
    """Move a mob by its current speed; the mob climbs steps. Return whether a wall stopped the mob."""
    half, tall = HALF[m.kind], TALL[m.kind]
    dx, dy, dz, sx, sy, sz = m.vx, m.vy, m.vz, m.x, m.y, m.z
    if dx == 0.0 and dz == 0.0 and dy <= 0.0 and m.on_ground and overlaps(blocks, sx, sy - 0.01, sz, half, 0.01):
        m.vy = 0.0
        return False
    x, y, z = slide(blocks, sx, sy, sz, half, tall, dx, dy, dz)
    landed = dy < 0 and y != sy + dy
    if (m.on_ground or landed) and (x != sx + dx or z != sz + dz):
        up = limit(blocks, 1, STEP[m.kind], (sx - half, sy, sz - half), (sx + half, sy + tall, sz + half))
        hx, hy, hz = slide(blocks, sx, sy + up, sz, half, tall, dx, 0.0, dz)
        hx, hy, hz = slide(blocks, hx, hy, hz, half, tall, 0.0, min(dy, 0.0) - up, 0.0)
        if abs(hx - sx) + abs(hz - sz) > abs(x - sx) + abs(z - sz):
            x, y, z = hx, hy, hz
    bumped = bool(x != sx + dx or z != sz + dz)
    m.vx = 0.0 if x != sx + dx else m.vx
    m.vz = 0.0 if z != sz + dz else m.vz
    m.vy = 0.0 if landed or y != sy + dy else m.vy
    m.fall = m.fall + max(sy - y, 0.0)
    m.on_ground = landed
    m.x, m.y, m.z = x, y, z
    return bumped


@part
def step_body(blocks: Blocks, clock: Any, m: Any, pace: float) -> bool:
    """Move a mob by one tick. Return whether a wall is in its path that the mob does not climb.

    The field ``fall`` of a mob adds up the height of a fall; the caller sets ``fall`` to 0 when the mob is
    ``on_ground``.

    :param pace: the mob's walking pace along its yaw; with 0, the mob does not walk.
    """
    inside = block_of(blocks, m.x, m.y + FEET_DEEP, m.z)
    m.vx = 0.0 if abs(m.vx) < STILL else m.vx
    m.vy = 0.0 if abs(m.vy) < STILL else m.vy
    m.vz = 0.0 if abs(m.vz) < STILL else m.vz
    push, drag, fluid = AIR_ACCELERATION, GROUND_DRAG, inside in (WATER, LAVA)
    if fluid:
        drag = WATER_DRAG if inside == WATER else LAVA_DRAG
        m.fall = 0.0
        if draw(clock) < PADDLE:
            m.vy += SWIM_UP
    elif m.on_ground:
        under = block_of(blocks, m.x, m.y - 1.0, m.z)
        drag *= SLIPPERINESS[under]
        push = pace * GROUND_FACTOR / (drag * drag * drag)
    if pace > 0.0:
        yaw = math.radians(m.yaw)
        m.vx -= math.sin(yaw) * push * pace * INPUT_FACTOR
        m.vz += math.cos(yaw) * push * pace * INPUT_FACTOR
    grounded = m.on_ground
    bumped, jumps = move_body(blocks, m), False
    if bumped and CLIMBS[m.kind] and not fluid:
        m.vy, m.fall, bumped = CLIMB, 0.0, False
    elif bumped and pace > 0.0 and (fluid or grounded):
        half, tall, yaw = HALF[m.kind], TALL[m.kind], math.radians(m.yaw)
        ahead_x, ahead_z = m.x - math.sin(yaw) * STEP_AHEAD, m.z + math.cos(yaw) * STEP_AHEAD
        if fluid:
            m.vy = LEAVE_FLUID
        elif not overlaps(blocks, ahead_x, m.y + 1.0, ahead_z, half, tall):
            jumps, bumped = True, False
    m.vy = m.vy * drag - FLUID_GRAVITY if fluid else (m.vy - GRAVITY) * AIR_DRAG
    if jumps:
        m.vy, m.on_ground = JUMP_SPEED, False
    m.vx *= drag
    m.vz *= drag
    if m.kind == CHICKEN and not m.on_ground and m.vy < 0.0:
        m.vy *= FLUTTER
        m.fall = 0.0
    return bumped


@part
def shove(dx: float, dz: float, room: float) -> tuple[float, float]:
    """Return the push (x, z; blocks per tick) of one body on another body that is ``dx``, ``dz`` away.

    The push is zero if the distance of the bodies along x or along z is at least ``room``.

    In each tick, each of the two bodies pushes the other (``Entity.applyEntityCollision``). The result includes both
    pushes.
    """
    far = max(abs(dx), abs(dz))
    if far >= room or far < SHOVE_LEAST:
        return 0.0, 0.0
    root = math.sqrt(far)
    scale = 2.0 * SHOVE / root * min(1.0, 1.0 / root)
    return dx * scale, dz * scale
