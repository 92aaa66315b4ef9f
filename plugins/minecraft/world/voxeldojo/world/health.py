"""Changes the player's health by attacks, falls, lack of breath, fire, cacti and food, and handles the player's death
and respawn.

The numbers and the order of the changes of health come from minecraft.wiki, pages Damage, Hunger and Drowning, and from
``EntityLivingBase.attackEntityFrom`` and ``FoodStats.onUpdate``, 1.11.2, normal difficulty.
"""

from __future__ import annotations

import math

from voxeldojo.world.blocks import WATER
from voxeldojo.world.constants import (
    ARMOUR_DAMAGE,
    ARMOUR_SHARE,
    ARMOUR_WEAR,
    ARMOUR_WHOLE,
    BURN_EVERY,
    CACTUS_DAMAGE,
    DROWN_DAMAGE,
    DROWN_EVERY,
    EXHAUSTION_DAMAGE,
    EXHAUSTION_HEAL,
    EXHAUSTION_LIMIT,
    FALL_FREE,
    FIRE_BURN,
    FIRE_DAMAGE,
    HEAL_EVERY,
    HEAL_FAST_EVERY,
    HEAL_FOOD,
    HUNGRY_LIFE,
    HURT_INVULNERABLE,
    LAVA_BURN,
    LAVA_DAMAGE,
    MAX_AIR,
    MAX_FOOD,
    MAX_LIFE,
    MOST_ARMOUR,
    START_SATURATION,
    STARVE_EVERY,
    SUFFOCATION_DAMAGE,
    TOUGHNESS_SHARE,
)
from voxeldojo.world.contact import AT_CACTUS, IN_FIRE, IN_LAVA, IN_WATER, buried, head_in, touched
from voxeldojo.world.drops import spill_inventory
from voxeldojo.world.farming import trample
from voxeldojo.world.inventory import wear
from voxeldojo.world.items import ARMOR, TOUGHNESS
from voxeldojo.world.jit import jit, part
from voxeldojo.world.light import can_see_sky
from voxeldojo.world.player_motion import exhaust
from voxeldojo.world.state import World

PLAIN, FIRE, UNBLOCKABLE = 0, 1, 2
"""Flags of damage: by fire; not reduced by armour."""
BOOTS, HELMET = 36, 39


@part
def _armoured(world: World, amount: float) -> float:
    """Return the damage that remains after the protection of the armour (minecraft.wiki, Armor, since 1.9), and reduce
    the armour's durability.
    """
    armour, tough = 0.0, 0.0
    for index in range(BOOTS, HELMET + 1):
        if world.slots[index].quantity > 0:
            armour += ARMOR[world.slots[index].item]
            tough += TOUGHNESS[world.slots[index].item]
            wear(world, index, max(1, int(amount / ARMOUR_WEAR)))
    counts = max(armour / ARMOUR_SHARE, armour - amount / (ARMOUR_DAMAGE + tough / TOUGHNESS_SHARE))
    return amount * (1.0 - min(float(MOST_ARMOUR), counts) / ARMOUR_WHOLE)


@jit
def hurt(world: World, amount: float, kind: int) -> bool:
    """Damage the player by ``amount`` half hearts. Return False if the player is still immune after the last damage and
    takes none.

    During ``HURT_INVULNERABLE`` ticks after a damage, a further damage counts only as far as it exceeds the last
    damage. ``world.events`` describes the newest damage; a caller that knows the source of the damage adds
    ``distance``, ``yaw`` and ``pitch``.
    """
    p, e = world.player[0], world.events[0]
    if p.dead or amount <= 0.0:
        return False
    counted = amount
    if p.hurt_ticks > 0:
        if amount <= p.last_damage:
            return False
        counted = amount - p.last_damage
    else:
        p.hurt_ticks = HURT_INVULNERABLE
    p.last_damage = amount
    unblockable = kind & UNBLOCKABLE > 0
    if not unblockable:
        counted = _armoured(world, counted)
    hunger = 0.0 if unblockable else EXHAUSTION_DAMAGE
    exhaust(world, hunger)
    p.life -= counted
    p.sleeping = False
    e.amount, e.hunger = counted, hunger
    e.distance = e.yaw = e.pitch = 0.0
    e.fire, e.unblockable = kind & FIRE > 0, unblockable
    e.explosion = e.magic = e.projectile = False
    if p.life <= 0.0:
        p.life = 0.0
        p.dead = True
        spill_inventory(world)
    return True


