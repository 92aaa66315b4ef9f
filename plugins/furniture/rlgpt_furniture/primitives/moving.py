"""The hand's own motions: to a pose, straight, about an axis, downwards with force."""

from __future__ import annotations

import math

import numpy as np
from rlgpt.plugin.types import Context

from rlgpt_furniture.arm import Array
from rlgpt_furniture.env import FurnitureTask
from rlgpt_furniture.motion import ANGLE, SLOW, TOLERANCE, Run, about, along, follow, hand, held, hold, steer
from rlgpt_furniture.motion import turn_between as turn_to
from rlgpt_furniture.planner import Planner

UP, DOWN = np.array((0.0, 0.0, 1.0)), np.diag((1.0, -1.0, -1.0))
LIMIT = 150
"""Primitive steps of the longest primitives."""
PIECE = 0.1
"""rad between two poses of a turn in place."""


def planned(ctx: Context, position: Array, rotation: Array, steps: int) -> Run:
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
    return (yield from planned(ctx, np.array((x, y, z)), facing, LIMIT))


def move_by(ctx: Context, *, dx: float, dy: float, dz: float, speed: float) -> Run:
    at, facing = hand(ctx)
    return (yield from steer(ctx, at + np.array((dx, dy, dz)), facing, speed=speed, steps=60))


def rotate_part(ctx: Context, *, axis: str, angle: float) -> Run:
    at, facing = hand(ctx)
    vector = np.eye(3)["xyz".index(axis)]
    number = held(ctx)
    if number >= 0 and ctx.model.assembly.hinged(number):
        return (yield from _twist(ctx, vector, angle))
    goal = about(vector, angle) @ facing
    return (yield from planned(ctx, at, goal, LIMIT))


def _twist(ctx: Context, axis: Array, angle: float) -> Run:
    """Turns the hand where it is, as far as the arm can: a way through free space would pull what is held apart."""
    model: FurnitureTask = ctx.model
    at, facing = model.target.copy(), model.rotation.reshape(3, 3).copy()
    pieces = max(1, math.ceil(abs(angle) / PIECE))
    joints, path = model.joints, []
    for piece in range(1, pieces + 1):
        goal = (about(axis, angle * piece / pieces) @ facing).ravel()
        joints, left, off = model.arm.reach(joints, at, goal)
        if left > TOLERANCE or off > ANGLE:
            break
        path.append(joints)
    taken = yield from along(ctx, path)
    yield from hold(ctx, 2)
    missing = abs(angle) * (1 - len(path) / pieces)
    return {
        "planned": bool(path),
        "reached": len(path) == pieces,
        "blocked": len(path) < pieces,
        "distance": round(math.dist(at, hand(ctx)[0]), 4),
        "angle": round(missing, 3),
        "steps": taken + 2,
    }


def push_down(ctx: Context, *, distance: float, wiggle: float) -> Run:
    at, facing = hand(ctx)
    steps = 0
    while steps < 30:
        lower = at - min(1.0, (steps + 1) / 20) * distance * UP
        tilt = wiggle * math.sin(1.3 * steps)
        yield follow(ctx, lower, about(UP, tilt) @ facing, SLOW * 2)
        steps += 1
    return {"moved": round(float(at[2] - hand(ctx)[0][2]), 4), "steps": steps, "holding": held(ctx) >= 0}
