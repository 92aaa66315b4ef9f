"""Taking hold of parts and letting go."""

from __future__ import annotations

import math

import numpy as np
from rlgpt.plugin.types import Context

from rlgpt_furniture.arm import Array
from rlgpt_furniture.env import FurnitureTask
from rlgpt_furniture.motion import Run, about, hand, held, hold, part_number, steer
from rlgpt_furniture.motion import part as _pose
from rlgpt_furniture.motion import turn_between as turn_to
from rlgpt_furniture.panda import OPEN
from rlgpt_furniture.planner import Planner
from rlgpt_furniture.primitives.moving import DOWN, UP, planned

CLOSING = 5
"""Steps for the fingers."""
ABOVE = 0.09
"""m over a part from which the hand comes down on it."""
ASIDE = (0.0, 0.01, -0.01, 0.02, -0.02)
"""m along the fingers' opening by which the hand may be off a part that it grasps."""


def _across(ctx: Context, number: int) -> Array:
    """The hand pointing down, its fingers opening along the most level of the part's x and y, turned as little."""
    rotation = _pose(ctx, number)[1]
    axis = min(rotation[:, 0], rotation[:, 1], key=lambda a: abs(float(a[2])))
    yaw = math.atan2(-float(axis[0]), float(axis[1]))
    # fingers are alike: half a turn is the same grasp
    now = hand(ctx)[1]
    options = [about(UP, yaw + k * math.pi) @ DOWN for k in (0, 1)]
    return min(options, key=lambda facing: float(np.linalg.norm(turn_to(facing, now))))


def _beside(ctx: Context, target: Array, facing: Array) -> Array:
    """Where the open fingers fit around: at ``target``, or off it along their opening where a neighbour is near."""
    model: FurnitureTask = ctx.model
    planner = Planner(model, ctx.rng, -1, fingers=OPEN)
    for way in ASIDE:
        place = target + way * facing[:, 1]
        if planner.reach(place, facing, tries=1) is not None:
            return place
    return target


def grasp(ctx: Context, *, part: str, along_z: float, sink: float) -> Run:
    number = part_number(ctx, part)
    place, rotation = _pose(ctx, number)
    facing = _across(ctx, number)
    target = place + along_z * rotation[:, 2] - sink * UP
    ctx.memory["grip"] = -1.0
    if held(ctx) >= 0:
        # what is let go must not be planned for as if it were carried
        yield from hold(ctx, CLOSING)
    target = _beside(ctx, target, facing)
    first = yield from planned(ctx, target + (ABOVE + sink) * UP, facing, 80)
    if not first["planned"]:
        return {**first, "holding": False, "opening": _opening(ctx)}
    second = yield from steer(ctx, target, facing, speed=0.015, steps=30)
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


def regrasp(ctx: Context, *, part: str, along_z: float, sink: float) -> Run:
    first = yield from release(ctx, back=0.06)
    second = yield from grasp(ctx, part=part, along_z=along_z, sink=sink)
    return {**second, "steps": int(first["steps"]) + int(second["steps"])}  # type: ignore[arg-type]


def _opening(ctx: Context) -> float:
    return round(float(ctx.observation["robot"][13]), 4)
