"""Moving the hand, one control step at a time: what every primitive is made of. Goes by what is observed."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rlgpt.domain import Plain
from rlgpt.plugin.types import Context

from rlgpt_furniture.arm import Array, matrix, quaternion
from rlgpt_furniture.env import PERIOD, RATE, FurnitureTask

FAST, SLOW = 0.02, 0.003
"""m, longest displacement of the hand in one control step."""
SPIN = 0.2
"""rad, largest turn in one control step."""
STRIDE = 0.12
"""rad, largest step of a joint along a path."""
TOLERANCE, ANGLE = 0.002, 0.02
"""m and rad, by which a target is reached."""
PATIENCE, STUCK = 12, 0.001
"""Blocked: within so many steps the hand came no nearer than this (m, plus 0.1 m per rad)."""

Pose = tuple[Array, Array]
"""Position (3) and rotation (3, 3) in the world."""


def once(ctx: Context, name: Hashable, find: Callable[[], Any]) -> Any:
    """What ``find`` tells of the newest observation: found once for each, views and rewards ask for it many times."""
    kept = ctx.memory.get("seen")
    if kept is None or kept[0] is not ctx.observation:
        kept = ctx.memory["seen"] = (ctx.observation, {})
    found: dict[Hashable, Any] = kept[1]
    if name not in found:
        found[name] = find()
    return found[name]


def hand(ctx: Context) -> Pose:
    """The point between the finger tips; not to be written to."""
    pose: Pose = once(ctx, "hand", lambda: _pose(ctx.observation["robot"][:7]))
    return pose


def part(ctx: Context, number: int) -> Pose:
    """A part, by its place among the parts; not to be written to."""
    pose: Pose = once(ctx, number, lambda: _pose(ctx.observation["parts"][7 * number : 7 * number + 7]))
    return pose


def _pose(seen: NDArray[np.float32]) -> Pose:
    place, turn = seen[:3].astype(float), rotation(seen[3:])
    place.flags.writeable = turn.flags.writeable = False
    return place, turn


def part_number(ctx: Context, name: str) -> int:
    """The place of a part among the parts."""
    model: FurnitureTask = ctx.model
    return [p.name for p in model.furniture.parts].index(name)


def rotation(observed: Any) -> Array:
    """(w, x, y, z) as (3, 3)."""
    found: Array = matrix(np.asarray(observed, float)).reshape(3, 3)
    return found


def turn_between(target: Array, current: Array) -> Array:
    """The rotation vector (3, rad, world) that turns ``current`` into ``target``."""
    w, *rest = quaternion((target @ current.T).ravel())
    axis = np.array(rest) if w >= 0 else -np.array(rest)
    size = float(np.linalg.norm(axis))
    return axis if size < 1e-9 else axis * (2 * math.atan2(size, abs(w)) / size)


def about(axis: Array, angle: float) -> Array:
    """Rotation (3, 3) about a unit vector, rad."""
    w, s = math.cos(angle / 2), math.sin(angle / 2)
    return rotation((w, *(s * axis)))


def shorten(vector: Array, longest: float) -> Array:
    """The vector, at most so long."""
    size = math.sqrt(float(vector @ vector))
    return vector if size <= longest else vector * (longest / size)


def grip_of(ctx: Context) -> float:
    """What the fingers were last told: 1 closes, -1 opens."""
    return float(ctx.memory.get("grip", -1.0))


Action = tuple[np.int64, NDArray[np.float32]]
"""One low-level action: joint velocities and grip."""


def command(ctx: Context, joints: Array) -> Action:
    """The action that brings the joints' targets to ``joints`` (7, rad), as far as one control step can."""
    model: FurnitureTask = ctx.model
    action = np.empty(8, np.float32)
    action[:7] = np.clip((joints - model.joints) / (RATE * PERIOD), -1.0, 1.0)
    action[7] = grip_of(ctx)
    return np.int64(1), action


Run = Generator[Action, None, dict[str, Plain]]


def steer(
    ctx: Context, target: Array, facing: Array, *, speed: float = FAST, tolerance: float = TOLERANCE, steps: int = 80
) -> Run:
    """Moves the hand in a straight line to ``target`` (m) and turns it to ``facing`` (3, 3).

    The hand's target runs ahead of the hand by no more than a step or two, so that what is in the way is met gently.

    :returns: ``reached``, ``blocked``, ``distance`` (m), ``angle`` (rad), ``steps``.
    """
    history: list[float] = []
    taken = 0
    while True:
        at, now = hand(ctx)
        away, turn = target - at, turn_between(facing, now)
        distance, angle = math.sqrt(float(away @ away)), math.sqrt(float(turn @ turn))
        reached = distance <= tolerance and angle <= ANGLE
        history.append(distance + 0.1 * angle)
        blocked = len(history) > PATIENCE and history[-1 - PATIENCE] - min(history[-PATIENCE:]) < STUCK
        if reached or blocked or taken >= steps:
            return {
                "reached": reached,
                "blocked": blocked and not reached,
                "distance": round(distance, 4),
                "angle": round(angle, 3),
                "steps": taken,
            }
        yield follow(ctx, target, facing, speed)
        taken += 1


def follow(ctx: Context, target: Array, facing: Array, speed: float) -> Action:
    """One action that brings the hand's target nearer to a pose, from where that target is now."""
    model: FurnitureTask = ctx.model
    at, now = model.target, model.rotation.reshape(3, 3)
    place = at + shorten(target - at, speed)
    turn = shorten(turn_between(facing, now), SPIN)
    facing = spin(turn) @ now
    return command(ctx, model.arm.towards(model.joints, place, facing.ravel()))


def spin(turn: Array) -> Array:
    """A rotation vector (rad) as (3, 3)."""
    angle = math.sqrt(float(turn @ turn))
    return about(turn / angle, angle) if angle > 1e-9 else np.eye(3)


def along(ctx: Context, path: list[Array]) -> Generator[Action, None, int]:
    """Takes the joints' targets along a path (each 7, rad), at most :data:`STRIDE` a step; the steps it took."""
    model: FurnitureTask = ctx.model
    taken = 0
    for goal in path:
        while True:
            away = goal - model.joints
            longest = float(np.abs(away).max())
            if longest < 1e-6:
                break
            yield command(ctx, model.joints + away * min(1.0, STRIDE / longest))
            taken += 1
            if longest <= STRIDE:
                break
    return taken


def hold(ctx: Context, steps: int) -> Generator[Action, None, None]:
    """Leaves the joints' targets where they are."""
    model: FurnitureTask = ctx.model
    for _ in range(steps):
        yield command(ctx, model.joints)


def held(ctx: Context) -> int:
    """The number of the part that both finger pads touch, or -1: what tactile sensors would tell."""
    number: int = once(ctx, "held", lambda: _held(ctx.model))
    return number


def _held(model: FurnitureTask) -> int:
    left, right = model.pads
    touched: tuple[set[int], set[int]] = set(), set()
    for a, b in model.data.contact.geom[: model.data.ncon].tolist():
        for one, other in ((a, b), (b, a)):
            if one == left:
                touched[0].add(model.part_of[other])
            elif one == right:
                touched[1].add(model.part_of[other])
    return min((touched[0] & touched[1]) - {-1}, default=-1)
