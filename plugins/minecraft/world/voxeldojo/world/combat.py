"""The player's attacks. The reach, the strength, the cost and the effect of an attack are those of the pages Damage and
Combat of minecraft.wiki, versions 1.9 to 1.11.
"""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from voxeldojo.world.blocks import AIR
from voxeldojo.world.constants import (
    BLOCK_REACH,
    CRITICAL,
    ENTITY_REACH,
    EXHAUSTION_ATTACK,
    GRUDGE,
    HUNT_MEMORY,
    KNOCK,
    PACK_HEIGHT,
    RECENT_BLOW,
    RUSH_KEEPS,
    SPIT_TICKS,
    SPRINT_KNOCK,
    STRONG,
    SWEEP_DAMAGE,
    SWEEP_HEIGHT,
    SWEEP_KNOCK,
    SWEEP_REACH,
    SWING_AHEAD,
    SWORD_HIT_WEAR,
    TOOL_HIT_WEAR,
    WEAK_SHARE,
    WEAKNESS_LESS,
)
from voxeldojo.world.contact import climbs
from voxeldojo.world.crosshair import MOB, aim
from voxeldojo.world.inventory import wear
from voxeldojo.world.items import ATTACK_SPEED, DAMAGE, TOOL_CLASS, TOOLS
from voxeldojo.world.jit import part
from voxeldojo.world.mob_damage import damage_mob, knock
from voxeldojo.world.mob_kinds import HALF, NEUTRAL, PACK, SIGHT, SPITS, TALL, ZOMBIE
from voxeldojo.world.player_motion import exhaust
from voxeldojo.world.ray import eyes, look, trace
from voxeldojo.world.state import MOBS, World

SWORD, HOE, SHEARS, NO_TOOL = (TOOLS.index(name) for name in ("sword", "hoe", "shears", "none"))


@part
def strength(p: Any, item: int) -> float:
    """Return the share, 0 to 1, by which the player has recovered since the last swing
    (``getCooledAttackStrength``).
    """
    return float(min(1.0, (p.attack_ticks + SWING_AHEAD) * ATTACK_SPEED[item] / 20.0))


@part
def _call(mobs: NDArray[Any], m: Any) -> None:
    """Let the mobs of the same kind near a mob hunt the player (``EntityAIHurtByTarget.alertOthers``)."""
    for index in range(MOBS):
        o = mobs[index]
        near = abs(o.x - m.x) < SIGHT[m.kind] and abs(o.z - m.z) < SIGHT[m.kind] and abs(o.y - m.y) < PACK_HEIGHT
        if o.kind == m.kind and o.panic == 0 and near:
            o.panic, o.wander = GRUDGE, 0


@part
def _strike(world: World, m: Any, amount: float, force: float) -> bool:
    """Hit one mob. Return whether the hit did damage."""
    p = world.player[0]
    kind, dx, dz = int(m.kind), m.x - p.x, m.z - p.z
    m.hit_ticks = RECENT_BLOW
    if NEUTRAL[kind]:
        m.panic, m.wander = GRUDGE, 0
    elif SIGHT[kind] > 0:
        m.panic, m.wander = HUNT_MEMORY, m.wander if kind == ZOMBIE else 0
    world.events[0].hit_mob = kind
    if not damage_mob(world, m, amount, True):
        return False
    knock(m, dx, dz, force)
    if PACK[kind] and m.kind > 0:
        _call(world.mobs, m)
    if SPITS[kind] and m.cooldown == 0:
        m.cooldown = SPIT_TICKS
    return True


@part
def _sweep(world: World, target: int, x: float, y: float, z: float, half: float, tall: float) -> None:
    """Hit the mobs beside the target. As in the game, only an attack with a sword, on the ground and after a full
    recovery, hits the mobs beside the target.

    :param x, y, z: the position of the target before the attack.
    :param half, tall: half the width of the target, and the target's height.
    """
    p = world.player[0]
    for index in range(MOBS):
        m = world.mobs[index]
        if m.kind == 0 or index == target:
            continue
        room = half + HALF[m.kind] + SWEEP_REACH
        beside = abs(m.x - x) < room and abs(m.z - z) < room
        level = m.y < y + tall + SWEEP_HEIGHT and m.y + TALL[m.kind] > y - SWEEP_HEIGHT
        if beside and level and (m.x - p.x) ** 2 + (m.y - p.y) ** 2 + (m.z - p.z) ** 2 < ENTITY_REACH**2:
            _strike(world, m, SWEEP_DAMAGE, SWEEP_KNOCK)


@part
def _blow(world: World, index: int) -> None:
    """Attack the mob under the cross-hair with the item in the player's hand."""
    p, m = world.player[0], world.mobs[index]
    item = int(world.slots[p.selected].item)
    ready = strength(p, item)
    share = WEAK_SHARE + (1.0 - WEAK_SHARE) * ready * ready
    amount, strong, kind = DAMAGE[item] * share, ready > STRONG, int(m.kind)
    if p.weakness > 0:
        amount = max(0.0, DAMAGE[item] - WEAKNESS_LESS) * share
    x, y, z = m.x, m.y, m.z
    falling = p.fall > 0.0 and not p.on_ground and not p.in_water and not climbs(world)
    critical, rushing = strong and falling and not p.sprinting, strong and p.sprinting
    p.attack_ticks = 0
    if not _strike(world, m, amount * (CRITICAL if critical else 1.0), KNOCK):
        return
    if rushing:
        yaw = math.radians(p.yaw)
        knock(m, -math.sin(yaw), math.cos(yaw), SPRINT_KNOCK)
        p.vx, p.vz, p.sprinting = p.vx * RUSH_KEEPS, p.vz * RUSH_KEEPS, False
    tool = TOOL_CLASS[item]
    if tool == SWORD and strong and p.on_ground and not rushing:
        _sweep(world, index, x, y, z, HALF[kind], TALL[kind])
    if tool not in (NO_TOOL, SHEARS):
        wear(world, int(p.selected), SWORD_HIT_WEAR if tool in (SWORD, HOE) else TOOL_HIT_WEAR)
    exhaust(world, EXHAUSTION_ATTACK)


@part
def attack(world: World) -> bool:
    """Run the attack of the player in a tick in which the attack key is held. Return whether a mob is under the
    cross-hair; the player does not dig if a mob is under the cross-hair.

    The player hits only in the tick in which the attack key is pressed, not while the key is held (``attack_held`` of
    the previous tick). The game calls ``clickMouse`` once for each press, and Malmo's ``FakeMouse`` presses a held
    button once. A swing of the arm that hits nothing also restarts the recovery of the arm.
    """
    p = world.player[0]
    x, y, z = eyes(world)
    dx, dy, dz = look(p.yaw, p.pitch)
    block, far, _, _, _, _ = trace(world, x, y, z, dx, dy, dz, BLOCK_REACH, False)
    what, index, _ = aim(world, x, y, z, dx, dy, dz, min(far, ENTITY_REACH), False)
    if not p.attack_held:
        if what == MOB:
            _blow(world, index)
        elif block == AIR:
            p.attack_ticks = 0
    return bool(what == MOB)
