"""Lets the player use an animal, and eat the item in the hand."""

from __future__ import annotations

from typing import Any

from voxeldojo.world.constants import BLOCK_REACH, EAT_TICKS, ENTITY_REACH, MAX_FOOD, MOST_WOOL, WOOL_UP
from voxeldojo.world.crosshair import MOB, aim
from voxeldojo.world.drops import exchange, spill
from voxeldojo.world.effects import cure
from voxeldojo.world.inventory import wear
from voxeldojo.world.items import CONTAINER, DRINK, FOOD, SATURATION
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.jit import part
from voxeldojo.world.mob_kinds import COW, SHEEP
from voxeldojo.world.ray import eyes, look, trace
from voxeldojo.world.rng import pick
from voxeldojo.world.state import World

BUCKET, MILK, SHEARS, WOOL = (ITEM[name] for name in ("bucket", "milk_bucket", "shears", "wool"))
ALWAYS = ITEM["golden_apple"], ITEM["chorus_fruit"]
"""Items that can be eaten without hunger."""


@part
def _handle(world: World, m: Any) -> bool:
    """Milk a cow or shear a sheep. Return whether the animal could be milked or shorn (minecraft.wiki, Cow, Sheep)."""
    p, e, clock = world.player[0], world.events[0], world.clock[0]
    slot = world.slots[p.selected]
    if slot.quantity == 0:
        return False
    if m.kind == COW and slot.item == BUCKET:
        exchange(world, MILK)
        e.milked = COW
        return True
    if m.kind == SHEEP and slot.item == SHEARS and not m.sheared:
        m.sheared = True
        for _ in range(1 + pick(clock, MOST_WOOL)):
            spill(world.drops, clock, m.x, m.y + WOOL_UP, m.z, WOOL, 1, m.colour, 0)
        wear(world, int(p.selected), 1)
        e.sheared = SHEEP
        return True
    return False


@part
def _edible(p: Any, slot: Any) -> bool:
    """Return whether the player can eat or drink the item in the hand now."""
    hungry = p.food < MAX_FOOD or slot.item in ALWAYS
    return bool(slot.quantity > 0 and (DRINK[slot.item] > 0 or (FOOD[slot.item] > 0 and hungry)))


@part
def _swallow(world: World) -> None:
    p = world.player[0]
    item = int(world.slots[p.selected].item)
    p.food = min(float(MAX_FOOD), p.food + FOOD[item])
    p.saturation = min(p.food, p.saturation + SATURATION[item])
    exchange(world, int(CONTAINER[item]))
    world.events[0].ate = item
    if item == MILK:
        cure(p)
    p.use_ticks = 0


@part
def eat(world: World) -> bool:
    """Eat or drink the item in the hand for one of ``EAT_TICKS`` ticks. If the player cannot eat, stop eating and
    return False.
    """
    p = world.player[0]
    item = world.slots[p.selected].item
    if not _edible(p, world.slots[p.selected]) or (p.use_ticks > 0 and item != p.used_item):
        p.use_ticks = 0
        return False
    p.use_ticks, p.used_item = p.use_ticks + 1, item
    if p.use_ticks >= EAT_TICKS:
        _swallow(world)
    return True


@part
def interact(world: World) -> bool:
    """Press the use key at the mob under the cross-hair. Return False if there is no mob. The flag ``events.used`` is
    set if the use key had an effect.
    """
    p = world.player[0]
    x, y, z = eyes(world)
    dx, dy, dz = look(p.yaw, p.pitch)
    _, far, _, _, _, _ = trace(world, x, y, z, dx, dy, dz, BLOCK_REACH, False)
    what, index, _ = aim(world, x, y, z, dx, dy, dz, min(far, ENTITY_REACH), False)
    if what != MOB:
        return False
    world.events[0].used = _handle(world, world.mobs[index])
    return True
