"""Primitives that walk. Each call of a walking primitive covers a limited distance (a *leg*)."""

from __future__ import annotations

from rlgpt.plugin.types import Context, Primitive

from rlgpt_minecraft.moves import bins
from rlgpt_minecraft.primitives.camera import aim_at, facing, turn_to
from rlgpt_minecraft.primitives.common import (
    Moves,
    Run,
    choice,
    flag,
    gained,
    integer,
    number,
    observe,
    sight,
    travelled,
)
from rlgpt_minecraft.primitives.locomotion import Stride, Way
from rlgpt_minecraft.rays import Array, bearing

MAX_TICKS = 40
"""Maximal number of ticks of one leg."""
LOST = 25
"""Number of ticks for which a walk continues towards the last known position of its target."""
NEAR = 1.0
"""Horizontal distance from the last known position at which the walk ends without its target, m."""
SEARCH = (-15.0, -30.0, -45.0, -60.0, 0.0)
"""Elevations of the search for a thing on the ground, degrees."""
EXPLORE_TURNS = (0, -45, 45, -90, 90)


def walk(ctx: Context, *, metres: float, direction: Way, sprint: bool) -> Run:
    start = observe(ctx).position
    stride = Stride(ctx, sprint=sprint and direction == "forward")
    for _ in range(MAX_TICKS):
        if travelled(ctx, start) >= metres:
            break
        action = stride.step(direction)
        if action is None:
            break
        yield action
    return {"moved": round(travelled(ctx, start), 2), "stopped_by": stride.stopped}


class Pursuit:
    """Follows a target, or the last known position of the target while the target is not visible.

    :ivar unseen: the number of ticks since the target was last visible.
    """

    def __init__(self, ctx: Context, name: str) -> None:
        self._ctx, self._name = ctx, name
        self._place: Array | None = None
        self.unseen = 0

    def turn(self) -> tuple[int, int] | None:
        """Return the numbers of camera bins, right and up, that turn the view to the target, or None if the target is
        lost.
        """
        obs, found = observe(self._ctx), sight(self._ctx, self._name)
        if found.visible:
            self.unseen, self._place = 0, obs.place(found)
            return turn_to(obs, found)
        self.unseen += 1
        if self._place is None or self.unseen > LOST or travelled(self._ctx, self._place) < NEAR:
            return None
        return bins(bearing(self._place - obs.position, obs.yaw)), 0


def approach(ctx: Context, *, target: str, within: float, steps: int) -> Run:
    start, stride, pursuit = observe(ctx).position, Stride(ctx), Pursuit(ctx, target)
    for _ in range(steps):
        found, turns = sight(ctx, target), pursuit.turn()
        if turns is None or (found.visible and found.distance <= within):
            break
        action = stride.step(right=turns[0], up=turns[1], around=True)
        if action is None:
            break
        yield action
    yield from aim_at(ctx, target)
    found = sight(ctx, target)
    return {
        "reached": found.visible and found.distance <= within,
        "seen": found.visible,
        "aimed": found.aimed,
        "distance": round(found.distance, 2),
        "moved": round(travelled(ctx, start), 2),
        "stopped_by": stride.stopped,
    }


def explore(ctx: Context, *, steps: int) -> Run:
    start, obs = observe(ctx).position, observe(ctx)
    turn = int(ctx.rng.choice(EXPLORE_TURNS)) + 15 * int(ctx.rng.integers(-1, 2))
    stride, level = Stride(ctx), bins(-obs.look_elevation)
    right, up = bins(turn), level
    for _ in range(steps):
        action = stride.step(right=right, up=up, around=True)
        if action is None and stride.stopped != "hit":
            right, up = bins(float(ctx.rng.choice((-90, 90, 135, 180)))), 0
            stride = Stride(ctx)
            action = stride.step(right=right)
        if action is None:
            break
        right = up = 0
        yield action
    now = observe(ctx)
    return {
        "moved": round(travelled(ctx, start), 2),
        "heading": round(now.yaw, 1),
        "seen": [name for name, found in now.sights.items() if found.visible],
        "stopped_by": stride.stopped,
    }


