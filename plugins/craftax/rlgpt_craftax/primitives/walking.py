"""Primitives that turn and walk."""

from __future__ import annotations

from collections.abc import Callable, Collection

from rlgpt.domain import Plain
from rlgpt.plugin.types import Context, Primitive

from rlgpt_craftax.names import BLOCKS, DIRECTIONS, ITEMS, MELEE, PASSIVE, PLAIN, RANGED
from rlgpt_craftax.observation import Offset
from rlgpt_craftax.primitives.common import WARY, Moves, Run, action, choice, flag, health, integer, primitive, scene
from rlgpt_craftax.scene import Scene, around, beside, direction_to

MOST = 40
"""Largest number of steps of a walk."""

THINGS = (
    *(name for name in BLOCKS if name not in PLAIN and name != "necromancer_vulnerable"),
    *("grass", "path", "stone", "sand"),
    *(name for name in ITEMS[1:] if name != "ladder_down_blocked"),
    *PASSIVE,
    *MELEE,
    *RANGED,
)
"""Names that ``approach`` accepts."""
_ENTERED = ("ladder_down", "ladder_up", "grass", "path", "sand", "ice_shrub", "torch")
"""Things that one walks onto instead of beside."""


class Walk:
    """Counts the steps of a walk and adds up its movements.

    :ivar moved: the total movement of the walk in cells (right, down), as far as the observations show this movement.
    :ivar certain: whether the observations show the movement of every step of the walk.
    """

    def __init__(self, ctx: Context, *, stop_if_hurt: bool) -> None:
        self._ctx, self._wary, self._health = ctx, stop_if_hurt, health(ctx)
        self.moved, self.certain, self.stopped_by = (0, 0), True, ""

    def go(self, direction: int) -> Moves:
        """Take one step. Set ``stopped_by`` if the walk must end."""
        yield action(DIRECTIONS[direction])
        moved = self._ctx.info["moved"]
        if moved is None:
            self.certain = False
        else:
            self.moved = self.moved[0] + moved[0], self.moved[1] + moved[1]
        if self._wary and health(self._ctx) < self._health:
            self.stopped_by = "hurt"
        self._health = health(self._ctx)

    def outcome(self, **more: Plain) -> dict[str, Plain]:
        ahead = scene(self._ctx)
        return {**more, "moved": list(self.moved), "stopped_by": self.stopped_by, "ahead": ahead.name(ahead.ahead)}


_WALKED = {
    "moved": "[right, down] in cells, without steps that darkness hides",
    "stopped_by": "'' or what ended it early: 'blocked', 'hurt', 'lost' (darkness hides where it is)",
    "ahead": "name of what is in the cell that the player faces now",
}


def face(ctx: Context, *, direction: str) -> Run:
    walk = Walk(ctx, stop_if_hurt=False)
    if scene(ctx).facing != DIRECTIONS.index(direction):
        yield from walk.go(DIRECTIONS.index(direction))
    return walk.outcome()


def move(ctx: Context, *, direction: str, steps: int, stop_if_hurt: bool) -> Run:
    walk, way = Walk(ctx, stop_if_hurt=stop_if_hurt), DIRECTIONS.index(direction)
    for _ in range(steps):
        before = walk.moved
        yield from walk.go(way)
        if walk.certain and walk.moved == before:
            walk.stopped_by = walk.stopped_by or "blocked"
        if walk.stopped_by:
            break
    return walk.outcome()


def _follow(ctx: Context, walk: Walk, steps: int, goals: Callable[[Scene], Collection[Offset]]) -> Moves:
    """Walk to the nearest goal. The path to the nearest goal is computed again before each step, because mobs move."""
    for _ in range(steps):
        now = scene(ctx)
        way = now.way(goals(now))
        if way is None:
            walk.stopped_by = "blocked"
        elif way:
            yield from walk.go(way[0])
            if not walk.certain:
                walk.stopped_by = walk.stopped_by or "lost"
        if not way or walk.stopped_by:
            return


