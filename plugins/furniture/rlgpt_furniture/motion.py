"""Moves the hand, one control step at a time, based on the newest observation. All primitives use this module."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rlgpt.domain import Plain
from rlgpt.plugin.types import Context

from rlgpt_furniture.arm import Array, matrix, quaternion
from rlgpt_furniture.env import JOINT_RATE, PERIOD, FurnitureTask

MAX_SPEED, MIN_SPEED = 0.02, 0.003
"""Largest and smallest displacement of the hand in one control step, m."""
MAX_TURN = 0.2
"""Largest rotation of the hand in one control step, rad."""
MAX_JOINT_STRIDE = 0.12
"""Largest displacement of a joint in one control step along a path, rad."""
POSITION_TOLERANCE, ANGLE_TOLERANCE = 0.002, 0.02
"""Largest distances, in m and rad, at which a target is reached."""
BLOCKED_STEPS, MIN_APPROACH = 12, 0.001
"""The hand counts as blocked if the distance to its target (m, plus 0.1 m per rad) decreases by less than
``MIN_APPROACH`` within ``BLOCKED_STEPS`` steps.
"""

Pose = tuple[Array, Array]
"""Position (3) and rotation (3, 3) in the world."""


def cached(ctx: Context, name: Hashable, compute: Callable[[], Any]) -> Any:
    """Return the result of the function ``compute`` for the newest observation. The result of ``compute`` is cached,
    because views and rewards need it many times.
    """
    entry = ctx.memory.get("_cache")
    if entry is None or entry[0] is not ctx.observation:
        entry = ctx.memory["_cache"] = (ctx.observation, {})
    results: dict[Hashable, Any] = entry[1]
    if name not in results:
        results[name] = compute()
    return results[name]


def hand_pose(ctx: Context) -> Pose:
    """Return the pose of the point between the finger tips, as the observation shows it. The arrays must not be
    changed.
    """
    pose: Pose = cached(ctx, "hand", lambda: _pose(ctx.observation["robot"][:7]))
    return pose


def part_pose(ctx: Context, number: int) -> Pose:
    """Return the pose of the part with an index, as the observation shows it. The arrays must not be changed."""
    pose: Pose = cached(ctx, number, lambda: _pose(ctx.observation["parts"][7 * number : 7 * number + 7]))
    return pose


def _pose(observed: NDArray[np.float32]) -> Pose:
    place, turn = observed[:3].astype(float), rotation(observed[3:])
    place.flags.writeable = turn.flags.writeable = False
    return place, turn


def part_number(ctx: Context, name: str) -> int:
    """The index of a part."""
    model: FurnitureTask = ctx.model
    return [p.name for p in model.furniture.parts].index(name)


def rotation(observed: Any) -> Array:
    """The rotation matrix (3, 3) of a quaternion (w, x, y, z)."""
    square: Array = matrix(np.asarray(observed, float)).reshape(3, 3)
    return square


def rotation_vector(target: Array, current: Array) -> Array:
    """The rotation vector (3, rad, world) that turns ``current`` into ``target``."""
    w, *rest = quaternion((target @ current.T).ravel())
    axis = np.array(rest) if w >= 0 else -np.array(rest)
    size = float(np.linalg.norm(axis))
    return axis if size < 1e-9 else axis * (2 * math.atan2(size, abs(w)) / size)


def axis_rotation(axis: Array, angle: float) -> Array:
    """The rotation matrix (3, 3) for an angle (rad) about a unit vector."""
    w, s = math.cos(angle / 2), math.sin(angle / 2)
    return rotation((w, *(s * axis)))


def clip_norm(vector: Array, bound: float) -> Array:
    """Return a vector, shortened to the norm ``bound`` if it is longer."""
    norm = math.sqrt(float(vector @ vector))
    return vector if norm <= bound else vector * (bound / norm)


def grip_command(ctx: Context) -> float:
    """Return the last command for the fingers, where 1 closes and -1 opens."""
    return float(ctx.memory.get("grip", -1.0))


Action = tuple[np.int64, NDArray[np.float32]]
"""One action of the base environment: joint velocities and grip."""


def command(ctx: Context, joints: Array) -> Action:
    """Return the action that moves the joints' targets towards ``joints`` (7, rad), as far as possible in one control
    step.
    """
    model: FurnitureTask = ctx.model
    action = np.empty(8, np.float32)
    action[:7] = np.clip((joints - model.joints) / (JOINT_RATE * PERIOD), -1.0, 1.0)
    action[7] = grip_command(ctx)
    return np.int64(1), action


Run = Generator[Action, None, dict[str, Plain]]


def steer(
    ctx: Context,
    target: Array,
    facing: Array,
    *,
    speed: float = MAX_SPEED,
    tolerance: float = POSITION_TOLERANCE,
    steps: int = 80,
) -> Run:
    """Move the hand in a straight line to ``target`` (3, m) and turn it to ``facing`` (3, 3).

    The target of the hand's motion is at most two steps ahead of the hand, which limits the force against an obstacle.

    :returns: the outcome, with ``reached``, ``blocked``, ``distance`` (m), ``angle`` (rad) and ``steps``.
    """
    history: list[float] = []
    steps_taken = 0
    while True:
        at, now = hand_pose(ctx)
        away, turn = target - at, rotation_vector(facing, now)
        distance, angle = math.sqrt(float(away @ away)), math.sqrt(float(turn @ turn))
        reached = distance <= tolerance and angle <= ANGLE_TOLERANCE
        history.append(distance + 0.1 * angle)
        blocked = (
            len(history) > BLOCKED_STEPS and history[-1 - BLOCKED_STEPS] - min(history[-BLOCKED_STEPS:]) < MIN_APPROACH
        )
        if reached or blocked or steps_taken >= steps:
            return {
                "reached": reached,
                "blocked": blocked and not reached,
                "distance": round(distance, 4),
                "angle": round(angle, 3),
                "steps": steps_taken,
            }
        yield follow(ctx, target, facing, speed)
        steps_taken += 1


def follow(ctx: Context, target: Array, facing: Array, speed: float) -> Action:
    """Return the action that moves the hand's target from its current place towards a pose."""
    model: FurnitureTask = ctx.model
    at, now = model.target, model.rotation.reshape(3, 3)
    place = at + clip_norm(target - at, speed)
    turn = clip_norm(rotation_vector(facing, now), MAX_TURN)
    facing = rotation_from_vector(turn) @ now
    return command(ctx, model.arm.towards(model.joints, place, facing.ravel()))


