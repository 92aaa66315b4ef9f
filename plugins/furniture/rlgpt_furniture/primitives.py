"""Skills for coded actions: general, with units. None knows a task."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np
from rlgpt.domain import Parameter, Plain, Task
from rlgpt.plugin.base import Context, Primitive

from rlgpt_furniture.arm import Array
from rlgpt_furniture.env import FurnitureTask
from rlgpt_furniture.furniture import FURNITURE
from rlgpt_furniture.motion import (
    FAST,
    SLOW,
    Action,
    Run,
    about,
    along,
    follow,
    hand,
    held,
    hold,
    shorten,
    spin,
    steer,
)
from rlgpt_furniture.motion import part as _pose
from rlgpt_furniture.motion import turn_between as turn_to
from rlgpt_furniture.planner import Planner

UP, DOWN = np.array((0.0, 0.0, 1.0)), np.diag((1.0, -1.0, -1.0))
CLOSING = 5
"""Steps for the fingers."""
ABOVE = 0.09
"""m over a part from which the hand comes down on it."""
LIMIT = 150
"""Primitive steps of the longest primitives."""


def _number(ctx: Context, name: str) -> int:
    model: FurnitureTask = ctx.model
    return [p.name for p in model.furniture.parts].index(name)


def _planned(ctx: Context, position: Array, rotation: Array, steps: int) -> Run:
    """Plans to a pose of the hand, goes along the path, then straight for what is left."""
    model: FurnitureTask = ctx.model
    planner = Planner(model, ctx.rng, held(ctx))
    goal = planner.reach(position, rotation)
    path = None if goal is None else planner.path(goal)
    if path is None:
        at, now = hand(ctx)
        yield from hold(ctx, 1)
        return {
            "planned": False,
            "reached": False,
            "blocked": False,
            "distance": round(math.dist(at, position), 4),
            "angle": round(float(np.linalg.norm(turn_to(rotation, now))), 3),
            "steps": 1,
        }
    taken = yield from along(ctx, path)
    end = yield from steer(ctx, position, rotation, steps=max(1, min(20, steps - taken)))
    return {"planned": True, **end, "steps": taken + int(end["steps"])}  # type: ignore[arg-type]


def plan_to(ctx: Context, *, x: float, y: float, z: float, roll: float, pitch: float, yaw: float) -> Run:
    facing = about(UP, yaw) @ about(np.array((0.0, 1.0, 0.0)), pitch) @ about(np.array((1.0, 0.0, 0.0)), roll) @ DOWN
    return (yield from _planned(ctx, np.array((x, y, z)), facing, LIMIT))


def move_by(ctx: Context, *, dx: float, dy: float, dz: float, speed: float) -> Run:
    at, facing = hand(ctx)
    return (yield from steer(ctx, at + np.array((dx, dy, dz)), facing, speed=speed, steps=60))


def _across(ctx: Context, number: int) -> Array:
    """The hand pointing down, its fingers opening along the most level of the part's x and y, turned as little."""
    rotation = _pose(ctx, number)[1]
    axis = min(rotation[:, 0], rotation[:, 1], key=lambda a: abs(float(a[2])))
    yaw = math.atan2(-float(axis[0]), float(axis[1]))
    # fingers are alike: half a turn is the same grasp
    now = hand(ctx)[1]
    options = [about(UP, yaw + k * math.pi) @ DOWN for k in (0, 1)]
    return min(options, key=lambda facing: float(np.linalg.norm(turn_to(facing, now))))


def grasp(ctx: Context, *, part: str, along_z: float, sink: float) -> Run:
    number = _number(ctx, part)
    place, rotation = _pose(ctx, number)
    facing = _across(ctx, number)
    target = place + along_z * rotation[:, 2]
    ctx.memory["grip"] = -1.0
    first = yield from _planned(ctx, target + ABOVE * UP, facing, 80)
    second = yield from steer(ctx, target - sink * UP, facing, speed=0.015, steps=30)
    ctx.memory["grip"] = 1.0
    yield from hold(ctx, CLOSING)
    steps = int(first["steps"]) + int(second["steps"]) + CLOSING  # type: ignore[arg-type]
    felt = {"holding": held(ctx) == number, "opening": _opening(ctx)}
    return {**second, "planned": first["planned"], **felt, "steps": steps}


