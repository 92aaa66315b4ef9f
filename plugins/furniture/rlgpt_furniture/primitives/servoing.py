"""Moves a held part to a pose relative to another part, based on the observed poses of the two parts."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np
from rlgpt.domain import Plain
from rlgpt.plugin.types import Context

from rlgpt_furniture.arm import Array
from rlgpt_furniture.env import FurnitureTask
from rlgpt_furniture.motion import (
    Action,
    Run,
    along,
    axis_rotation,
    clip_norm,
    follow,
    hand_pose,
    held_part,
    hold,
    part_number,
    part_pose,
    rotation_from_vector,
    rotation_vector,
)
from rlgpt_furniture.planner import Planner
from rlgpt_furniture.primitives.moving import MAX_STEPS, UP


def servo(
    ctx: Context, *, part: str, onto: str, x: float, y: float, z: float, turn: str, speed: float, tolerance: float
) -> Run:
    number, base, where = part_number(ctx, part), part_number(ctx, onto), np.array((x, y, z))
    approach = yield from _approach(ctx, number, base, where, turn)
    if approach is None:
        none = {"planned": False, "reached": False, "blocked": False, "holding": held_part(ctx) == number, "steps": 1}
        return {**_left(ctx, number, base, where, np.eye(3)), **none}
    goal, taken = approach
    history: list[float] = []
    while True:
        distance, angle = _errors(ctx, number, base, where, goal)
        left, off = math.sqrt(float(distance @ distance)), math.sqrt(float(angle @ angle))
        history.append(left + 0.05 * off)
        reached = left <= tolerance and off <= 0.05
        blocked = len(history) > 15 and history[-16] - min(history[-15:]) < 0.0006
        holding = held_part(ctx) == number
        if reached or blocked or taken >= MAX_STEPS or (not holding and len(history) > 3):
            break
        at = hand_pose(ctx)[0]
        place = part_pose(ctx, number)[0]
        twist = rotation_from_vector(clip_norm(angle, 0.12))
        shift = clip_norm(distance, speed) + (twist - np.eye(3)) @ (at - place)
        # In each step the target moves by a share of the part's error. This is an integral term against elastic
        # contacts.
        model: FurnitureTask = ctx.model
        aim = model.target + 0.6 * shift
        ahead = clip_norm(aim - at, 0.03)
        yield follow(
            ctx, at + ahead, rotation_from_vector(0.6 * clip_norm(angle, 0.12)) @ model.rotation.reshape(3, 3), 0.05
        )
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
    """Choose the rotation of the part ``number`` in the frame of the part ``base``; if the part is far from its goal,
    bring it near the goal along a planned path.

    :returns: the chosen rotation (3, 3) and the number of steps taken, or None if no path was found.
    """
    model: FurnitureTask = ctx.model
    planner = Planner(model, ctx.rng, held_part(ctx))
    quarters = range(4) if turn == "any" else (("0", "90", "180", "270").index(turn),)
    root, frame = part_pose(ctx, base)
    place, now = part_pose(ctx, number)
    at, facing = hand_pose(ctx)
    options = []
    for quarter in quarters:
        goal = axis_rotation(UP, quarter * math.pi / 2)
        change = frame @ goal @ now.T
        options.append((float(np.linalg.norm(rotation_vector(change @ facing, facing))), quarter, goal, change))
    options.sort(key=lambda o: (o[0], o[1]))
    target = root + frame @ where
    if model.assembly.hinged(number) or (options[0][0] < 0.4 and math.dist(target, place) < 0.06):
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
    root, frame = part_pose(ctx, base)
    place, now = part_pose(ctx, number)
    return root + frame @ where - place, rotation_vector(frame @ goal, now)


def _left(ctx: Context, number: int, base: int, where: Array, goal: Array) -> dict[str, Plain]:
    distance, angle = _errors(ctx, number, base, where, goal)
    frame = part_pose(ctx, base)[1]
    return {
        "error": [round(float(v), 4) for v in frame.T @ distance],
        "angle": round(float(np.linalg.norm(angle)), 3),
    }
