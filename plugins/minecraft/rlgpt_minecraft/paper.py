"""The tier ``paper`` (a setting of tasks). In this tier, code has MineDojo's low-level actions and sees only the
player's body, position and inventory; policies also see lidar and voxels.

The tier follows the paper, in which code sends MineDojo's actions and does not see blocks and animals, while the policy
observes them. No key of the view and no outcome names a block or an animal in the world. Only policies can observe the
numbers about blocks and animals (``views.policy_view``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rlgpt.plugin.types import Context, Primitive

from rlgpt_minecraft.moves import Body, Function, bins, crafting, move
from rlgpt_minecraft.primitives.common import Run, choice, gained, integer, number, observe, travelled
from rlgpt_minecraft.tasks import Spec

MAX_TICKS = 40
_MOVES: Mapping[str, tuple[int, int, Body]] = {
    "stay": (0, 0, ""),
    "forward": (1, 0, ""),
    "back": (-1, 0, ""),
    "left": (0, 1, ""),
    "right": (0, -1, ""),
    "jump_forward": (1, 0, "jump"),
    "sprint_forward": (1, 0, "sprint"),
}
_HANDS: Mapping[str, Function] = {"nothing": "no_op", "use": "use", "attack": "attack"}


def act(ctx: Context, *, motion: str, hand: str, right: float, up: float, ticks: int) -> Run:
    start, before = observe(ctx).position, observe(ctx).inventory
    forward, left, body = _MOVES[motion]
    turn, lift = bins(right), bins(up)
    for tick in range(ticks):
        first = tick == 0
        yield move(forward, left, body, right=turn if first else 0, up=lift if first else 0, function=_HANDS[hand])
    return {"moved": round(travelled(ctx, start), 2), "gained": gained(before, observe(ctx).inventory)}


def craft(ctx: Context, *, item: str) -> Run:
    before = observe(ctx).inventory.get(item, 0)
    yield crafting(item)
    return {"made": max(0, observe(ctx).inventory.get(item, 0) - before)}


def place(ctx: Context, *, item: str) -> Run:
    before, slot = observe(ctx).inventory.get(item, 0), observe(ctx).slot(item)
    yield move() if slot is None else move(function="place", slot=slot)
    return {"placed": observe(ctx).inventory.get(item, 0) < before}


def equip(ctx: Context, *, item: str) -> Run:
    slot = observe(ctx).slot(item)
    yield move() if slot is None else move(function="equip", slot=slot)
    return {"equipped": observe(ctx).hand == item}


def primitives(spec: Spec) -> tuple[Primitive, ...]:
    """Return the primitives of the tier ``paper``. Each of them is an action of MineDojo, and none searches, aims or
    chooses a path.
    """
    found: list[Primitive | None] = [
        Primitive(
            "act",
            "MineDojo's low-level action, held for some ticks: a motion of the body and what the hand does. The camera "
            "turns in the first tick, in steps of 15 degrees. Nothing looks, aims or avoids anything.",
            act,
            (
                choice(tuple(_MOVES), "of the body", "motion"),
                choice(tuple(_HANDS), "on what is under the cross-hair", "hand"),
                number("right", -180.0, 180.0, 0.0, "degrees", "turn of the camera, negative: to the left"),
                number("up", -180.0, 180.0, 0.0, "degrees", "turn of the camera, negative: down"),
                integer("ticks", 1, MAX_TICKS, 1, "ticks", "how long"),
            ),
            {"moved": "m, horizontally, from where it began", "gained": "item -> how many more there are now"},
            MAX_TICKS,
        )
    ]
    tools = tuple(dict.fromkeys((*(item for item, _ in spec.inventory), *spec.equips)))
    found += [
        _item("craft", "Make one portion of an item", spec.makeable, craft, {"made": "how many more there are now"}),
        _item("place", "Place a block at what is under the cross-hair", spec.places, place, {"placed": "it stands"}),
        _item("equip", "Take an item of the inventory into the hand", tools, equip, {"equipped": "it is in the hand"}),
    ]
    return tuple(primitive for primitive in found if primitive is not None)


def _item(
    name: str, what: str, items: tuple[str, ...], run: Callable[..., Run], outcome: Mapping[str, str]
) -> Primitive | None:
    if not items:
        return None
    doc = f"{what}: MineDojo's action, one step (3 ticks), which does nothing where it cannot."
    return Primitive(name, doc, run, (choice(items, "which", "item"),), outcome, 1)