def release(ctx: Context, *, back: float) -> Run:
    at, facing = hand(ctx)
    ctx.memory["grip"] = -1.0
    yield from hold(ctx, CLOSING)
    end = yield from steer(ctx, at - back * facing[:, 2], facing, steps=25)
    return {"opening": _opening(ctx), "reached": end["reached"], "steps": CLOSING + int(end["steps"])}  # type: ignore[arg-type]


def servo(
    ctx: Context, *, part: str, onto: str, x: float, y: float, z: float, turn: str, speed: float, tolerance: float
) -> Run:
    number, base, where = _number(ctx, part), _number(ctx, onto), np.array((x, y, z))
    found = yield from _approach(ctx, number, base, where, turn)
    if found is None:
        none = {"planned": False, "reached": False, "blocked": False, "holding": held(ctx) == number, "steps": 1}
        return {**_left(ctx, number, base, where, np.eye(3)), **none}
    goal, taken = found
    history: list[float] = []
    while True:
        distance, angle = _errors(ctx, number, base, where, goal)
        left, off = math.sqrt(float(distance @ distance)), math.sqrt(float(angle @ angle))
        history.append(left + 0.05 * off)
        reached = left <= tolerance and off <= 0.05
        blocked = len(history) > 15 and history[-16] - min(history[-15:]) < 0.0006
        holding = held(ctx) == number
        if reached or blocked or taken >= LIMIT or (not holding and len(history) > 3):
            break
        at = hand(ctx)[0]
        place = _pose(ctx, number)[0]
        twist = spin(shorten(angle, 0.12))
        shift = shorten(distance, speed) + (twist - np.eye(3)) @ (at - place)
        # the target goes on from where it is, by a share of what the part lacks: an integral against what gives way
        model: FurnitureTask = ctx.model
        aim = model.target + 0.6 * shift
        ahead = shorten(aim - at, 0.03)
        yield follow(ctx, at + ahead, spin(0.6 * shorten(angle, 0.12)) @ model.rotation.reshape(3, 3), 0.05)
        taken += 1
    return {
        **_left(ctx, number, base, where, goal),
        "planned": True,
        "reached": reached,
        "blocked": blocked and not reached,
        "holding": holding,
        "steps": taken,
    }


def _approach(
    ctx: Context, number: int, base: int, where: Array, turn: str
) -> Generator[Action, None, tuple[Array, int] | None]:
    """Chooses the part's rotation in the frame of its base and goes near by a planned path where it is far.

    :returns: that rotation (3, 3) and the steps taken; None: no way was found.
    """
    model: FurnitureTask = ctx.model
    planner = Planner(model, ctx.rng, held(ctx))
    quarters = range(4) if turn == "any" else (("0", "90", "180", "270").index(turn),)
    root, frame = _pose(ctx, base)
    place, now = _pose(ctx, number)
    at, facing = hand(ctx)
    options = []
    for quarter in quarters:
        goal = about(UP, quarter * math.pi / 2)
        change = frame @ goal @ now.T
        options.append((float(np.linalg.norm(turn_to(change @ facing, facing))), quarter, goal, change))
    options.sort(key=lambda o: (o[0], o[1]))
    target = root + frame @ where
    if options[0][0] < 0.4 and math.dist(target, place) < 0.06:
        return options[0][2], 0
    best: tuple[float, Array, Array] | None = None
    for _, _, goal, change in options:
        joints = planner.reach(target + change @ (at - place), change @ facing)
        if joints is not None:
            far = float(np.abs(joints - model.joints).max())
            if best is None or far < best[0]:
                best = far, goal, joints
    path = None if best is None else planner.path(best[2])
    if best is None or path is None:
        yield from hold(ctx, 1)
        return None
    taken = yield from along(ctx, path)
    return best[1], taken


