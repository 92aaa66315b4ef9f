"""Primitives that act without walking. The primitives of this module collect, place, craft, fight, shoot, sleep and
rest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rlgpt.plugin.types import Context, Primitive

from rlgpt_craftax.names import ACTIONS, DIRECTIONS, FLAGS, MONSTERS, OFFSETS
from rlgpt_craftax.primitives.common import (
    WARY,
    Run,
    action,
    choice,
    gained,
    health,
    integer,
    possessions,
    primitive,
    scene,
)

PLACED = {"stone": "stone", "table": "wood", "furnace": "stone", "plant": "sapling", "torch": "torch"}
"""What ``place`` places -> the item that it takes."""
CRAFTED = tuple(name.removeprefix("make_") for name in ACTIONS if name.startswith("make_"))
SHOT = {"arrow": "shoot_arrow", "fireball": "cast_fireball", "iceball": "cast_iceball"}
MOST_SLEEP = 400


def act(ctx: Context, *, name: str, times: int, stop_if_hurt: bool) -> Run:
    before, done = health(ctx), 0
    for _ in range(times):
        yield action(name)
        done += 1
        if stop_if_hurt and health(ctx) < before:
            break
        before = health(ctx)
    return {"done": done}


def collect(ctx: Context, *, times: int, stop_if_hurt: bool) -> Run:
    start, first = possessions(ctx), scene(ctx)
    what, before = first.name(first.ahead), health(ctx)
    for _ in range(times):
        yield action("do")
        now = scene(ctx)
        if now.name(now.ahead) != what or gained(start, possessions(ctx)):
            break
        if stop_if_hurt and health(ctx) < before:
            break
        before = health(ctx)
    now = scene(ctx)
    return {"gained": gained(start, possessions(ctx)), "ahead": now.name(now.ahead)}


def place(ctx: Context, *, what: str) -> Run:
    item = PLACED[what]
    before = possessions(ctx)[item]
    yield action(f"place_{what}")
    now = scene(ctx)
    return {"placed": possessions(ctx)[item] < before, "ahead": now.name(now.ahead)}


def craft(ctx: Context, *, what: str) -> Run:
    before = possessions(ctx)
    yield action(f"make_{what}")
    return {"made": bool(gained(before, possessions(ctx)))}


def fight(ctx: Context, *, blows: int, least_health: int) -> Run:
    struck = 0
    for _ in range(2 * blows):
        now = scene(ctx)
        near = [i for i, at in enumerate(OFFSETS) if now.mob(at) in MONSTERS]
        if not near or struck == blows or health(ctx) < least_health:
            break
        if now.facing in near:
            yield action("do")
            struck += 1
        else:
            yield action(DIRECTIONS[near[0]])
    now = scene(ctx)
    return {"blows": struck, "left": sum(now.mob(at) in MONSTERS for at in OFFSETS)}


def shoot(ctx: Context, *, what: str, times: int) -> Run:
    fired = 0
    for _ in range(times):
        before = _ammunition(ctx, what)
        yield action(SHOT[what])
        if _ammunition(ctx, what) >= before:
            break
        fired += 1
    return {"fired": fired}


def _ammunition(ctx: Context, what: str) -> float:
    """Return how many shots the player has, which is the number of arrows for a bow and the mana for a spell."""
    return float(possessions(ctx)["arrow"] if what == "arrow" else ctx.observation["body"][4])


def _lie(name: str, state: str) -> Callable[..., Run]:
    index = FLAGS.index(state)

    def lie(ctx: Context, *, steps: int) -> Run:
        yield action(name)
        for _ in range(steps - 1):
            if ctx.observation["flags"][index] == 0:
                break
            yield np.int64(0)
        return {"ended": bool(ctx.observation["flags"][index] == 0)}

    return lie


_AHEAD = {"ahead": "name of what is in the cell that the player faces now"}

DOING: tuple[Primitive, ...] = (
    primitive(
        "act",
        "Do one of the game's actions `times` times. `do` uses what is ahead: mines, drinks, eats, strikes, opens.",
        act,
        (choice("name", ACTIONS, "action"), integer("times", 1, 50, 1, "how often"), WARY),
        {"done": "how often it was done"},
        50,
    ),
    primitive(
        "collect",
        "Do the action `do` on what is ahead until it changes, an item is gained or `times` are over: for example mine "
        "a block, drink water, hit an animal, take a sapling from grass (one in ten).",
        collect,
        (integer("times", 1, 40, 10, "at most"), WARY),
        {"gained": "item -> how many more there are now", **_AHEAD},
        40,
    ),
    primitive(
        "place",
        "Place something in the cell ahead.",
        place,
        (choice("what", tuple(PLACED), "plant: a sapling, on grass"),),
        {"placed": "whether it was placed", **_AHEAD},
    ),
    primitive(
        "craft",
        "Make something. A table, and for iron a furnace too, must be among the eight cells around the player.",
        craft,
        (choice("what", CRAFTED, "what to make"),),
        {"made": "whether it was made"},
    ),
    primitive(
        "fight",
        "Turn to a monster in one of the four neighbouring cells and strike it, until none is there, `blows` are done "
        "or health is below `least_health`.",
        fight,
        (
            integer("blows", 1, 30, 10, "at most", "blows"),
            integer("least_health", 0, 9, 3, "end below it", "health"),
        ),
        {"blows": "how often the player struck", "left": "monsters in the four neighbouring cells now"},
        60,
    ),
    primitive(
        "shoot",
        "Shoot straight ahead until `times` are over, nothing is left to shoot, or three shots are still in the air.",
        shoot,
        (choice("what", tuple(SHOT), "a spell takes 2 mana"), integer("times", 1, 10, 1, "at most", "shots")),
        {"fired": "how many were shot"},
        10,
    ),
    primitive(
        "sleep",
        "Sleep until awake or `steps` are over. Energy rises, and the player wakes when it is full or when a monster "
        "strikes. Does nothing if energy is full. While asleep the player can do nothing else.",
        _lie("sleep", "sleeping"),
        (integer("steps", 1, MOST_SLEEP, MOST_SLEEP, "at most"),),
        {"ended": "whether the player is awake now"},
        MOST_SLEEP,
    ),
    primitive(
        "rest",
        "Rest until health is full, food or drink is 0, a monster strikes, or `steps` are over. While resting the "
        "player can do nothing else.",
        _lie("rest", "resting"),
        (integer("steps", 1, MOST_SLEEP, 100, "at most"),),
        {"ended": "whether the player no longer rests"},
        MOST_SLEEP,
    ),
)
