"""The behaviour of mobs. Mobs walk around at random, flee after damage, hunt the player, lay eggs and eat grass.

A mob walks straight to its goal and stops before falls, fluids and fire. Mobs of Minecraft find paths around corners;
mobs of this world do not. Probabilities and distances are those of the game's behaviour tasks (``EntityAIWander``,
``EntityAIPanic``, ``EntityAIAttackMelee``, ``EntityAIEatGrass``, 1.11.2), which a mob evaluates at a fixed interval.
``data/constants.csv`` marks the numbers that do not come from the game.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.blocks import DIRT, GRASS, WATER
from voxeldojo.world.blows import blow, push_back
from voxeldojo.world.collide import Blocks, block_at
from voxeldojo.world.constants import (
    ARRIVES,
    BLOW_EVERY,
    DAY_DIMS,
    DETOUR,
    EGG_TICKS,
    ENDERMAN_HASTE,
    FORGET_ODDS,
    GRAZE_ODDS,
    GRUDGE,
    HUNT_MEMORY,
    LEAP_FAR,
    LEAP_GAIN,
    LEAP_NEAR,
    LEAP_ODDS,
    LEAP_PUSH,
    LEAP_TICKS,
    LEAP_UP,
    LOOK_AHEAD,
    LOOKS_EVERY,
    MOB_FALL,
    MOB_TURN,
    PLAYER_HEIGHT,
    PLAYER_WIDTH,
    ROAM,
    ROAM_TRIES,
    RUN,
    SKY_DIMS,
    SPIT_PACE,
    SPIT_TICKS,
    SPIT_WALK,
    SUN_BURN,
    SUN_BURN_CHANCE,
    TASKS_EVERY,
    TRAMPLE_SIZE,
    WALK_TICKS,
    WANDER_ODDS,
)
from voxeldojo.world.drops import Drops, spill
from voxeldojo.world.edit import set_block
from voxeldojo.world.farming import trample
from voxeldojo.world.health import PLAIN
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.jit import part
from voxeldojo.world.mob_bombs import SWELLS, shrink, swell
from voxeldojo.world.mob_damage import damage_by_environment, damage_mob
from voxeldojo.world.mob_flight import flutter
from voxeldojo.world.mob_habits import aim_spit, hop, keep_away
from voxeldojo.world.mob_kinds import (
    ATTACK,
    BAT,
    BURNS,
    BUSY,
    CHICKEN,
    CREEPER,
    ENDERMAN,
    FLEES,
    HALF,
    HOPS,
    LEAPS,
    NEUTRAL,
    PLUNGE,
    REACH,
    SHEEP,
    SHY,
    SIGHT,
    SKELETON,
    SPEED,
    SPITS,
    STROLLS,
    TALL,
    WITCH,
    ZOMBIE,
)
from voxeldojo.world.mob_motion import shove, step_body
from voxeldojo.world.mob_ranged import CLOCKWISE, HEALS, HUNTS, QUENCHES, SIDLES, aim_bow, brew, sidle, throw_potion
from voxeldojo.world.mob_senses import barred, calmed, sees
from voxeldojo.world.mob_teleports import haunt
from voxeldojo.world.rng import draw, pick
from voxeldojo.world.state import MOBS, SIZE, World
from voxeldojo.world.sun import sun_brightness

EGG = ITEM["egg"]
SETS_OUT, GRAZES, LEAPING, FORGETS = (
    *(1 / (odds * TASKS_EVERY) for odds in (WANDER_ODDS, GRAZE_ODDS, LEAP_ODDS)),
    1 / FORGET_ODDS,
)
"""Probabilities per tick."""
DAYLIGHT = (SKY_DIMS - DAY_DIMS) / SKY_DIMS
"""Brightness of the sun above which mobs burn."""
LEAPS_FROM, LEAPS_TO = LEAP_NEAR**2, LEAP_FAR**2
"""Squared distances between which a mob leaps."""
ARRIVED = ARRIVES**2
TRAMPLES = (2 * HALF) ** 2 * TALL > TRAMPLE_SIZE
"""Whether a mob of the kind can trample farmland."""
TRAMPLES.flags.writeable = False


@part
def _choose(blocks: Blocks, top: NDArray[np.int16], clock: Any, m: Any, roam: int) -> None:
    """Choose the goal of a mob among some random places nearby, on grass if possible, never in water."""
    best = -1
    for _ in range(ROAM_TRIES):
        gx, gz = m.x + pick(clock, 2 * roam + 1) - roam, m.z + pick(clock, 2 * roam + 1) - roam
        x, z = math.floor(gx), math.floor(gz)
        if 0 <= x < SIZE and 0 <= z < SIZE:
            ground = block_at(blocks, x, int(top[x, z]), z)
            score = 2 if ground == GRASS else 0 if ground == WATER else 1
            if score > best:
                best, m.goal_x, m.goal_z, m.wander = score, gx, gz, WALK_TICKS


@part
def _strike(world: World, m: Any) -> None:
    """Hit the player and push them away."""
    p = world.player[0]
    m.cooldown = BLOW_EVERY
    if blow(world, ATTACK[m.kind], PLAIN, m.x, m.y, m.z):
        push_back(p, p.x - m.x, p.z - m.z)


@part
def _leap(m: Any, dx: float, dz: float) -> None:
    """Let a mob leap at a target that is ``dx``, ``dz`` away (``EntityAILeapAtTarget``)."""
    flat = math.hypot(dx, dz)
    if flat > 1e-9:
        m.vx, m.vz = m.vx + dx / flat * LEAP_PUSH + m.vx * LEAP_GAIN, m.vz + dz / flat * LEAP_PUSH + m.vz * LEAP_GAIN
    m.vy, m.on_ground, m.cooldown = LEAP_UP, False, max(m.cooldown, LEAP_TICKS)


@part
def _hunt(world: World, m: Any, p: Any) -> None:
    """Let a mob look for the player at regular intervals, and hit a player within reach (``EntityAIAttackMelee``).

    A neutral mob and a mob that the light calms do not begin to hunt, but continue to hunt, for example after an attack
    of the player.
    """
    kind, clock = int(m.kind), world.clock[0]
    m.cooldown = max(m.cooldown - 1, 0)
    m.panic = 0 if p.dead else max(m.panic - 1, 0)
    if (clock.tick + m.id) % LOOKS_EVERY == 0 and not p.dead:
        willing = m.panic > 0 or not (NEUTRAL[kind] or calmed(world, m))
        if willing and sees(world, m, SIGHT[kind]):
            if m.panic == 0 and kind != ZOMBIE:
                m.wander = 0
            m.panic = GRUDGE if NEUTRAL[kind] else HUNT_MEMORY
    if m.panic > 0 and calmed(world, m) and draw(clock) < FORGETS:
        m.panic = 0
    if m.panic > 0:
        if m.wander == 0:
            m.goal_x, m.goal_z = p.x, p.z
        away = (p.x - m.x) ** 2 + (p.y - m.y) ** 2 + (p.z - m.z) ** 2
        if kind == SKELETON:
            aim_bow(world, m, away)
        elif kind == CREEPER:
            swell(world, m, away)
        elif kind == WITCH:
            throw_potion(world, m, away)
        elif m.cooldown == 0 and away <= REACH[m.kind] * REACH[m.kind] + PLAYER_WIDTH:
            _strike(world, m)
        if LEAPS[kind] and m.on_ground and LEAPS_FROM <= away <= LEAPS_TO and draw(clock) < LEAPING:
            _leap(m, p.x - m.x, p.z - m.z)
    elif kind == CREEPER:
        shrink(m)
    elif kind == SKELETON:
        m.mode = 0
    elif kind == WITCH:
        m.mode &= HEALS | QUENCHES


@part
def _graze(world: World, m: Any) -> None:
    """Let a sheep eat the grass below, after which its wool grows again."""
    x, y, z = math.floor(m.x), math.floor(m.y - 0.5), math.floor(m.z)
    if block_at(world.blocks, x, y, z) == GRASS:
        set_block(world, x, y, z, DIRT, 0)
        m.sheared = False


@part
def _lay(drops: Drops, clock: Any, m: Any) -> None:
    m.cooldown -= 1
    if m.cooldown <= 0:
        m.cooldown = EGG_TICKS + pick(clock, EGG_TICKS)
        spill(drops, clock, m.x, m.y, m.z, EGG, 1, 0, 0)


@part
def _scorch(world: World, m: Any) -> None:
    """Set a mob on fire if its kind burns in sunlight and the mob is in sunlight."""
    x, z = math.floor(m.x), math.floor(m.z)
    open_sky = 0 <= x < SIZE and 0 <= z < SIZE and m.y + 1.0 > world.top[x, z]
    if open_sky and sun_brightness(world) > DAYLIGHT:
        m.fire_ticks = max(m.fire_ticks, SUN_BURN)


@part
def _pace(blocks: Blocks, top: NDArray[np.int16], clock: Any, m: Any) -> float:
    """Choose a goal for a mob and turn the mob towards the goal. Return the walking pace of the mob, which is 0 if the
    mob stays.
    """
    pace, fall = float(SPEED[m.kind]), MOB_FALL
    if SPITS[m.kind] and m.cooldown > 0:
        pace *= SPIT_PACE if m.cooldown > SPIT_TICKS - SPIT_WALK else 0.0
    elif SIGHT[m.kind] > 0 and m.panic > 0:
        fall = int(PLUNGE[m.kind])
        pace += ENDERMAN_HASTE if m.kind == ENDERMAN else 0.0
        m.wander = max(m.wander - 1, 0)
    elif FLEES[m.kind] > 0 and (m.panic > 0 or m.fire_ticks > 0):
        m.panic = max(m.panic - 1, 0)
        pace *= FLEES[m.kind]
        if m.wander == 0:
            _choose(blocks, top, clock, m, RUN)
    elif m.wander > 0:
        pace *= STROLLS[m.kind]
        m.wander -= 1
    elif draw(clock) < SETS_OUT:
        pace *= STROLLS[m.kind]
        _choose(blocks, top, clock, m, ROAM)
    else:
        return 0.0
    dx, dz = m.goal_x - m.x, m.goal_z - m.z
    if dx * dx + dz * dz < ARRIVED:
        m.wander = 0
        return 0.0
    turn = (math.degrees(math.atan2(-dx, dz)) - m.yaw + 180.0) % 360.0 - 180.0
    m.yaw = (m.yaw + min(MOB_TURN, max(-MOB_TURN, turn)) + 180.0) % 360.0 - 180.0
    if m.on_ground and barred(blocks, m, fall, LOOK_AHEAD):
        m.wander = 0
        return 0.0
    return pace


@part
def _crowd(mobs: NDArray[Any], p: Any, index: int, last: int) -> None:
    """Push the mob with the index ``index`` away from the player and from all mobs with a larger index."""
    m = mobs[index]
    for other in range(index + 1, last):
        o = mobs[other]
        if o.kind > 0 and o.kind != BAT and m.y < o.y + TALL[o.kind] and o.y < m.y + TALL[m.kind]:
            dx, dz = shove(o.x - m.x, o.z - m.z, HALF[m.kind] + HALF[o.kind])
            m.vx, m.vz, o.vx, o.vz = m.vx - dx, m.vz - dz, o.vx + dx, o.vz + dz
    if not p.dead and m.y < p.y + PLAYER_HEIGHT and p.y < m.y + TALL[m.kind]:
        dx, dz = shove(p.x - m.x, p.z - m.z, HALF[m.kind] + PLAYER_WIDTH / 2)
        m.vx, m.vz, p.vx, p.vz = m.vx - dx, m.vz - dz, p.vx + dx, p.vz + dz


@part
def _live(world: World, m: Any) -> None:
    """Run the behaviour that only some kinds of mobs have (such as laying eggs). A call of ``_live`` is slow, because
    the whole world is an argument, but calls are rare.
    """
    p, clock, kind = world.player[0], world.clock[0], int(m.kind)
    if kind == CHICKEN:
        _lay(world.drops, clock, m)
    elif kind == SHEEP and m.sheared and m.wander == 0 and draw(clock) < GRAZES:
        _graze(world, m)
    if BURNS[kind] and draw(clock) < SUN_BURN_CHANCE:
        _scorch(world, m)
    if SHY[kind] > 0.0:
        keep_away(world, m)
    if SPITS[kind] and m.cooldown > 0:
        aim_spit(world, m)
    if kind == ENDERMAN:
        haunt(world, m)
    elif kind == WITCH:
        brew(world, m)
    if SIGHT[kind] > 0 and m.kind > 0:
        _hunt(world, m, p)


@part
def step_mobs(world: World) -> None:
    """Update the damage, the goal and the motion of every mob for one tick."""
    blocks, top, mobs, p, clock, last = world.blocks, world.top, world.mobs, world.player[0], world.clock[0], 0
    for index in range(MOBS):
        if mobs[index].kind > 0:
            last = index + 1
    for index in range(last):
        m = mobs[index]
        if m.kind == 0:
            continue
        m.age += 1
        if m.on_ground and m.fall > 0.0 and TRAMPLES[m.kind]:
            trample(world, m.x, m.y, m.z, m.fall)
        amount = damage_by_environment(blocks, m)
        if amount > 0.0:
            damage_mob(world, m, amount, False)
        if m.kind == 0:
            continue
        if BUSY[m.kind] or m.sheared:
            _live(world, m)
            if m.kind == 0:
                continue
        if m.kind == BAT:
            flutter(blocks, clock, p, m)
            continue
        pace = _pace(blocks, top, clock, m)
        if HOPS[m.kind]:
            pace = hop(blocks, m, pace)
        facing = m.yaw
        if (m.kind == CREEPER and m.mode & SWELLS) or (m.kind == WITCH and m.mode > HUNTS):
            pace = 0.0
        elif m.kind == SKELETON:
            pace = sidle(blocks, m, pace)
        bumped = step_body(blocks, clock, m, pace)
        m.yaw = facing
        if bumped and m.kind == SKELETON and m.mode & SIDLES:
            m.mode ^= CLOCKWISE
        elif bumped and m.on_ground:
            m.wander = max(m.wander - DETOUR, 0)
            if m.wander == 0 and SIGHT[m.kind] > 0:
                _choose(blocks, top, clock, m, RUN)
                m.wander = DETOUR
        _crowd(mobs, p, index, last)