def _errors(ctx: Context, number: int, base: int, where: Array, goal: Array) -> tuple[Array, Array]:
    root, frame = _pose(ctx, base)
    place, now = _pose(ctx, number)
    return root + frame @ where - place, turn_to(frame @ goal, now)


def _left(ctx: Context, number: int, base: int, where: Array, goal: Array) -> dict[str, Plain]:
    distance, angle = _errors(ctx, number, base, where, goal)
    frame = _pose(ctx, base)[1]
    return {
        "error": [round(float(v), 4) for v in frame.T @ distance],
        "angle": round(float(np.linalg.norm(angle)), 3),
    }


def rotate_part(ctx: Context, *, axis: str, angle: float) -> Run:
    at, facing = hand(ctx)
    goal = about(np.eye(3)["xyz".index(axis)], angle) @ facing
    return (yield from _planned(ctx, at, goal, LIMIT))


def push_down(ctx: Context, *, distance: float, wiggle: float) -> Run:
    at, facing = hand(ctx)
    steps = 0
    while steps < 30:
        lower = at - min(1.0, (steps + 1) / 20) * distance * UP
        tilt = wiggle * math.sin(1.3 * steps)
        yield follow(ctx, lower, about(UP, tilt) @ facing, SLOW * 2)
        steps += 1
    return {"moved": round(float(at[2] - hand(ctx)[0][2]), 4), "steps": steps, "holding": held(ctx) >= 0}


def regrasp(ctx: Context, *, part: str, along_z: float, sink: float) -> Run:
    first = yield from release(ctx, back=0.06)
    second = yield from grasp(ctx, part=part, along_z=along_z, sink=sink)
    return {**second, "steps": int(first["steps"]) + int(second["steps"])}  # type: ignore[arg-type]


def _opening(ctx: Context) -> float:
    return round(float(ctx.observation["robot"][13]), 4)


def _metres(name: str, low: float, high: float, default: float, doc: str) -> Parameter:
    return Parameter(name=name, low=low, high=high, default=default, unit="m", doc=doc)


def _radians(name: str, doc: str) -> Parameter:
    return Parameter(name=name, low=-math.pi, high=math.pi, default=0.0, unit="rad", doc=doc)


_END = {
    "reached": "the target was reached (within 0.002 m and 0.02 rad)",
    "blocked": "ended early: something is in the way, or the arm cannot go on",
    "distance": "m left to the target",
    "angle": "rad left to the wanted rotation",
    "steps": "primitive steps used, 0.1 s each",
}
_PLANNED = {"planned": "a way without collisions was found; where not, the hand has not moved", **_END}
_HELD = {"holding": "both fingers touch the part", "opening": "m between the fingers"}
_SPEED = _metres("speed", SLOW, FAST, FAST, "longest displacement in one step; slow is gentle")


