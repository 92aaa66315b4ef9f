"""Defines the primitives of the hand, which attack, mine, use and place."""

from __future__ import annotations

from itertools import product

import numpy as np
from rlgpt.domain import Plain
from rlgpt.plugin.types import Context, Primitive
from voxeldojo.world.constants import BLOCK_REACH, EAT_TICKS, EYE_HEIGHT, MAX_FOOD
from voxeldojo.world.items import FOOD
from voxeldojo.world.items import ID as ITEM_ID

from rlgpt_minecraft.moves import bins, move
from rlgpt_minecraft.observation import ParsedObservation, Place
from rlgpt_minecraft.primitives.camera import turn_to
from rlgpt_minecraft.primitives.common import Moves, Run, choice, gained, integer, observe, struck
from rlgpt_minecraft.rays import CENTRE, bearing, elevation
from rlgpt_minecraft.things import THINGS

MAX_TICKS = 40
"""Maximal number of ticks of one call."""
STRIKES = 3
COOLDOWN = 12
"""Ticks between two strikes, after which a sword or fist has its full strength again (Minecraft 1.9 and later)."""
EAT_MORE = 4
"""Number of ticks that a meal may take in addition to ``EAT_TICKS``."""
DROP = THINGS["drop"].seen_as
_HARMFUL = ("rotten_flesh", "spider_eye", "poisonous_potato", "chicken", "fish", "golden_apple", "chorus_fruit")
"""Foods that can poison or move the player, raw foods that can, and food that is kept."""
_EDIBLE = (item for item in ITEM_ID if FOOD[ITEM_ID[item]] > 0 and item not in _HARMFUL)
MEALS = tuple(sorted(_EDIBLE, key=lambda item: (-float(FOOD[ITEM_ID[item]]), item)))
"""Foods, the most filling ones first."""
PLACE_LOOKS = tuple(product((-45, -30, -60), (0, 3, -3, 6)))
"""Elevations (degrees) and turns (camera bins) of the attempts to place a block."""


def _struck(obs: ParsedObservation) -> str:
    """Return the name of the entity under the cross-hair if the task looks for this entity, or ""."""
    return next(
        (name for name, thing in THINGS.items() if thing.seen_as == obs.crosshair.entity and name in obs.sights), ""
    )


def attack(ctx: Context, *, times: int) -> Run:
    before, strikes, what = observe(ctx).inventory, 0, ""
    for i in range(times):
        obs = observe(ctx)
        name = _struck(obs) or what
        if name and obs.sights[name].visible and not obs.sights[name].aimed:
            right, up = turn_to(obs, obs.sights[name])
            yield move(right=right, up=up)
        obs = observe(ctx)
        what = _struck(obs) or what
        strikes += int(bool(obs.crosshair.entity) and obs.crosshair.reach)
        yield move(function="attack")
        if i + 1 < times:
            for _ in range(COOLDOWN):
                yield move()
    obs = observe(ctx)
    return {
        "strikes": strikes,
        "target": what,
        "in_reach": bool(obs.crosshair.entity) and obs.crosshair.reach,
        "gained": gained(before, obs.inventory),
    }


def _block_in_reach(obs: ParsedObservation) -> str:
    """Return the name of the block that an attack would reach, or "". An item that lies before the block stops neither
    the attack key nor this search.
    """
    aim, rays = obs.crosshair, obs.observation["rays"]
    if aim.entity != DROP:
        return aim.block if aim.reach else ""
    block = str(rays["block_name"][CENTRE])
    near = float(rays["block_distance"][CENTRE]) <= BLOCK_REACH and not rays["is_liquid"][CENTRE]
    return block if near and block != "air" else ""


def mine(ctx: Context, *, ticks: int) -> Run:
    start, began = observe(ctx), ctx.step
    place, block, used = start.crosshair.place, _block_in_reach(start), 0
    broken, right, up = False, 0, 0
    while block and used < ticks and not broken and not struck(ctx, began):
        yield move(function="attack", right=right, up=up)
        used, right, up = used + 1, 0, 0
        obs = observe(ctx)
        if not (obs.crosshair.block and obs.crosshair.place == place) and not obs.crosshair.entity:
            # A body that still slides moves the cross-hair off the block. Turn back before a check whether the block is
            # broken.
            right, up = _turns(obs, place)
            there = obs.ground.at(place)
            broken = there != block if there is not None else (right, up) == (0, 0)
    return {
        "broken": broken,
        "block": block,
        "ticks": used,
        "hit": struck(ctx, began),
        "gained": gained(start.inventory, observe(ctx).inventory),
    }


def use(ctx: Context, *, ticks: int) -> Run:
    before, began = observe(ctx), ctx.step
    for _ in range(ticks):
        if struck(ctx, began):
            break
        yield move(function="use")
    now = observe(ctx)
    return {
        "hand": now.hand,
        "gained": gained(before.inventory, now.inventory),
        "changed": before.inventory != now.inventory,
    }


def eat(ctx: Context) -> Run:
    start, began = observe(ctx), ctx.step
    food = next((item for item in MEALS if item in start.inventory), "") if _food(start) < MAX_FOOD else ""
    had, slot = start.count(food), start.slot(food)
    if slot is not None and start.hand != food:
        yield move(function="equip", slot=slot)
    while slot is not None and observe(ctx).count(food) == had and not struck(ctx, began):
        if ctx.step - began >= EAT_TICKS + EAT_MORE:
            break
        yield move(function="use")
    now = observe(ctx)
    return {"ate": food if now.count(food) < had else "", "food": _food(now), "hit": struck(ctx, began)}