def _turn_to(ctx: Context, walk: Walk, at: Offset) -> Moves:
    """Turn the player to a neighbouring cell. In the game, a turn to a free cell is also a step into this cell."""
    if scene(ctx).ahead != at:
        yield from walk.go(direction_to(at))


def go_to(ctx: Context, *, right: int, down: int, next_to: bool, steps: int, stop_if_hurt: bool) -> Run:
    walk = Walk(ctx, stop_if_hurt=stop_if_hurt)

    def target() -> Offset:
        return right - walk.moved[0], down - walk.moved[1]

    def goals(now: Scene) -> Collection[Offset]:
        return around([target()]) if next_to else [target()]

    yield from _follow(ctx, walk, steps, goals)
    if next_to and not walk.stopped_by and beside((0, 0), target()) and not scene(ctx).free(target()):
        yield from _turn_to(ctx, walk, target())
    reached = beside((0, 0), target()) if next_to else target() == (0, 0)
    return walk.outcome(reached=reached and walk.certain)


def approach(ctx: Context, *, thing: str, steps: int, stop_if_hurt: bool) -> Run:
    walk, enter = Walk(ctx, stop_if_hurt=stop_if_hurt), thing in _ENTERED

    def here(now: Scene) -> set[Offset]:
        return {(0, 0)} if thing in (now.item((0, 0)), now.block((0, 0))) else set()

    def goals(now: Scene) -> Collection[Offset]:
        places = now.places(thing)
        return {*places, *here(now)} if enter else around(places)

    yield from _follow(ctx, walk, steps, goals)
    now = scene(ctx)
    if enter:
        return walk.outcome(reached=bool(here(now)))
    near = [at for at in now.places(thing) if beside((0, 0), at)]
    if near and not walk.stopped_by and now.ahead not in near:
        yield from _turn_to(ctx, walk, near[0])
        now = scene(ctx)
    return walk.outcome(reached=thing in (now.mob(now.ahead), now.item(now.ahead), now.block(now.ahead)))


_STEPS = integer("steps", 1, MOST, 20, "at most")

WALKING: tuple[Primitive, ...] = (
    primitive(
        "face",
        "Turn to a direction. If nothing blocks the cell there, the player also walks into it: that is how the game "
        "turns. No step if the player faces there already.",
        face,
        (choice("direction", DIRECTIONS, "where to turn"),),
        _WALKED,
    ),
    primitive(
        "move",
        "Walk straight on until the way is blocked or `steps` are over.",
        move,
        (
            choice("direction", DIRECTIONS, "where to go"),
            integer("steps", 1, MOST, 1, "at most; one step for each cell"),
            WARY,
        ),
        _WALKED,
        MOST,
    ),
    primitive(
        "go_to",
        "Walk a shortest way over free cells that are in view to a cell in view, around blocks and mobs. With "
        "`next_to`, end beside the cell and turn to it.",
        go_to,
        (
            integer("right", -5, 5, 0, "of the player now; negative: left", "cells"),
            integer("down", -4, 4, 0, "of the player now; negative: up", "cells"),
            flag("next_to", False, "end in one of its four neighbours, facing it if it is not free"),
            _STEPS,
            WARY,
        ),
        {"reached": "whether the player is there", **_WALKED},
        MOST + 1,
    ),
    primitive(
        "approach",
        "Walk to the nearest thing of a kind that is in view and end beside it, facing it; end on it if it is "
        f"{', '.join(_ENTERED[:-1])} or {_ENTERED[-1]}. Follows a mob that moves. Ends if none is in view or no way "
        "is free.",
        approach,
        (choice("thing", THINGS, "block, item or mob", "tree"), _STEPS, WARY),
        {"reached": "whether the player faces it, or is on it", **_WALKED},
        MOST + 1,
    ),
)
