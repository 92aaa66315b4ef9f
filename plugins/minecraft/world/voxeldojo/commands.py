"""Malmo adds two things to a tick. Before the tick, Malmo runs some commands, and after the tick, Malmo counts
statistics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voxeldojo.names import PLACEABLE
from voxeldojo.stats import CROUCH, DAMAGE, JUMP, PLAY, SINCE_DEATH, SNEAK, SPRINT, SWIM, WALK
from voxeldojo.world.blocks import HARDNESS, ITEM_OF
from voxeldojo.world.inventory import equip, find, swap
from voxeldojo.world.items import NAMES, TOOL_CLASS
from voxeldojo.world.jit import jit, part
from voxeldojo.world.place import use_on_block
from voxeldojo.world.recipes import craft
from voxeldojo.world.state import World

COMMAND = np.dtype([(name, np.int64) for name in ("craft", "equip", "place", "swap", "with_slot", "hotbar")])
"""The fields of a command that are not keys: index into ``names.CRAFTS``, items, slots; -1 for none."""
CAN_PLACE = np.array([name in PLACEABLE for name in NAMES])


@part
def _place(world: World, item: int) -> None:
    """Place the first ``item`` of the inventory, with the same effect as if the player held the item in the hand."""
    player = world.player[0]
    slot = find(world, item)
    if slot < 0 or not CAN_PLACE[item]:
        return
    sneaking = player.sneaking
    player.sneaking = True  # otherwise the player would open a table or a chest
    swap(world, slot, int(player.selected))
    use_on_block(world)
    swap(world, slot, int(player.selected))
    player.sneaking = sneaking


@jit
def apply_command(world: World, command: NDArray[Any]) -> None:
    """Execute, before the tick, the parts of a command that are not keys. ``command``: COMMAND ``(1,)``."""
    asked = command[0]
    if asked.swap >= 0:
        swap(world, asked.swap, asked.with_slot)
    if asked.hotbar >= 0:
        world.player[0].selected = asked.hotbar
    if asked.craft >= 0:
        craft(world, asked.craft)
    if asked.equip >= 0:
        equip(world, asked.equip)
    if asked.place >= 0:
        _place(world, asked.place)


@jit
def count_statistics(
    world: World, before: NDArray[Any], item: int, jump: bool, totals: NDArray[np.int64], used: NDArray[np.int64]
) -> None:
    """Update the statistics after a tick.

    :param before: a copy of the player's record before the tick, PLAYER ``(1,)``.
    :param item: the item that was in the hand before the tick.
    :param jump: whether the jump key was held.
    :param totals, used: the arrays of ``stats.Statistics``, which are updated in place.
    """
    player, was, events = world.player[0], before[0], world.events[0]
    dx, dy, dz = player.x - was.x, player.y - was.y, player.z - was.z
    totals[PLAY] += 1
    totals[SINCE_DEATH] += 1
    totals[DAMAGE] += round(10 * events.amount)
    if was.on_ground and not player.on_ground and jump and player.vy > 0:
        totals[JUMP] += 1
    if player.in_water:
        totals[SWIM] += round(100 * np.sqrt(dx * dx + dy * dy + dz * dz))
    elif player.on_ground:
        way = CROUCH if player.sneaking else SPRINT if player.sprinting else WALK
        totals[way] += round(100 * np.sqrt(dx * dx + dz * dz))
    if player.sneaking:
        totals[SNEAK] += 1
    if TOOL_CLASS[item] > 0 and ((events.broke > 0 and HARDNESS[events.broke] > 0) or events.hit_mob > 0):
        used[item] += 1
    if events.tilled:
        used[item] += 1
    if events.placed > 0:
        used[ITEM_OF[events.placed]] += 1
    if events.ate > 0:
        used[events.ate] += 1