def _food(obs: ParsedObservation) -> float:
    return round(float(obs.observation["life_stats"]["food"].item()), 1)


def _turns(obs: ParsedObservation, place: Place) -> tuple[int, int]:
    """Return the numbers of camera bins, right and up, that turn the view to the centre of a block."""
    middle = np.array(place) + 0.5 - obs.position - np.array([0.0, EYE_HEIGHT, 0.0])
    return bins(bearing(middle, obs.yaw)), bins(elevation(middle) - obs.look_elevation)


def _centre(ctx: Context) -> Moves:
    """Turn to the centre of the block under the cross-hair. The view turns to the centre, because a near block extends
    far beyond the centre of the screen.
    """
    obs = observe(ctx)
    right, up = _turns(obs, obs.crosshair.place)
    if obs.crosshair.reach and (right or up):
        yield move(right=right, up=up)


def place(ctx: Context, *, item: str) -> Run:
    start = observe(ctx)
    had = start.inventory.get(item, 0)
    turned = 0
    for level, right in ((None, 0), *PLACE_LOOKS):
        obs = observe(ctx)
        slot = obs.slot(item)
        if slot is None:
            break
        if level is not None:
            yield move(right=right - turned, up=bins(level - obs.look_elevation))
            turned = right
            obs = observe(ctx)
        if not obs.crosshair.reach or obs.crosshair.entity or obs.crosshair.distance < 1.0:
            continue
        yield move(function="place", slot=slot)
        if observe(ctx).inventory.get(item, 0) < had:
            yield from _centre(ctx)
            break
    now = observe(ctx)
    tools = now.observation["nearby_tools"]
    return {
        "placed": now.inventory.get(item, 0) < had,
        "left": now.inventory.get(item, 0),
        "table_near": bool(tools["table"]),
        "furnace_near": bool(tools["furnace"]),
    }


_GAINED = {"gained": "item -> how many more there are now"}


def primitives(places: tuple[str, ...]) -> tuple[Primitive, ...]:
    """Return the primitives of the hand.

    :param places: the items that can be placed; empty for tasks that need neither building nor food.
    """
    outcome: dict[str, Plain] = {
        "placed": "the block was placed",
        "left": "how many of the item are left",
        "table_near": "a crafting table can be used",
        "furnace_near": "a furnace can be used",
    }
    placing = Primitive(
        "place",
        "Put a block from the inventory against the block under the cross-hair, if that is in reach and the place is "
        "free; else look for a place on the ground around, looking down. The look stays on it: a table or furnace "
        "that is on the screen, at most 5 m away, can be used. A try takes 3 ticks.",
        place,
        (choice(places, "what to place", "item"),) if places else (),
        {key: str(doc) for key, doc in outcome.items()},
        2 * (len(PLACE_LOOKS) + 1),
    )
    eating = Primitive(
        "eat",
        "Take the most filling harmless food of the inventory into the hand and eat one portion, 33 ticks. Returns at "
        "once if nothing can be eaten or the food is full.",
        eat,
        (),
        {
            "ate": "what was eaten, '' if nothing",
            "food": "food level now",
            "hit": "something struck you, which ended the call",
        },
        EAT_TICKS + EAT_MORE + 1,
    )
    return (
        Primitive(
            "attack",
            "Strike what is under the cross-hair, animals and monsters up to 3 m away: some times, 12 ticks apart so "
            "that each has its full strength. Between strikes the look follows the same animal. To break blocks, mine.",
            attack,
            (integer("times", 1, STRIKES, 1, "", "strikes"),),
            {
                "strikes": "how many met something that moves",
                "target": "what was struck, or ''",
                "in_reach": "something that moves is under the cross-hair, in reach, now",
                **_GAINED,
            },
            STRIKES * (COOLDOWN + 2),
        ),
        Primitive(
            "mine",
            "Hold attack on the block under the cross-hair (up to 4.5 m away) until it breaks or the ticks are over. "
            "A block that takes longer than one call needs another one at once: what was begun then goes on; it is "
            "lost if anything else is done or the look leaves the block. Returns at once where no block is in reach. "
            "What drops lies there: collect it.",
            mine,
            (integer("ticks", 1, MAX_TICKS, MAX_TICKS, "ticks", "at most"),),
            {
                "broken": "the block is gone",
                "block": "its name, '' if none was in reach",
                "ticks": "how long attack was held",
                "hit": "something struck you, which ended the call",
                **_GAINED,
            },
            MAX_TICKS,
        ),
        Primitive(
            "use",
            "Hold use: the item in the hand on what is under the cross-hair (bucket on a cow, shears on a sheep, up "
            "to 3 m away; one tick is enough), or eating (32 ticks).",
            use,
            (integer("ticks", 1, MAX_TICKS, 1, "ticks", "how long"),),
            {"hand": "item in the hand now", **_GAINED, "changed": "the inventory changed"},
            MAX_TICKS,
        ),
        *((placing, eating) if places else ()),
    )
