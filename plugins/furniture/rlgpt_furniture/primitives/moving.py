"""Primitives that move the hand to a pose, in a straight line, about an axis, or downwards with force."""

from __future__ import annotations

import math

import numpy as np
from rlgpt.plugin.types import Context

from rlgpt_furniture.arm import Array
from rlgpt_furniture.env import FurnitureTask
from rlgpt_furniture.motion import (
    ANGLE_TOLERANCE,
    MIN_SPEED,
    POSITION_TOLERANCE,
    Run,
    along,
    axis_rotation,
    follow,
    hand_pose,
    held_part,
    hold,
    rotation_vector,
    steer,
)
from rlgpt_furniture.planner import Planner

X_AXIS, Y_AXIS, UP = np.eye(3)
DOWN = np.diag((1.0, -1.0, -1.0))
"""Rotation of the hand that points down."""
MAX_STEPS = 150
"""Maximal number of steps of the longest primitives."""
MAX_POSE_STEP = 0.1
"""Angle between two successive poses of a turn without a displacement, rad."""


def planned(ctx: Context, position: Array, rotation: Array, steps: int) -> Run:
    """Plan a path to a pose of the hand, follow the path, then correct the remaining error in a straight line."""
    model: FurnitureTask = ctx.model
    planner = Planner(model, ctx.rng, held_part(ctx))
    goal = planner.reach(position, rotation)
    path = None if goal is None else planner.path(goal)
    if path is None:
        at, now = hand_pose(ctx)
        yield from hold(ctx, 1)
        return {
            "planned": False,
            "reached": False,
            "blocked": False,
            "distance": round(math.dist(at, position), 4),
            "angle": round(float(np.linalg.norm(rotation_vector(rotation, now))), 3),
            "steps": 1,
        }
    taken = yield from along(ctx, path)
    end = yield from steer(ctx, position, rotation, steps=max(1, min(20, steps - taken)))
    return {"planned": True, **end, "steps": taken + int(end["steps"])}  # type: ignore[arg-type]


def plan_to(ctx: Context, *, x: float, y: float, z: float, roll: float, pitch: float, yaw: float) -> Run:
    facing = axis_rotation(UP, yaw) @ axis_rotation(Y_AXIS, pitch) @ axis_rotation(X_AXIS, roll) @ DOWN
    return (yield from planned(ctx, np.array((x, y, z)), facing, MAX_STEPS))


def move_by(ctx: Context, *, dx: float, dy: float, dz: float, speed: float) -> Run:
    at, facing = hand_pose(ctx)
    return (yield from steer(ctx, at + np.array((dx, dy, dz)), facing, speed=speed, steps=60))


def rotate_part(ctx: Context, *, axis: str, angle: float) -> Run:
    at, facing = hand_pose(ctx)
    vector = (X_AXIS, Y_AXIS, UP)["xyz".index(axis)]
    number = held_part(ctx)
    if number >= 0 and ctx.model.assembly.hinged(number):
        return (yield from _twist(ctx, vector, angle))
    goal = axis_rotation(vector, angle) @ facing
    return (yield from planned(ctx, at, goal, MAX_STEPS))


def _twist(ctx: Context, axis: Array, angle: float) -> Run:
    """Turn the hand on the spot, as far as the arm can. No path is planned, because a planned path would pull the part
    out of its connector.
    """
    model: FurnitureTask = ctx.model
    at, facing = model.target.copy(), model.rotation.reshape(3, 3).copy()
    pieces = max(1, math.ceil(abs(angle) / MAX_POSE_STEP))
    joints, path = model.joints, []
    for piece in range(1, pieces + 1):
        goal = (axis_rotation(axis, angle * piece / pieces) @ facing).ravel()
        joints, left, off = model.arm.reach(joints, at, goal)
        if left > POSITION_TOLERANCE or off > ANGLE_TOLERANCE:
            break
        path.append(joints)
    taken = yield from along(ctx, path)
    yield from hold(ctx, 2)
    missing = abs(angle) * (1 - len(path) / pieces)
    return {
        "planned": bool(path),
        "reached": len(path) == pieces,
        "blocked": len(path) < pieces,
        "distance": round(math.dist(at, hand_pose(ctx)[0]), 4),
        "angle": round(missing, 3),
        "steps": taken + 2,
    }


def push_down(ctx: Context, *, distance: float, wiggle: float) -> Run:
    at, facing = hand_pose(ctx)
    steps = 0
    while steps < 30:
        lower = at - min(1.0, (steps + 1) / 20) * distance * UP
        tilt = wiggle * math.sin(1.3 * steps)
        yield follow(ctx, lower, axis_rotation(UP, tilt) @ facing, MIN_SPEED * 2)
        steps += 1
    return {"moved": round(float(at[2] - hand_pose(ctx)[0][2]), 4), "steps": steps, "holding": held_part(ctx) >= 0}
