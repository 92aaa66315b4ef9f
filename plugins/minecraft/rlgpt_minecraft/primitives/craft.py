"""Primitives that craft, smelt and equip."""

from __future__ import annotations

from collections.abc import Mapping

from rlgpt.plugin.types import Context, Primitive
from voxeldojo.names import craft_place
from voxeldojo.world.constants import SMELT_TICKS
from voxeldojo.world.items import FUEL, ID

from rlgpt_minecraft.moves import crafting, move
from rlgpt_minecraft.primitives.common import Run, choice, observe


def _hindrance(ctx: Context, item: str) -> str:
    """Return what is missing to craft an item, or "" if nothing is missing."""
    observation = observe(ctx).observation
    tools = observation["nearby_tools"]
    if craft_place(item) == "table" and not tools["table"]:
        return "crafting table"
    if craft_place(item) == "furnace" and not tools["furnace"]:
        return "furnace"
    return "" if observe(ctx).possible(item) else "material"


def _failure(before: Mapping[str, int], after: Mapping[str, int], item: str) -> str:
    """Return what was missing when the crafting of an item failed although it seemed possible.

    What seems possible ignores fuel, free slots and the variants of ingredients (for example, logs
    for coal).
    """
    if any(after.get(used, 0) < n for used, n in before.items()):
        return "room"
    burning = sum(int(FUEL[ID[held]]) * n for held, n in before.items())
    return "fuel" if craft_place(item) == "furnace" and burning < SMELT_TICKS else "material"


def craft(ctx: Context, *, item: str) -> Run:
    before, missing = observe(ctx).inventory, _hindrance(ctx, item)
    if not missing:
        yield crafting(item)
    after = observe(ctx).inventory
    had, now = before.get(item, 0), after.get(item, 0)
    if not missing and now <= had:
        missing = _failure(before, after, item)
    return {"made": max(0, now - had), "missing": missing, "count": now}


def equip(ctx: Context, *, item: str) -> Run:
    slot = observe(ctx).slot(item)
    if slot is not None and observe(ctx).hand != item:
        yield move(function="equip", slot=slot)
    return {"equipped": observe(ctx).hand == item, "hand": observe(ctx).hand}


def primitives(crafts: tuple[str, ...], smelts: tuple[str, ...], tools: tuple[str, ...]) -> tuple[Primitive, ...]:
    """Return the primitives that craft, smelt and equip.

    :param crafts, smelts: the items that the primitives can craft or smelt.
    :param tools: the items that the primitives can take into the hand.
    """
    outcome = {
        "made": "how many more there are now",
        "missing": "'' or what is missing: 'material', 'crafting table', 'furnace', 'fuel', 'room'",
        "count": "how many there are now",
    }
    found = []
    if crafts:
        found.append(
            Primitive(
                "craft",
                "Make one portion of an item from the inventory. Takes one step (3 ticks); none if something is "
                "missing. Things of more than 2 x 2 need a crafting table on the screen, at most 5 m away.",
                craft,
                (choice(crafts, "what to make", "item"),),
                outcome,
                1,
            )
        )
    if smelts:
        found.append(
            Primitive(
                "smelt",
                "Smelt one item. Takes one step (3 ticks); none if something is missing. Needs a furnace on the "
                "screen, at most 5 m away, and fuel in the inventory.",
                craft,
                (choice(smelts, "what to make", "item"),),
                {**outcome, "missing": "'' or what is missing: 'material', 'furnace', 'fuel', 'room'"},
                1,
            )
        )
    if tools:
        found.append(
            Primitive(
                "equip",
                "Take an item of the inventory into the hand. One step (3 ticks).",
                equip,
                (choice(tools, "what to take", "item"),),
                {"equipped": "it is in the hand", "hand": "item in the hand"},
                1,
            )
        )
    return tuple(found)
