"""Damage to mobs, and their drops."""

from __future__ import annotations

import math
from typing import Any

from voxeldojo.world.blocks import FIRE, LAVA, WATER
from voxeldojo.world.collide import Blocks
from voxeldojo.world.constants import (
    ARMOUR_DAMAGE,
    ARMOUR_SHARE,
    ARMOUR_WHOLE,
    BURN_EVERY,
    FALL_FREE,
    FIRE_BURN,
    FIRE_DAMAGE,
    HURT_INVULNERABLE,
    KNOCK_SHARE,
    KNOCK_UP,
    LAVA_BURN,
    LAVA_DAMAGE,
    PANIC_TICKS,
    RARE_CHANCE,
)
from voxeldojo.world.drops import Drops, spill
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.jit import part
from voxeldojo.world.mob_kinds import ARMOR, FALLS, FLEES, LOOT, RARE, ROLLS, SHEEP, XP
from voxeldojo.world.mob_motion import block_of
from voxeldojo.world.rng import draw, pick
from voxeldojo.world.state import World

WOOL = ITEM["wool"]
ARMOUR_LEAST = 1 / ARMOUR_SHARE
"""Minimal share of the armour points that reduces a damage of any size."""
LOOTS, RARES = LOOT.shape[1], RARE.shape[1]


@part
def _roll(drops: Drops, clock: Any, m: Any) -> None:
    """Create the drops of a mob whose kind draws some of its drops."""
    kind, entries = int(m.kind), 0
    while entries < LOOTS and LOOT[kind, entries, 3] > 0:
        entries += 1
    for _ in range(ROLLS[kind, 0] + pick(clock, ROLLS[kind, 1] - ROLLS[kind, 0] + 1)):
        n = pick(clock, entries)
        quantity = LOOT[kind, n, 2] + pick(clock, LOOT[kind, n, 3] - LOOT[kind, n, 2] + 1)
        if quantity > 0:
            spill(drops, clock, m.x, m.y, m.z, LOOT[kind, n, 0], quantity, 0, 0)


@part
def _die(world: World, m: Any) -> None:
    drops, clock = world.drops, world.clock[0]
    kind, mine = int(m.kind), m.hit_ticks > 0
    if ROLLS[kind, 1] > 0:
        _roll(drops, clock, m)
    for n in range(LOOTS if ROLLS[kind, 1] == 0 else 0):
        most, odds = LOOT[kind, n, 3], LOOT[kind, n, 4]
        if odds > 0 and not (mine and pick(clock, odds) == 0):
            continue
        quantity = LOOT[kind, n, 2] + pick(clock, most - LOOT[kind, n, 2] + 1) if most > 0 else 0
        if quantity > 0:
            spill(drops, clock, m.x, m.y, m.z, LOOT[kind, n, 1 if m.fire_ticks > 0 else 0], quantity, 0, 0)
    if kind == SHEEP and not m.sheared:
        spill(drops, clock, m.x, m.y, m.z, WOOL, 1, m.colour, 0)
    if mine:
        if RARE[kind, 0] > 0 and draw(clock) < RARE_CHANCE:
            spill(drops, clock, m.x, m.y, m.z, RARE[kind, pick(clock, RARES)], 1, 0, 0)
        world.player[0].xp += XP[kind, 0] + pick(clock, XP[kind, 1] - XP[kind, 0] + 1)
        world.kills[kind] += 1
        world.events[0].killed_mob = kind
    m.kind = 0


@part
def damage_mob(world: World, m: Any, amount: float, plain: bool) -> bool:
    """Damage a mob by ``amount`` half hearts. Return False if the mob is still immune after the last damage and takes
    none.

    During ``HURT_INVULNERABLE`` ticks after a damage, a further damage counts only as far as it exceeds the last
    damage. If ``plain`` is True, the mob's armour reduces the damage. A mob without health dies and leaves its drops on
    the ground. If a mob dies within ``RECENT_BLOW`` ticks after an attack of the player, its death counts as a kill by
    the player. The rules of damage are those of the pages Damage, Armor and Drops of minecraft.wiki.
    """
    counted, fresh = amount, bool(m.hurt_ticks == 0)
    if not fresh:
        if amount <= m.last_damage:
            return False
        counted = amount - m.last_damage
    else:
        m.hurt_ticks = HURT_INVULNERABLE
    m.last_damage = amount
    if plain:
        armor = ARMOR[m.kind]
        counted *= 1.0 - max(armor - counted / ARMOUR_DAMAGE, armor * ARMOUR_LEAST) / ARMOUR_WHOLE
    m.life -= counted
    if FLEES[m.kind] > 0:
        m.panic, m.wander = PANIC_TICKS, 0
    if m.life <= 0.0:
        _die(world, m)
    return fresh


@part
def knock(m: Any, dx: float, dz: float, force: float) -> None:
    """Knock a mob back in the direction ``dx``, ``dz`` and upwards (``EntityLivingBase.knockBack``)."""
    far = math.hypot(dx, dz)
    if m.kind == 0 or far < 1e-9:
        return
    m.vx, m.vz = m.vx / KNOCK_SHARE + dx / far * force, m.vz / KNOCK_SHARE + dz / far * force
    if m.on_ground:
        m.vy = min(KNOCK_UP, m.vy / KNOCK_SHARE + force)
        m.on_ground = False


@part
def damage_by_environment(blocks: Blocks, m: Any) -> float:
    """Apply the damage that fluids, fire, cacti and falls do to a mob in one tick."""
    m.hurt_ticks = max(m.hurt_ticks - 1, 0)
    m.hit_ticks = max(m.hit_ticks - 1, 0)
    feet = block_of(blocks, m.x, m.y + 0.01, m.z)
    amount = 0.0
    if m.on_ground:
        amount = float(math.ceil(m.fall * FALLS[m.kind] - FALL_FREE - 1e-6))
        m.fall = 0.0
    if feet == LAVA:
        amount, m.fire_ticks = max(amount, float(LAVA_DAMAGE)), LAVA_BURN
    elif feet == FIRE:
        amount, m.fire_ticks = max(amount, float(FIRE_DAMAGE)), max(m.fire_ticks, FIRE_BURN)
    elif feet == WATER:
        m.fire_ticks = 0
    if m.fire_ticks > 0:
        if m.fire_ticks % BURN_EVERY == 0:
            amount = max(amount, float(FIRE_DAMAGE))
        m.fire_ticks -= 1
    return amount