def _search(ctx: Context, name: str, steps: int) -> Moves:
    """Turn the view down and back to level until a thing with the name is visible. The view has to turn, because a
    small thing can be between two rays of the lidar.
    """
    for elevation in SEARCH[:steps]:
        if sight(ctx, name).visible:
            return
        yield from facing(ctx, elevation)


def collect(ctx: Context, *, steps: int) -> Run:
    before, step = observe(ctx).inventory, ctx.step
    yield from _search(ctx, "drop", steps)
    stride, pursuit = Stride(ctx), Pursuit(ctx, "drop")
    while ctx.step - step < steps:
        turns = pursuit.turn()
        action = stride.step(right=turns[0], up=turns[1], around=True) if turns is not None else None
        if action is None:
            break
        yield action
    return {
        "gained": gained(before, observe(ctx).inventory),
        "seen": sight(ctx, "drop").visible,
        "stopped_by": stride.stopped,
    }


_STOPPED = "'' or what ended the leg: 'hit' (something strikes you), 'wall', 'lava', 'fall' (deeper than 3 m)"


def primitives(sights: tuple[str, ...]) -> tuple[Primitive, ...]:
    """Return the primitives that walk.

    :param sights: the names of the things that the primitives can approach.
    """
    return (
        Primitive(
            "walk",
            "Walk straight on: at most 40 ticks, about 0.22 m each (0.28 when sprinting). Jumps onto blocks one high, "
            "swims, stops before walls, lava and deep falls. The look stays as it is.",
            walk,
            (
                number("metres", 0.5, 8.0, 3.0, "m", "how far, along the ground"),
                choice(("forward", "back", "left", "right"), "seen from the heading", "direction"),
                flag("sprint", False, "faster, forward only; costs food"),
            ),
            {"moved": "m along the ground", "stopped_by": _STOPPED},
            MAX_TICKS,
        ),
        Primitive(
            "approach",
            "One leg towards the nearest thing of a kind that is seen now: turns and walks to it, around what is in "
            "the way, follows it when it moves, and ends with the cross-hair on it, if that can be. Ends when it is "
            "near, when it is lost (25 ticks out of sight) or when the ticks are over. Does nothing if none is "
            "seen. Call it again for a longer way.",
            approach,
            (
                choice(sights, "what to go to"),
                number("within", 0.5, 8.0, 2.5, "m", "ends this far from the eyes; reach: blocks 4.5 m, animals 3 m"),
                integer("steps", 1, MAX_TICKS, MAX_TICKS, "ticks", "at most; some 0.22 m each"),
            ),
            {
                "reached": "it is seen and no farther than `within`",
                "seen": "it is seen now",
                "aimed": "it is under the cross-hair and in reach",
                "distance": "m from the eyes to it; 40 if it is not seen",
                "moved": "m along the ground",
                "stopped_by": _STOPPED,
            },
            MAX_TICKS + 3,
        ),
        Primitive(
            "explore",
            "One leg of a random walk: turns by a random angle (up to 105 degrees), levels the look, and walks on for "
            "some ticks, around what is in the way.",
            explore,
            (integer("steps", 5, MAX_TICKS, 30, "ticks", "how long; some 0.22 m each"),),
            {
                "moved": "m from where it began, along the ground",
                "heading": "of the look now, as in the view",
                "seen": "names of what is seen now",
                "stopped_by": _STOPPED,
            },
            MAX_TICKS,
        ),
        Primitive(
            "collect",
            "Look for the nearest item that lies on the ground ahead (up to 5 ticks, looking down) and walk over it; "
            "that picks it up, from about 1 m. Ends when none is seen or it is lost (25 ticks out of sight).",
            collect,
            (integer("steps", 1, MAX_TICKS, 30, "ticks", "at most"),),
            {
                "gained": "item -> how many more there are now",
                "seen": "an item still lies in sight",
                "stopped_by": _STOPPED,
            },
            MAX_TICKS,
        ),
    )
