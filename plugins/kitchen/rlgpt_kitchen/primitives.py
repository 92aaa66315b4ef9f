"""Defines the primitives that coded actions can call. No primitive depends on a task."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import numpy as np
from rlgpt.domain import Parameter, Plain
from rlgpt.plugin.types import Context, Primitive

from rlgpt_kitchen.ik import Array, angles_of, rotation_of
from rlgpt_kitchen.servo import SPEED, along, held_rotation, opening, pose_of, servo, wait

Run = Generator[Any, None, Mapping[str, Plain]]

MAX_SPEED, MIN_SPEED = SPEED, 0.005
TURN_STEPS = 45


def _metres(name: str, low: float, high: float, default: float, doc: str) -> Parameter:
    return Parameter(name=name, low=low, high=high, default=default, unit="m", doc=doc)


def _radians(name: str, doc: str, low: float = -3.1, high: float = 3.1, default: float = 0.0) -> Parameter:
    return Parameter(name=name, low=low, high=high, default=default, unit="rad", doc=doc)


_POSITION = (
    _metres("x", -1.2, 0.6, -0.4, "to the right is positive"),
    _metres("y", -0.4, 0.9, 0.3, "towards the wall is positive"),
    _metres("z", 1.6, 2.9, 2.0, "up is positive"),
)
_SPEED = _metres(
    "speed", MIN_SPEED, MAX_SPEED, MAX_SPEED, "longest displacement in one step; slow is gentle and precise"
)
_KEEP = Parameter(
    name="keep_rotation",
    kind="bool",
    default=True,
    doc="hold the hand's rotation; False lets the wrist turn as it likes, which reaches farther",
)
_OUTCOME = {
    "reached": "the target was reached (within 0.015 m and 0.1 rad)",
    "blocked": "ended early: something is in the way, or the arm cannot reach",
    "distance": "m left to the target",
    "angle": "rad left to the wanted rotation",
    "steps": "primitive steps used",
}


def _rotation(ctx: Context, keep: bool) -> Array | None:
    if keep:
        return held_rotation(ctx)
    ctx.memory.pop("rotation", None)
    return None


def move_to(ctx: Context, *, x: float, y: float, z: float, speed: float, keep_rotation: bool) -> Run:
    target = np.array([x, y, z])
    return (yield from servo(ctx, target, _rotation(ctx, keep_rotation), speed=speed))


def move_by(ctx: Context, *, dx: float, dy: float, dz: float, speed: float, keep_rotation: bool) -> Run:
    target = pose_of(ctx).position + np.array([dx, dy, dz])
    return (yield from servo(ctx, target, _rotation(ctx, keep_rotation), speed=speed, steps=40))


def point(ctx: Context, *, roll: float, pitch: float, yaw: float) -> Run:
    ctx.memory["rotation"] = rotation_of(np.array([roll, pitch, yaw]))
    return (yield from servo(ctx, pose_of(ctx).position, ctx.memory["rotation"], tolerance=0.03, steps=TURN_STEPS))


def rotate(ctx: Context, *, roll: float, pitch: float, yaw: float) -> Run:
    now = angles_of(held_rotation(ctx))
    ctx.memory["rotation"] = rotation_of(now + np.array([roll, pitch, yaw]))
    return (yield from servo(ctx, pose_of(ctx).position, ctx.memory["rotation"], tolerance=0.03, steps=TURN_STEPS))


def _fingers(ctx: Context, command: float, steps: int) -> Run:
    ctx.memory["grip"] = command
    before = opening(ctx)
    yield from wait(ctx, steps)
    after = opening(ctx)
    return {"opening": round(after, 4), "change": round(after - before, 4), "steps": steps}


def grasp(ctx: Context, *, steps: int) -> Run:
    outcome = yield from _fingers(ctx, -1.0, steps)
    return {**outcome, "holding": ctx.model.held()}


def release(ctx: Context, *, steps: int) -> Run:
    return (yield from _fingers(ctx, 1.0, steps))


def hold(ctx: Context, *, steps: int) -> Run:
    yield from wait(ctx, steps)
    return {"opening": round(opening(ctx), 4), "steps": steps}


def follow_arc(ctx: Context, *, x: float, y: float, z: float, axis: str, angle: float, wrist: str, speed: float) -> Run:
    pose = pose_of(ctx)
    centre, unit = np.array([x, y, z]), np.eye(3)["xyz".index(axis)]
    arm = pose.position - centre
    radius = float(np.linalg.norm(np.cross(unit, arm)))
    start = held_rotation(ctx) if wrist != "free" else pose.rotation

    def turned(share: float) -> Array:
        """Return the rotation matrix (3, 3) for a share of the whole angle (Rodrigues' formula)."""
        a, k = angle * share, _cross_matrix(unit)
        return np.eye(3) + np.sin(a) * k + (1.0 - np.cos(a)) * (k @ k)  # type: ignore[no-any-return]

    def waypoint(share: float) -> tuple[Array, Array | None]:
        turn = turned(share)
        rotation = None if wrist == "free" else start if wrist == "hold" else turn @ start
        return centre + turn @ arm, rotation

    length = max(1, int(np.ceil(abs(angle) * max(radius / speed, 8.0 / np.pi))))
    outcome = yield from along(ctx, waypoint, length, tolerance=0.03, steps=60)
    if wrist == "free":
        ctx.memory.pop("rotation", None)
    elif wrist == "follow":
        ctx.memory["rotation"] = turned(1.0) @ start
    return {**outcome, "radius": round(radius, 3)}


def angled_grasp(
    ctx: Context, *, x: float, y: float, z: float, roll: float, pitch: float, yaw: float, standoff: float
) -> Run:
    rotation = rotation_of(np.array([roll, pitch, yaw]))
    ctx.memory["rotation"], ctx.memory["grip"] = rotation, 1.0
    target = np.array([x, y, z])
    first = yield from servo(ctx, target - standoff * rotation[:, 2], rotation, tolerance=0.03, steps=45)
    second = yield from servo(ctx, target, rotation, speed=0.02, steps=25)
    closed = yield from grasp(ctx, steps=5)
    steps = sum(int(part["steps"]) for part in (first, second, closed))  # type: ignore[arg-type, misc]
    return {**second, "holding": closed["holding"], "opening": closed["opening"], "steps": steps}


def _cross_matrix(k: Array) -> Array:
    return np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])