@jit
def heal(world: World, amount: float) -> None:
    """Increase the player's health by ``amount`` half hearts, up to 20. A dead player is not revived."""
    p = world.player[0]
    if not p.dead:
        p.life = min(float(MAX_LIFE), p.life + amount)


@part
def _burn(world: World, marks: int) -> None:
    p = world.player[0]
    if marks & IN_LAVA:
        hurt(world, float(LAVA_DAMAGE), FIRE)
        p.fire_ticks = LAVA_BURN
    elif marks & IN_FIRE:
        hurt(world, float(FIRE_DAMAGE), FIRE)
        p.fire_ticks = max(p.fire_ticks, FIRE_BURN)
    rained_on = world.clock[0].raining and can_see_sky(world, math.floor(p.x), math.floor(p.y), math.floor(p.z))
    if marks & IN_WATER or rained_on:
        p.fire_ticks = 0
    if p.fire_ticks > 0:
        if p.fire_ticks % BURN_EVERY == 0:
            hurt(world, float(FIRE_DAMAGE), FIRE + UNBLOCKABLE)
        p.fire_ticks -= 1


@part
def _breathe(world: World) -> None:
    p = world.player[0]
    if not head_in(world, WATER):
        p.air = MAX_AIR
        return
    p.air -= 1
    if p.air <= -DROWN_EVERY:
        p.air = 0
        hurt(world, float(DROWN_DAMAGE), UNBLOCKABLE)


@part
def _digest(world: World) -> None:
    """Update the player's food for one tick. The player's exhaustion reduces first the saturation and then the food. A
    player with enough food regains health; a player without food loses health.
    """
    p = world.player[0]
    if p.exhaustion > EXHAUSTION_LIMIT:
        p.exhaustion -= EXHAUSTION_LIMIT
        if p.saturation > 0:
            p.saturation = max(0.0, p.saturation - 1.0)
        else:
            p.food = max(0.0, p.food - 1.0)
    wounded = 0.0 < p.life < MAX_LIFE
    if wounded and p.saturation > 0 and p.food >= MAX_FOOD:
        p.food_timer += 1
        if p.food_timer >= HEAL_FAST_EVERY:
            spent = min(p.saturation, float(EXHAUSTION_HEAL))
            heal(world, spent / EXHAUSTION_HEAL)
            exhaust(world, spent)
            p.food_timer = 0
    elif wounded and p.food >= HEAL_FOOD:
        p.food_timer += 1
        if p.food_timer >= HEAL_EVERY:
            heal(world, 1.0)
            exhaust(world, float(EXHAUSTION_HEAL))
            p.food_timer = 0
    elif p.food <= 0:
        p.food_timer += 1
        if p.food_timer >= STARVE_EVERY:
            if p.life > HUNGRY_LIFE:
                hurt(world, 1.0, UNBLOCKABLE)
            p.food_timer = 0
    else:
        p.food_timer = 0


@jit
def step_life(world: World) -> None:
    """Update the player's health for one tick, after the player has moved. Falls, fire, lack of breath, cacti and food
    change the player's health.
    """
    p = world.player[0]
    if p.dead:
        return
    marks = touched(world)
    if marks & IN_WATER:
        p.fall = 0.0
    if p.on_ground:
        trample(world, p.x, p.y, p.z, p.fall)
        # The height of a fall is a sum of many moves. Rounding errors of this sum must not add a block to the height.
        hurt(world, float(math.ceil(p.fall - FALL_FREE - 1e-6)), UNBLOCKABLE)
        p.fall = 0.0
    if p.hurt_ticks > 0:
        p.hurt_ticks -= 1
    _burn(world, marks)
    _breathe(world)
    if marks & AT_CACTUS:
        hurt(world, float(CACTUS_DAMAGE), PLAIN)
    if buried(world):
        hurt(world, float(SUFFOCATION_DAMAGE), UNBLOCKABLE)
    _digest(world)


@jit
def respawn(world: World) -> None:
    """Respawn the player at the spawn point, with an empty inventory and full health."""
    p = world.player[0]
    p.x, p.y, p.z = p.spawn_x, p.spawn_y, p.spawn_z
    p.vx = p.vy = p.vz = p.fall = p.exhaustion = p.last_damage = p.dig_progress = p.xp = 0.0
    p.life, p.food, p.saturation, p.air = float(MAX_LIFE), float(MAX_FOOD), float(START_SATURATION), MAX_AIR
    p.fire_ticks = p.hurt_ticks = p.food_timer = p.use_ticks = p.use_delay = p.jump_delay = p.dig_delay = 0
    p.on_ground = p.in_water = p.in_lava = p.sneaking = p.sprinting = p.sleeping = p.bumped = p.dead = False
