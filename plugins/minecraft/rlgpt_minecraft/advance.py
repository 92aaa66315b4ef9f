"""A tick of the game as Malmo runs it: what commands ask for, the tick itself, what is counted of it. One kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgpt_minecraft.names import PLACEABLE
from rlgpt_minecraft.stats import CROUCH, DAMAGE, JUMP, PLAY, SINCE_DEATH, SNEAK, SPRINT, SWIM, WALK
from rlgpt_minecraft.world.blocks import HARDNESS, ITEM_OF
from rlgpt_minecraft.world.inventory import equip, find, swap
from rlgpt_minecraft.world.items import NAMES, TOOL_CLASS
from rlgpt_minecraft.world.jit import jit, part
from rlgpt_minecraft.world.place import use_on_block
from rlgpt_minecraft.world.recipes import craft
from rlgpt_minecraft.world.state import World
from rlgpt_minecraft.world.tick import tick

DEEDS = np.dtype([(name, np.int64) for name in ("craft", "equip", "place", "swap", "with_slot", "hotbar")])
"""What a command asks for besides keys: index into ``names.CRAFTS``, items, slots; -1 for nothing."""
CAN_PLACE = np.array([name in PLACEABLE for name in NAMES])


@part
def _place(world: World, item: int) -> None:
    """Place the first ``item`` there is, wherever it lies, as if it were in the hand."""
    player = world.player[0]
    slot = find(world, item)
    if slot < 0 or not CAN_PLACE[item]:
        return
    sneaking = player.sneaking
    player.sneaking = True  # so that a table or a chest that is looked at is built on, not opened
    swap(world, slot, int(player.selected))
    use_on_block(world)
    swap(world, slot, int(player.selected))
    player.sneaking = sneaking


@part
def _do(world: World, deeds: NDArray[Any]) -> None:
    deed = deeds[0]
    if deed.swap >= 0:
        swap(world, deed.swap, deed.with_slot)
    if deed.hotbar >= 0:
        world.player[0].selected = deed.hotbar
    if deed.craft >= 0:
        craft(world, deed.craft)
    if deed.equip >= 0:
        equip(world, deed.equip)
    if deed.place >= 0:
        _place(world, deed.place)


@jit
def advance(
    world: World, action: NDArray[Any], deeds: NDArray[Any], totals: NDArray[np.int64], used: NDArray[np.int64]
) -> None:
    """A tick: deeds first, then the world's (see ``tick``), all counted.

    :param action: ACTION ``(1,)``. :param deeds: DEEDS ``(1,)``. :param totals, used: ``stats.Counts``.
    """
    _do(world, deeds)
    player, events = world.player[0], world.events[0]
    x, y, z, grounded = player.x, player.y, player.z, player.on_ground
    held = world.slots[player.selected].item
    events.amount = events.distance = events.yaw = events.pitch = events.hunger = 0.0
    events.explosion = events.fire = events.magic = events.projectile = events.unblockable = False
    tick(world, action)
    totals[PLAY] += 1
    totals[SINCE_DEATH] += 1
    totals[DAMAGE] += round(10 * events.amount)
    if grounded and not player.on_ground and action[0].jump and player.vy > 0:
        totals[JUMP] += 1
    cm = round(100 * np.sqrt((player.x - x) ** 2 + (player.z - z) ** 2))
    if player.in_water:
        totals[SWIM] += round(100 * np.sqrt((player.x - x) ** 2 + (player.y - y) ** 2 + (player.z - z) ** 2))
    elif player.on_ground:
        totals[CROUCH if player.sneaking else SPRINT if player.sprinting else WALK] += cm
    if player.sneaking:
        totals[SNEAK] += 1
    if events.broke > 0 and TOOL_CLASS[held] > 0 and HARDNESS[events.broke] > 0:
        used[held] += 1
    if events.hit_mob > 0 and TOOL_CLASS[held] > 0:
        used[held] += 1
    if events.placed > 0:
        used[ITEM_OF[events.placed]] += 1
    if events.ate > 0:
        used[events.ate] += 1
