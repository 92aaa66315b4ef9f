"""Moving the hand, one control step at a time: what every primitive is made of."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from rlgpt.domain import Plain
from rlgpt.plugin.types import Context

from rlgpt_kitchen.ik import JOINTS, Array, Pose, rotation_vector
from rlgpt_kitchen.model import KitchenModel

SPEED = 0.04
"""Default displacement of the hand in one control step, m: close to what the joints can do."""
TURN = 0.25
"""Largest rotation in one control step, rad."""
ANGLE_TOLERANCE = 0.1
GAIN, WINDUP = 0.15, 0.04
"""Integral of the position error: share added in each step, and its bound (m)."""
PATIENCE, STUCK = 8, 0.01
"""Blocked: within so many steps the hand came no nearer than this to its target (m, plus 0.3 m per rad)."""
LAG = 0.05
"""A waypoint of a path goes on once the hand is as near as this, m, or every PATIENCE steps all the same."""
SETTLE = 10
"""Steps for the end of a path."""

Servo = Generator[Array, None, dict[str, Plain]]


def pose_of(ctx: Context) -> Pose:
    model: KitchenModel = ctx.model
    return model.pose(ctx.observation)


def grip_of(ctx: Context) -> float:
    """The fingers' command: 1 opens, -1 closes."""
    return float(ctx.memory.get("grip", 1.0))


def held_rotation(ctx: Context) -> Array:
    """The rotation the hand keeps: the one it was last asked for, at first the one it has."""
    if "rotation" not in ctx.memory:
        ctx.memory["rotation"] = pose_of(ctx).rotation
    rotation: Array = ctx.memory["rotation"]
    return rotation


def command(ctx: Context, twist: Array) -> Array:
    """The action (9) that displaces the hand by ``twist`` within this control step, as far as the joints can.

    The motors are position servos that pull with ``stiffness * (commanded - current)`` against damping: a step covers
    the share ``fraction`` of the command. What holds the arm against gravity is added: the model has no compensation.
    """
    model: KitchenModel = ctx.model
    pose = pose_of(ctx)
    hold = pose.gravity / model.stiffness
    wanted = model.arm.joint_step(pose, twist) / model.fraction
    room = np.where(wanted > 0, model.reach - hold, model.reach + hold)
    with np.errstate(divide="ignore"):
        scale = min(1.0, float(np.min(np.where(wanted != 0, room / np.abs(wanted), 1.0))))
    action = np.empty(JOINTS + 2)
    action[:JOINTS] = (scale * wanted + hold) / model.command
    action[JOINTS:] = grip_of(ctx)
    return np.clip(action, -1.0, 1.0)


def _shorten(vector: Array, longest: float) -> Array:
    length = float(np.sqrt(vector @ vector))
    return vector if length <= longest else vector * (longest / length)


def servo(
    ctx: Context,
    target: Array,
    rotation: Array | None,
    *,
    speed: float = SPEED,
    tolerance: float = 0.015,
    steps: int = 60,
) -> Servo:
    """Moves the hand to ``target`` (m), turning it to ``rotation`` unless that is None.

    :returns: ``reached``, ``blocked``, ``distance`` (m), ``angle`` (rad), ``steps``.
    """
    integral = np.zeros(3)
    history: list[float] = []
    taken = 0
    while True:
        pose = pose_of(ctx)
        error = target - pose.position
        distance = float(np.sqrt(error @ error))
        turn = np.zeros(3) if rotation is None else rotation_vector(rotation, pose.rotation)
        angle = float(np.sqrt(turn @ turn))
        reached = distance <= tolerance and angle <= ANGLE_TOLERANCE
        history.append(distance + 0.3 * angle)
        blocked = len(history) > PATIENCE and history[-1 - PATIENCE] - min(history[-PATIENCE:]) < STUCK
        if reached or blocked or taken >= steps:
            return {
                "reached": reached,
                "blocked": blocked and not reached,
                "distance": round(distance, 4),
                "angle": round(angle, 3),
                "steps": taken,
            }
        integral = _shorten(integral + GAIN * _shorten(error, speed), WINDUP)
        shift = _shorten(error, speed) + integral
        yield command(ctx, shift if rotation is None else np.concatenate((shift, _shorten(turn, TURN))))
        taken += 1


def along(
    ctx: Context, waypoint: Callable[[float], tuple[Array, Array | None]], length: int, *, tolerance: float, steps: int
) -> Servo:
    """Moves the hand along ``waypoint(share)``, share in (0, 1]; the waypoint waits where the hand lags behind.

    :param length: steps the path takes at the wanted speed.
    :returns: as :func:`servo`, for the path's end.
    """
    share, taken = 0.0, 0
    while share < 1.0 and taken < steps - SETTLE:
        target, rotation = waypoint(min(1.0, share + 1.0 / length))
        pose = pose_of(ctx)
        error = target - pose.position
        if taken % PATIENCE == PATIENCE - 1 or float(error @ error) < LAG**2:
            share = min(1.0, share + 1.0 / length)
        twist = _shorten(error, 2 * SPEED)
        if rotation is not None:
            twist = np.concatenate((twist, _shorten(rotation_vector(rotation, pose.rotation), TURN)))
        yield command(ctx, twist)
        taken += 1
    target, rotation = waypoint(1.0)
    end = yield from servo(ctx, target, rotation, tolerance=tolerance, steps=SETTLE)
    return {**end, "steps": taken + int(end["steps"])}  # type: ignore[arg-type]


def wait(ctx: Context, steps: int) -> Generator[Array, None, None]:
    """Holds the hand where it is, for ``steps`` control steps."""
    position, rotation = pose_of(ctx).position, held_rotation(ctx)
    for _ in range(steps):
        pose = pose_of(ctx)
        turn = _shorten(rotation_vector(rotation, pose.rotation), TURN)
        yield command(ctx, np.concatenate((_shorten(position - pose.position, SPEED), turn)))


def opening(ctx: Context) -> float:
    """Distance between the fingers, m: by the observed joints."""
    fingers: Any = ctx.observation["robot"][JOINTS : JOINTS + 2]
    return float(fingers[0] + fingers[1])
