"""Moves the hand of the arm, one control step at a time. All primitives use this module."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from rlgpt.domain import Plain
from rlgpt.plugin.types import Context

from rlgpt_kitchen.ik import JOINTS, Array, Pose, rotation_vector
from rlgpt_kitchen.model import KitchenModel

SPEED = 0.04
"""Default displacement of the hand in one control step, m. A larger displacement is hardly possible, because of the
speed limits of the joints.
"""
MAX_TURN = 0.25
"""Largest rotation of the hand in one control step, rad."""
ANGLE_TOLERANCE = 0.1
"""Largest angle to a target that is reached, rad."""
INTEGRAL_GAIN, MAX_INTEGRAL = 0.15, 0.04
"""Integral term of the position error: the share that is added in each step, and the bound of the integral (m)."""
BLOCKED_STEPS, MIN_APPROACH = 8, 0.01
"""The hand counts as blocked if the distance to its target (m, plus 0.3 m per rad) decreases by less than
``MIN_APPROACH`` within ``BLOCKED_STEPS`` steps.
"""
MAX_LAG = 0.05
"""Distance in m. The waypoint of a path advances when the hand is nearer than this distance, and also after every
BLOCKED_STEPS steps.
"""
SETTLE_STEPS = 10
"""Number of steps that are reserved for the end of a path."""

Servo = Generator[Array, None, dict[str, Plain]]


def pose_of(ctx: Context) -> Pose:
    model: KitchenModel = ctx.model
    return model.pose(ctx.observation)


def grip_command(ctx: Context) -> float:
    """Return the last command for the fingers, where 1 opens and -1 closes."""
    return float(ctx.memory.get("grip", 1.0))


def held_rotation(ctx: Context) -> Array:
    """Return the rotation that the hand keeps, which is the rotation that a primitive set last, or the current rotation
    if no primitive has set one.
    """
    if "rotation" not in ctx.memory:
        ctx.memory["rotation"] = pose_of(ctx).rotation
    rotation: Array = ctx.memory["rotation"]
    return rotation


def command(ctx: Context, twist: Array) -> Array:
    """Return the action (9) that displaces the hand by ``twist`` in this control step, as far as the joints allow.

    The motors are position servos, which pull with ``stiffness * (commanded - current)`` against damping, so the joints
    cover the share ``fraction`` of a command in one step. The command includes the torque against gravity, because the
    MuJoCo model does not compensate gravity.
    """
    model: KitchenModel = ctx.model
    pose = pose_of(ctx)
    hold = pose.gravity / model.stiffness
    displacement = model.arm.joint_step(pose, twist) / model.fraction
    limit = np.where(displacement > 0, model.reach - hold, model.reach + hold)
    with np.errstate(divide="ignore"):
        scale = min(1.0, float(np.min(np.where(displacement != 0, limit / np.abs(displacement), 1.0))))
    action = np.empty(JOINTS + 2)
    action[:JOINTS] = (scale * displacement + hold) / model.command
    action[JOINTS:] = grip_command(ctx)
    return np.clip(action, -1.0, 1.0)


def _clip_norm(vector: Array, bound: float) -> Array:
    norm = float(np.sqrt(vector @ vector))
    return vector if norm <= bound else vector * (bound / norm)


def servo(
    ctx: Context,
    target: Array,
    rotation: Array | None,
    *,
    speed: float = SPEED,
    tolerance: float = 0.015,
    steps: int = 60,
) -> Servo:
    """Move the hand to ``target`` (3, m) and turn it to ``rotation`` (3, 3); if ``rotation`` is None, the hand's
    rotation is free.

    :returns: the outcome, with ``reached``, ``blocked``, ``distance`` (m), ``angle`` (rad) and ``steps``.
    """
    integral = np.zeros(3)
    history: list[float] = []
    steps_taken = 0
    while True:
        pose = pose_of(ctx)
        error = target - pose.position
        distance = float(np.sqrt(error @ error))
        turn = np.zeros(3) if rotation is None else rotation_vector(rotation, pose.rotation)
        angle = float(np.sqrt(turn @ turn))
        reached = distance <= tolerance and angle <= ANGLE_TOLERANCE
        history.append(distance + 0.3 * angle)
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
        integral = _clip_norm(integral + INTEGRAL_GAIN * _clip_norm(error, speed), MAX_INTEGRAL)
        shift = _clip_norm(error, speed) + integral
        yield command(ctx, shift if rotation is None else np.concatenate((shift, _clip_norm(turn, MAX_TURN))))
        steps_taken += 1


def along(
    ctx: Context, waypoint: Callable[[float], tuple[Array, Array | None]], length: int, *, tolerance: float, steps: int
) -> Servo:
    """Move the hand along a path. The waypoint on the path does not advance while the hand is too far behind the
    waypoint.

    :param waypoint: a function that maps the completed share of the path, in (0, 1], to a position (3, m) and a
        rotation (3, 3), or to a position and None.
    :param length: the number of steps that the path takes at the intended speed.
    :returns: the outcome of :func:`servo` for the end of the path.
    """
    share, steps_taken = 0.0, 0
    while share < 1.0 and steps_taken < steps - SETTLE_STEPS:
        target, rotation = waypoint(min(1.0, share + 1.0 / length))
        pose = pose_of(ctx)
        error = target - pose.position
        if steps_taken % BLOCKED_STEPS == BLOCKED_STEPS - 1 or float(error @ error) < MAX_LAG**2:
            share = min(1.0, share + 1.0 / length)
        twist = _clip_norm(error, 2 * SPEED)
        if rotation is not None:
            twist = np.concatenate((twist, _clip_norm(rotation_vector(rotation, pose.rotation), MAX_TURN)))
        yield command(ctx, twist)
        steps_taken += 1
    target, rotation = waypoint(1.0)
    end = yield from servo(ctx, target, rotation, tolerance=tolerance, steps=SETTLE_STEPS)
    return {**end, "steps": steps_taken + int(end["steps"])}  # type: ignore[arg-type]


def wait(ctx: Context, steps: int) -> Generator[Array, None, None]:
    """Keep the hand at its current pose for ``steps`` control steps."""
    position, rotation = pose_of(ctx).position, held_rotation(ctx)
    for _ in range(steps):
        pose = pose_of(ctx)
        turn = _clip_norm(rotation_vector(rotation, pose.rotation), MAX_TURN)
        yield command(ctx, np.concatenate((_clip_norm(position - pose.position, SPEED), turn)))


def opening(ctx: Context) -> float:
    """Distance between the fingers, m, from the observed joints."""
    fingers: Any = ctx.observation["robot"][JOINTS : JOINTS + 2]
    return float(fingers[0] + fingers[1])
