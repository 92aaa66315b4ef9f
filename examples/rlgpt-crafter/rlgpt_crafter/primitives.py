"""The primitives that coded actions in Crafter may call. They read only the observation."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
from rlgpt.domain import Parameter
from rlgpt.plugin import Context, LowLevel, Primitive

from rlgpt_crafter.env import ACTIONS, CELLS, DIRECTIONS, HEIGHT, ITEMS, OFFSETS, WIDTH

Offset = tuple[int, int]
WALKABLE = frozenset(("grass", "path", "sand"))
"""Cells that one can walk on without dying. The player can also walk into lava, and dies there."""
PLACED = ("stone", "table", "furnace", "plant")
MADE = tuple(action.removeprefix("make_") for action in ACTIONS if action.startswith("make_"))
THINGS = tuple(name for name in CELLS if name not in ("outside", "player"))


def name_at(ctx: Context, at: Offset) -> str:
    """Return the name of the content of a cell, which is given as an offset from the player (right, down)."""
    return CELLS[ctx.observation["cells"][HEIGHT // 2 + at[1], WIDTH // 2 + at[0]]]


def ahead(ctx: Context) -> str:
    """Return the name of the content of the cell that the player faces."""
    return name_at(ctx, OFFSETS[ctx.observation["facing"]])


def places(ctx: Context, thing: str) -> list[Offset]:
    """Return the visible cells that contain ``thing``, the nearest first."""
    rows, columns = np.nonzero(ctx.observation["cells"] == CELLS.index(thing))
    found = [(int(c) - WIDTH // 2, int(r) - HEIGHT // 2) for r, c in zip(rows, columns, strict=True)]
    return sorted(found, key=lambda at: (abs(at[0]) + abs(at[1]), at))


def first_step(ctx: Context, thing: str) -> int | None:
    """Return the direction of the player's first step on a shortest path to a cell beside the object. If the player is
    already beside the object, return the direction of the object; if no path exists, return None.
    """
    goals = set(places(ctx, thing))
    came: dict[Offset, int] = {(0, 0): -1}
    queue: deque[Offset] = deque([(0, 0)])
    while queue:
        at = queue.popleft()
        for direction, (right, down) in enumerate(OFFSETS):
            to = at[0] + right, at[1] + down
            if to in goals:
                return direction if at == (0, 0) else came[at]
            inside = abs(to[0]) <= WIDTH // 2 and abs(to[1]) <= HEIGHT // 2
            if inside and to not in came and name_at(ctx, to) in WALKABLE:
                came[to] = direction if at == (0, 0) else came[at]
                queue.append(to)
    return None


def _do(name: str) -> np.int64:
    return np.int64(ACTIONS.index(name))


def _items(ctx: Context) -> dict[str, int]:
    return dict(zip(ITEMS, ctx.observation["items"].astype(int).tolist(), strict=True))


def _move(ctx: Context, direction: str, steps: int) -> LowLevel:
    at = OFFSETS[DIRECTIONS.index(direction)]
    moved = 0
    for _ in range(steps):
        there = name_at(ctx, at)
        if there == "lava" or (there not in WALKABLE and ctx.observation["facing"] == DIRECTIONS.index(direction)):
            break
        yield _do(f"move_{direction}")
        moved += there in WALKABLE
    return {"moved": moved, "ahead": ahead(ctx)}


def _approach(ctx: Context, thing: str, steps: int) -> LowLevel:
    for _ in range(steps):
        direction = None if ahead(ctx) == thing else first_step(ctx, thing)
        if direction is None:
            break
        yield _do(f"move_{DIRECTIONS[direction]}")
    return {"reached": ahead(ctx) == thing, "ahead": ahead(ctx)}


def _use(ctx: Context, times: int) -> LowLevel:
    before, thing = _items(ctx), ahead(ctx)
    for _ in range(times):
        yield _do("do")
        if ahead(ctx) != thing:
            break
    now = _items(ctx)
    return {
        "gained": {item: now[item] - before[item] for item in ITEMS if now[item] > before[item]},
        "ahead": ahead(ctx),
    }


def _place(ctx: Context, what: str) -> LowLevel:
    before = ahead(ctx)
    yield _do(f"place_{what}")
    return {"placed": ahead(ctx) == what != before}


def _make(ctx: Context, what: str) -> LowLevel:
    before = _items(ctx)[what]
    yield _do(f"make_{what}")
    return {"made": _items(ctx)[what] > before}


def _sleep(ctx: Context, steps: int) -> LowLevel:
    yield from _asleep(ctx, steps)
    return {"awake": not ctx.observation["sleeping"], "energy": _items(ctx)["energy"]}


def _asleep(ctx: Context, steps: int) -> Iterator[np.int64]:
    for step in range(steps):
        if step and not ctx.observation["sleeping"]:
            return
        yield _do("sleep")


def _choice(name: str, names: tuple[str, ...], doc: str) -> Parameter:
    return Parameter(name=name, kind="choice", choices=names, default=names[0], doc=doc)


def _count(name: str, most: int, default: int, doc: str) -> Parameter:
    return Parameter(name=name, kind="int", low=1, high=most, default=default, doc=doc)


_AHEAD = {"ahead": "name of what the player faces now"}

PRIMITIVES = (
    Primitive(
        "move",
        "Walk in a direction until the way is blocked, lava is ahead or `steps` are over. Also turns the player.",
        _move,
        (_choice("direction", DIRECTIONS, "where to go"), _count("steps", 20, 1, "at most")),
        {"moved": "cells that the way was free for", **_AHEAD},
        20,
    ),
    Primitive(
        "approach",
        "Walk to the nearest thing of a kind that is in view, and face it. Ends if none can be reached.",
        _approach,
        (_choice("thing", THINGS, "material or creature"), _count("steps", 30, 15, "at most")),
        {"reached": "whether the player faces it", **_AHEAD},
        30,
    ),
    Primitive(
        "use",
        "Do the action `do` on what is ahead until that changes or `times` are over: mine, drink, eat, strike.",
        _use,
        (_count("times", 20, 1, "at most"),),
        {"gained": "item -> how many more there are now", **_AHEAD},
        20,
    ),
    Primitive(
        "place",
        "Place something in the cell ahead.",
        _place,
        (_choice("what", PLACED, "plant: a sapling, on grass"),),
        {"placed": "whether it stands there now"},
        1,
    ),
    Primitive(
        "make",
        "Make a tool. A table, and for iron a furnace too, must be next to the player, corners included.",
        _make,
        (_choice("what", MADE, "tool"),),
        {"made": "whether it was made"},
        1,
    ),
    Primitive(
        "sleep",
        "Sleep until awake or `steps` are over. Asleep, the player can do nothing else.",
        _sleep,
        (_count("steps", 400, 400, "at most"),),
        {"awake": "whether the player is awake now", "energy": "0 to 9"},
        400,
    ),
)