_ANGLES = (
    _radians("roll", "turn about the pointing direction, clockwise as seen along it"),
    _radians("pitch", "point upwards", -1.5, 1.5),
    _radians("yaw", "point to the left", -1.7, 1.7),
)
_RELATIVE_ANGLES = (
    _radians("roll", "turn about the pointing direction"),
    _radians("pitch", "point higher", -1.5, 1.5),
    _radians("yaw", "point farther to the left", -1.7, 1.7),
)
_HAND = {"opening": "m between the fingers", "change": "m the opening changed by", "steps": "primitive steps used"}


def _steps(default: int, high: int) -> Parameter:
    return Parameter(name="steps", kind="int", low=1, high=high, default=default, unit="steps", doc="how long")


PRIMITIVES = (
    Primitive(
        "move_to",
        "Move the hand in a straight line to a point of the world. The point is that of hand_position (between the "
        "fingers; their tips are 0.045 m farther along the pointing direction).",
        move_to,
        (*_POSITION, _SPEED, _KEEP),
        _OUTCOME,
        60,
    ),
    Primitive(
        "move_by",
        "Move the hand in a straight line by a displacement in the world's axes.",
        move_by,
        (
            _metres("dx", -0.4, 0.4, 0.0, "to the right"),
            _metres("dy", -0.4, 0.4, 0.0, "towards the wall"),
            _metres("dz", -0.4, 0.4, 0.0, "up"),
            _SPEED,
            _KEEP,
        ),
        _OUTCOME,
        40,
    ),
    Primitive(
        "point",
        "Turn the hand on the spot to absolute angles, which it then keeps. All zero: it points to the wall (+y), and "
        "the fingers open left and right (along x). roll = 1.57: they open up and down. pitch = -1.5: it points down.",
        point,
        _ANGLES,
        _OUTCOME,
        TURN_STEPS,
    ),
    Primitive(
        "rotate",
        "Turn the hand on the spot by angles, from those it keeps.",
        rotate,
        _RELATIVE_ANGLES,
        _OUTCOME,
        TURN_STEPS,
    ),
    Primitive(
        "grasp",
        "Close the fingers and keep them closed until release.",
        grasp,
        (_steps(5, 15),),
        {**_HAND, "holding": "both fingers touch the same thing"},
        15,
    ),
    Primitive("release", "Open the fingers, and keep them open until grasp.", release, (_steps(4, 15),), _HAND, 15),
    Primitive(
        "hold",
        "Stay where the hand is.",
        hold,
        (_steps(5, 40),),
        {"opening": "m between the fingers", "steps": "primitive steps used"},
        40,
    ),
    Primitive(
        "follow_arc",
        "Move the hand along a circle about an axis through a point, by an angle (right-hand rule: about z, positive "
        "is anticlockwise seen from above). wrist: follow turns the hand with the arc, hold keeps its rotation, free "
        "lets it turn as it likes.",
        follow_arc,
        (
            _metres("x", -1.3, 0.6, -0.4, "of a point on the axis"),
            _metres("y", -0.4, 0.9, 0.5, "of a point on the axis"),
            _metres("z", 1.5, 2.9, 2.0, "of a point on the axis"),
            Parameter(name="axis", kind="choice", choices=("x", "y", "z"), default="z", doc="direction of the axis"),
            _radians("angle", "how far", -1.6, 1.6, 0.3),
            Parameter(
                name="wrist", kind="choice", choices=("follow", "hold", "free"), default="follow", doc="see above"
            ),
            _SPEED,
        ),
        {**_OUTCOME, "radius": "m from the axis"},
        60,
    ),
    Primitive(
        "angled_grasp",
        "Open the fingers, turn the hand to absolute angles (as in point), move to the point from `standoff` metres "
        "before it along the pointing direction, and close the fingers.",
        angled_grasp,
        (*_POSITION, *_ANGLES, _metres("standoff", 0.05, 0.3, 0.15, "where the straight approach begins")),
        {**_OUTCOME, "holding": "both fingers touch the same thing", "opening": "m between the fingers"},
        80,
    ),
)