def rotation_from_vector(turn: Array) -> Array:
    """The rotation matrix (3, 3) of a rotation vector (3, rad)."""
    angle = math.sqrt(float(turn @ turn))
    return axis_rotation(turn / angle, angle) if angle > 1e-9 else np.eye(3)


def along(ctx: Context, path: list[Array]) -> Generator[Action, None, int]:
    """Move the joints' targets along a path of joint positions (each 7, rad), by at most :data:`MAX_JOINT_STRIDE` in
    each step. The motion ends early at a step that does not bring the targets nearer to the path.

    :returns: the number of steps.
    """
    model: FurnitureTask = ctx.model
    steps_taken = 0
    for goal in path:
        longest = math.inf
        while True:
            away = goal - model.joints
            before, longest = longest, float(np.abs(away).max())
            if longest < 1e-6:
                break
            if longest >= before:
                return steps_taken
            yield command(ctx, model.joints + away * min(1.0, MAX_JOINT_STRIDE / longest))
            steps_taken += 1
            if longest <= MAX_JOINT_STRIDE:
                break
    return steps_taken


def hold(ctx: Context, steps: int) -> Generator[Action, None, None]:
    """Keep the targets of the joints unchanged for ``steps`` control steps."""
    model: FurnitureTask = ctx.model
    for _ in range(steps):
        yield command(ctx, model.joints)


def held_part(ctx: Context) -> int:
    """Return the index of the part that both finger pads touch, as tactile sensors would report, or -1 if both pads
    touch no common part.
    """
    number: int = cached(ctx, "held", lambda: _held(ctx.model))
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
