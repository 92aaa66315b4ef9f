"""Primitives that grasp and release parts."""

from __future__ import annotations

import math

import numpy as np
from rlgpt.plugin.types import Context

from rlgpt_furniture.arm import Array
from rlgpt_furniture.env import FurnitureTask
from rlgpt_furniture.motion import (
    Run,
    axis_rotation,
    hand_pose,
    held_part,
    hold,
    part_number,
    part_pose,
    rotation_vector,
    steer,
)
from rlgpt_furniture.panda import FINGER_TRAVEL
from rlgpt_furniture.planner import Planner
from rlgpt_furniture.primitives.moving import DOWN, UP, planned

CLOSING_STEPS = 5
"""Number of control steps in which the fingers close or open."""
APPROACH_HEIGHT = 0.09
"""Height above a part at which the straight approach begins, m."""
GRASP_OFFSETS = (0.0, 0.01, -0.01, 0.02, -0.02)
"""Offsets of the hand along the opening direction of the fingers, m; they are tried in order."""


def _across(ctx: Context, number: int) -> Array:
    """Return the rotation of the hand for a grasp of a part. Two rotations of the hand are possible; the function
    returns the rotation nearer to the current one.

    In a grasp, the hand points down, and the fingers open along the part's x or y axis, whichever is more level.
    """
    rotation = part_pose(ctx, number)[1]
    axis = min(rotation[:, 0], rotation[:, 1], key=lambda a: abs(float(a[2])))
    yaw = math.atan2(-float(axis[0]), float(axis[1]))
    # The fingers are equal, so a half turn gives the same grasp.
    now = hand_pose(ctx)[1]
    options = [axis_rotation(UP, yaw + k * math.pi) @ DOWN for k in (0, 1)]
    return min(options, key=lambda facing: float(np.linalg.norm(rotation_vector(facing, now))))


def _beside(ctx: Context, target: Array, facing: Array) -> Array:
    """Return the first position near ``target``, in the order of :data:`GRASP_OFFSETS`, at which the open fingers do
    not collide.
    """
    model: FurnitureTask = ctx.model
    planner = Planner(model, ctx.rng, -1, fingers=FINGER_TRAVEL)
    for offset in GRASP_OFFSETS:
        place = target + offset * facing[:, 1]
        if planner.reach(place, facing, tries=1) is not None:
            return place
    return target


def grasp(ctx: Context, *, part: str, along_z: float, sink: float) -> Run:
    number = part_number(ctx, part)
    place, rotation = part_pose(ctx, number)
    facing = _across(ctx, number)
    target = place + along_z * rotation[:, 2] - sink * UP
    ctx.memory["grip"] = -1.0
    if held_part(ctx) >= 0:
        # The fingers open first, because the planner must not count the released part as carried.
        yield from hold(ctx, CLOSING_STEPS)
    target = _beside(ctx, target, facing)
    first = yield from planned(ctx, target + (APPROACH_HEIGHT + sink) * UP, facing, 80)
    if not first["planned"]:
        return {**first, "holding": False, "opening": _opening(ctx)}
    second = yield from steer(ctx, target, facing, speed=0.015, steps=30)
    ctx.memory["grip"] = 1.0
    yield from hold(ctx, CLOSING_STEPS)
    steps = int(first["steps"]) + int(second["steps"]) + CLOSING_STEPS  # type: ignore[arg-type]
    touch = {"holding": held_part(ctx) == number, "opening": _opening(ctx)}
    return {**second, "planned": first["planned"], **touch, "steps": steps}


def release(ctx: Context, *, back: float) -> Run:
    at, facing = hand_pose(ctx)
    ctx.memory["grip"] = -1.0
    yield from hold(ctx, CLOSING_STEPS)
    end = yield from steer(ctx, at - back * facing[:, 2], facing, steps=25)
    return {"opening": _opening(ctx), "reached": end["reached"], "steps": CLOSING_STEPS + int(end["steps"])}  # type: ignore[arg-type]


def regrasp(ctx: Context, *, part: str, along_z: float, sink: float) -> Run:
    first = yield from release(ctx, back=0.06)
    second = yield from grasp(ctx, part=part, along_z=along_z, sink=sink)
    return {**second, "steps": int(first["steps"]) + int(second["steps"])}  # type: ignore[arg-type]


def _opening(ctx: Context) -> float:
    return round(float(ctx.observation["robot"][13]), 4)