def primitives(task: Task) -> tuple[Primitive, ...]:
    """The skills, with the names of the task's parts."""
    names = tuple(p.name for p in FURNITURE[str(task.settings["furniture"])].parts)
    loose = Parameter(name="part", kind="choice", choices=names, default=names[1], doc="which part")
    grip = (
        loose,
        _metres("along_z", -0.06, 0.06, 0.0, "where on the part: this far from its origin along its z"),
        _metres("sink", -0.06, 0.06, 0.0, "this much lower than that point"),
    )
    return (
        Primitive(
            "plan_to",
            "Move the hand to a pose of the world by a planned way: neither arm nor what is held touches anything on "
            "it. Angles all zero: the hand points down, fingers opening along y; yaw turns it about the vertical "
            "(positive to the left), pitch then about y (-1.57 points it forwards), roll about x.",
            plan_to,
            (
                _metres("x", 0.25, 0.8, 0.5, "forwards"),
                _metres("y", -0.55, 0.55, 0.0, "to the left"),
                _metres("z", 0.004, 0.5, 0.2, "up; the table is 0"),
                *(_radians(n, "see above") for n in ("roll", "pitch", "yaw")),
            ),
            _PLANNED,
            LIMIT + 1,
        ),
        Primitive(
            "move_by",
            "Move the hand straight by a displacement in the world's axes, its rotation kept; no planning.",
            move_by,
            (
                _metres("dx", -0.3, 0.3, 0.0, "forwards"),
                _metres("dy", -0.3, 0.3, 0.0, "to the left"),
                _metres("dz", -0.3, 0.3, 0.0, "up"),
                _SPEED,
            ),
            _END,
            60,
        ),
        Primitive(
            "grasp",
            "Open the fingers, go above a part by a planned way, straight down with the fingers across it (along its x "
            "or y, whichever is more level), and close them until release.",
            grasp,
            grip,
            {**_PLANNED, **_HELD},
            LIMIT,
        ),
        Primitive(
            "release",
            "Open the fingers and draw the hand back against the direction it points to.",
            release,
            (_metres("back", 0.0, 0.1, 0.05, "how far to draw back"),),
            {"opening": _HELD["opening"], "reached": "the hand was drawn back all the way", "steps": _END["steps"]},
            40,
        ),
        Primitive(
            "servo",
            "Bring a held part's origin to a point in the frame of another part, its z along that part's z, by looking "
            "at the two parts all the while. From afar it goes by a planned way; from within 0.06 m straight.",
            servo,
            (
                loose,
                Parameter(name="onto", kind="choice", choices=names, default=names[0], doc="in whose frame"),
                _metres("x", -0.15, 0.15, 0.0, "in that frame"),
                _metres("y", -0.15, 0.15, 0.0, "in that frame"),
                _metres("z", 0.0, 0.3, 0.15, "in that frame"),
                Parameter(
                    name="turn",
                    kind="choice",
                    choices=("any", "0", "90", "180", "270"),
                    default="any",
                    doc="degrees about z against that frame; any: the quarter that is reached best",
                ),
                _metres("speed", SLOW, FAST, 0.01, "longest displacement in one step"),
                _metres("tolerance", 0.0005, 0.01, 0.0015, "how near is reached"),
            ),
            {
                "planned": "a way was found; where not, the hand has not moved",
                "reached": "the part is there (within the tolerance and 0.05 rad)",
                "blocked": _END["blocked"],
                "holding": "both fingers still touch the part",
                "error": "[x, y, z] m left, in the frame of the other part",
                "angle": "rad left",
                "steps": _END["steps"],
            },
            LIMIT * 2,
        ),
        Primitive(
            "rotate_part",
            "Turn the hand, and what it holds, about an axis of the world through the point between the finger tips, "
            "by a planned way.",
            rotate_part,
            (
                Parameter(name="axis", kind="choice", choices=("x", "y", "z"), default="z", doc="of the world"),
                _radians("angle", "right-hand rule: about z, positive is anticlockwise seen from above"),
            ),
            _PLANNED,
            LIMIT + 1,
        ),
        Primitive(
            "push_down",
            "Push what is held, or the closed fingers, straight down with growing force, turning to and fro.",
            push_down,
            (
                _metres("distance", 0.0, 0.04, 0.015, "how far below the hand its target goes at last"),
                Parameter(name="wiggle", low=0.0, high=0.3, default=0.03, unit="rad", doc="largest turn, either way"),
            ),
            {"moved": "m that the hand came down", "holding": "both fingers touch a part", "steps": _END["steps"]},
            30,
        ),
        Primitive(
            "regrasp",
            "Release, draw back 0.06 m, and grasp a part again.",
            regrasp,
            grip,
            {**_PLANNED, **_HELD},
            LIMIT,
        ),
    )
