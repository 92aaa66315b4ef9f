"""Mobs that attack from afar. A skeleton keeps its distance and shoots arrows (``EntityAIAttackRangedBow``, 1.11.2). A
witch throws potions and drinks some (``EntityWitch``, 1.11.2).
"""

from __future__ import annotations

import math
from typing import Any

from voxeldojo.world.collide import Blocks
from voxeldojo.world.constants import (
    ARROW_RISE,
    ARROW_SPEED,
    ARROW_SPREAD,
    BOW_DRAW,
    BOW_EVERY,
    BOW_FAR,
    BOW_NEAR,
    BOW_REACH,
    EYE_HEIGHT,
    HEALING,
    LOOK_AHEAD,
    MOB_FALL,
    PLAYER_HEIGHT,
    POTION_RISE,
    POTION_SPEED,
    POTION_SPREAD,
    SHOT_BELOW,
    STRAFE_CHANCE,
    STRAFE_EVERY,
    STRAFE_PACE,
    WITCH_BELOW,
    WITCH_DRINKS,
    WITCH_EVERY,
    WITCH_FAR,
    WITCH_HEALS,
    WITCH_NEAR,
    WITCH_POISONS,
    WITCH_QUENCHES,
    WITCH_REACH,
    WITCH_WEAKENS,
)
from voxeldojo.world.effects import HARMS, POISONS, SLOWS, WEAKENS
from voxeldojo.world.jit import part
from voxeldojo.world.mob_kinds import EYES, LIFE, SIGHT, SPEED
from voxeldojo.world.mob_senses import barred, sees
from voxeldojo.world.projectiles import ARROW, POTION, launch
from voxeldojo.world.rng import draw
from voxeldojo.world.state import World

AIMS, SIDLES, CLOCKWISE, BACKWARDS = 1, 2, 4, 8
"""Bits of the ``mode`` of a skeleton: it aims at the player; it walks sideways; it does so clockwise; it also walks
backwards.
"""
HUNTS, STANDS, HEALS, QUENCHES = 1, 2, 4, 8
"""Bits of the ``mode`` of a witch: it hunts; it stands near the player; it drinks healing; it drinks fire resistance.
"""
FARTHEST, NEAREST = BOW_FAR * BOW_REACH**2, BOW_NEAR * BOW_REACH**2
"""Squared distances beyond which a skeleton comes nearer and below which it goes back while it walks sideways."""


@part
def aim_bow(world: World, m: Any, away: float) -> None:
    """Let a hunting skeleton walk sideways or approach, and shoot when its ``cooldown`` ends.

    :param away: the squared distance to the player.
    """
    p, clock, mode = world.player[0], world.clock[0], int(m.mode)
    if mode == 0:
        m.cooldown = max(int(m.cooldown), BOW_DRAW)
    visible = sees(world, m, SIGHT[m.kind])
    near = visible and away <= BOW_REACH * BOW_REACH
    mode = AIMS | (mode & (CLOCKWISE | BACKWARDS)) | (SIDLES if near else 0)
    if near:
        if (clock.tick + m.id) % STRAFE_EVERY == 0:
            mode ^= CLOCKWISE if draw(clock) < STRAFE_CHANCE else 0
            mode ^= BACKWARDS if draw(clock) < STRAFE_CHANCE else 0
        if away > FARTHEST:
            mode &= ~BACKWARDS
        elif away < NEAREST:
            mode |= BACKWARDS
    m.mode = mode
    if m.cooldown == 0 and visible:
        m.cooldown = BOW_EVERY + BOW_DRAW
        y, dx, dz = m.y + EYES[m.kind] - SHOT_BELOW, p.x - m.x, p.z - m.z
        dy = p.y + PLAYER_HEIGHT / 3.0 - y + math.hypot(dx, dz) * ARROW_RISE
        launch(world, m, ARROW, 0, y, dx, dy, dz, ARROW_SPEED, ARROW_SPREAD)


@part
def sidle(blocks: Blocks, m: Any, pace: float) -> float:
    """Turn a skeleton that walks sideways into the direction of its walk, and return its pace. The caller turns the
    skeleton back after the walk. A danger in this direction stops the skeleton.

    :param pace: the pace of the skeleton if it does not walk sideways.
    """
    if not m.mode & SIDLES:
        return pace
    turn = 90.0 + (45.0 if m.mode & BACKWARDS else -45.0)
    m.yaw += turn if m.mode & CLOCKWISE else -turn
    if m.on_ground and barred(blocks, m, MOB_FALL, LOOK_AHEAD):
        m.mode ^= CLOCKWISE
        return 0.0
    return float(SPEED[m.kind] * STRAFE_PACE)


@part
def brew(world: World, m: Any) -> None:
    """Let a witch drink: healing when it is hurt, fire resistance when it burns, which puts the fire out."""
    clock, mode = world.clock[0], int(m.mode)
    if mode & (HEALS | QUENCHES):
        if m.cooldown == 0:
            if mode & HEALS:
                m.life = min(LIFE[m.kind], m.life + HEALING)
            else:
                m.fire_ticks = 0
            m.mode, m.cooldown = mode & (HUNTS | STANDS), WITCH_EVERY - WITCH_DRINKS
        return
    if m.fire_ticks > 0 and draw(clock) < WITCH_QUENCHES:
        m.mode, m.cooldown = mode | QUENCHES, WITCH_DRINKS
    elif m.life < LIFE[m.kind] and draw(clock) < WITCH_HEALS:
        m.mode, m.cooldown = mode | HEALS, WITCH_DRINKS


@part
def throw_potion(world: World, m: Any, away: float) -> None:
    """Let a hunting witch stand within its reach of a player whom it sees, and throw a potion when its ``cooldown``
    ends.

    :param away: the squared distance to the player.
    """
    p, clock = world.player[0], world.clock[0]
    near = away <= WITCH_REACH * WITCH_REACH and sees(world, m, SIGHT[m.kind])
    if not m.mode & HUNTS and not m.mode & (HEALS | QUENCHES):
        m.cooldown = WITCH_EVERY
    m.mode = HUNTS | (m.mode & (HEALS | QUENCHES)) | (STANDS if near else 0)
    if not near or m.cooldown > 0 or m.mode & (HEALS | QUENCHES):
        return
    m.cooldown = WITCH_EVERY
    y, dx, dz = m.y + EYES[m.kind] - SHOT_BELOW, p.x + p.vx - m.x, p.z + p.vz - m.z
    flat, potion = math.hypot(dx, dz), HARMS
    if flat >= WITCH_FAR and p.slowness == 0:
        potion = SLOWS
    elif p.life >= WITCH_POISONS and p.poison == 0:
        potion = POISONS
    elif flat <= WITCH_NEAR and p.weakness == 0 and draw(clock) < WITCH_WEAKENS:
        potion = WEAKENS
    dy = p.y + EYE_HEIGHT - WITCH_BELOW - m.y + flat * POTION_RISE
    launch(world, m, POTION, potion, y, dx, dy, dz, POTION_SPEED, POTION_SPREAD)
