"""Habits of single kinds of mobs. A rabbit hops and keeps away from the player. A llama spits at a player who hit it
(``EntityRabbit``, ``EntityAIAvoidEntity``, ``EntityLlama``, 1.11.2).
"""

from __future__ import annotations

import math
from typing import Any

from voxeldojo.world.blocks import AIR
from voxeldojo.world.blows import blow
from voxeldojo.world.collide import Blocks, overlaps
from voxeldojo.world.constants import (
    ESCAPE,
    HOP_HIGH,
    HOP_LOOKS,
    HOP_LOW,
    HOP_PAUSE,
    HOP_PAUSE_FAST,
    HOP_PUSH,
    HOP_WALL,
    INPUT_FACTOR,
    MOB_FALL,
    PANIC_TICKS,
    PLAYER_HEIGHT,
    PLAYER_WIDTH,
    ROAM_TRIES,
    SPIT_BELOW,
    SPIT_DRAG,
    SPIT_GRAVITY,
    SPIT_REACH,
    SPIT_RISE,
    SPIT_SPEED,
    SPIT_SPREAD,
    SPIT_STEPS,
    SPIT_TICKS,
    SPIT_WIDE,
    STEP_AHEAD,
    TASKS_EVERY,
)
from voxeldojo.world.crosshair import reaches
from voxeldojo.world.health import PLAIN
from voxeldojo.world.jit import part
from voxeldojo.world.mob_kinds import ATTACK, EYES, HALF, SHY, SPEED, STROLLS, TALL
from voxeldojo.world.mob_senses import barred, sees
from voxeldojo.world.ray import trace
from voxeldojo.world.rng import draw, normal
from voxeldojo.world.state import SIZE, World


@part
def keep_away(world: World, m: Any) -> None:
    """Let a shy mob flee to a place away from a player whom the mob sees nearby (``EntityAIAvoidEntity``).

    A mob with ``panic`` above 0 runs. The mob stops at the place to which it flees, unless it was hit.
    """
    p, clock = world.player[0], world.clock[0]
    if m.hit_ticks > 0:
        return
    if m.wander == 0:
        m.panic = 0
    if m.panic > 0 or p.dead or (clock.tick + m.id) % TASKS_EVERY != 0 or not sees(world, m, SHY[m.kind]):
        return
    away_x, away_z = m.x - p.x, m.z - p.z
    for _ in range(ROAM_TRIES):
        dx, dz = (draw(clock) * 2.0 - 1.0) * ESCAPE, (draw(clock) * 2.0 - 1.0) * ESCAPE
        if dx * away_x + dz * away_z >= 0.0 and 0.0 <= m.x + dx < SIZE and 0.0 <= m.z + dz < SIZE:
            m.goal_x, m.goal_z, m.wander, m.panic = m.x + dx, m.z + dz, 1, PANIC_TICKS
            return


@part
def hop(blocks: Blocks, m: Any, pace: float) -> float:
    """Let a mob that moves in hops hop towards its goal, or wait for its next hop. Return the pace with which the mob
    steers in the air, which is 0 on the ground. The pause before the next hop begins in the tick after the mob has
    landed.

    :param pace: the mob's pace, 0 if it stays.
    """
    if not m.on_ground:
        return pace
    m.cooldown = max(m.cooldown - 1, 0)
    if pace == 0.0 or m.cooldown > 0:
        return 0.0
    m.yaw = math.degrees(math.atan2(m.x - m.goal_x, m.goal_z - m.z))
    yaw, fast = math.radians(m.yaw), pace > SPEED[m.kind]
    if barred(blocks, m, MOB_FALL, 1.0):
        m.wander = 0
        return 0.0
    for far in range(2, HOP_LOOKS + 1):
        fast = fast and not barred(blocks, m, MOB_FALL, float(far))
    speed = pace if fast else SPEED[m.kind] * STROLLS[m.kind]
    push = HOP_PUSH + INPUT_FACTOR * speed * speed
    m.vx, m.vz = m.vx - math.sin(yaw) * push, m.vz + math.cos(yaw) * push
    x, z = m.x - math.sin(yaw) * STEP_AHEAD, m.z + math.cos(yaw) * STEP_AHEAD
    wall = overlaps(blocks, x, m.y, z, HALF[m.kind], TALL[m.kind])
    m.vy, m.on_ground = HOP_WALL if wall else HOP_HIGH if fast else HOP_LOW, False
    m.cooldown = 1 + (HOP_PAUSE_FAST if fast else HOP_PAUSE)
    return 0.0


@part
def aim_spit(world: World, m: Any) -> None:
    """Let a mob that was hit walk towards the player and spit when its ``cooldown`` ends (``EntityAIAttackRanged``)."""
    p = world.player[0]
    m.cooldown = 0 if p.dead else m.cooldown - 1
    m.goal_x, m.goal_z, m.wander, m.panic = p.x, p.z, 0, max(m.panic - 1, 0)
    if m.cooldown == 0 and not p.dead:
        if sees(world, m, float(SPIT_REACH)):
            _spit(world, m)
        elif m.hit_ticks > 0:
            m.cooldown = SPIT_TICKS


@part
def _spit(world: World, m: Any) -> None:
    """Spit at the player (``EntityLlama.spit``, ``EntityLlamaSpit``). The whole flight takes place in one tick."""
    p, clock, yaw = world.player[0], world.clock[0], math.radians(m.yaw)
    front = HALF[m.kind] + 0.5
    x, y, z = m.x - math.sin(yaw) * front, m.y + EYES[m.kind] - SPIT_BELOW, m.z + math.cos(yaw) * front
    dx, dz = p.x - m.x, p.z - m.z
    dy = p.y + PLAYER_HEIGHT / 3.0 - y + math.hypot(dx, dz) * SPIT_RISE
    far = math.sqrt(dx * dx + dy * dy + dz * dz)
    vx = (dx / far + normal(clock) * SPIT_SPREAD) * SPIT_SPEED
    vy = (dy / far + normal(clock) * SPIT_SPREAD) * SPIT_SPEED
    vz = (dz / far + normal(clock) * SPIT_SPREAD) * SPIT_SPEED
    half, tall = PLAYER_WIDTH / 2.0 + SPIT_WIDE, PLAYER_HEIGHT + 2.0 * SPIT_WIDE
    for _ in range(SPIT_STEPS):
        speed = math.sqrt(vx * vx + vy * vy + vz * vz)
        ux, uy, uz = vx / speed, vy / speed, vz / speed
        block, free, _, _, _, _ = trace(world, x, y, z, ux, uy, uz, speed, False)
        if reaches(x, y, z, ux, uy, uz, p.x, p.y - SPIT_WIDE, p.z, half, tall) <= free:
            if blow(world, ATTACK[m.kind], PLAIN, m.x, m.y, m.z):
                world.events[0].projectile = True
            return
        if block != AIR:
            return
        x, y, z = x + vx, y + vy, z + vz
        vx, vy, vz = vx * SPIT_DRAG, vy * SPIT_DRAG - SPIT_GRAVITY, vz * SPIT_DRAG
