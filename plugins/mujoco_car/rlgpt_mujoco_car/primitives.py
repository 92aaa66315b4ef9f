"""Defines the primitives that coded actions can call. Primitives use only the car's observation, and no primitive
depends on a task.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from typing import Any

import numpy as np
from rlgpt.domain import Parameter, Plain
from rlgpt.plugin.types import Context, Primitive

from rlgpt_mujoco_car.env import PERIOD
from rlgpt_mujoco_car.vehicle import MAX_SPEED, MAX_STEER, WHEELBASE
from rlgpt_mujoco_car.views import clearance

Run = Generator[Any, None, Mapping[str, Plain]]

MIN_CLEARANCE = 0.25
"""Free distance ahead below which `follow` ends at low speed, m. The distance is larger at higher speed."""


class _Motion:
    """Moves the car, and computes how far the car has moved in the call of a primitive from the measured speed and
    turning rate.

    :ivar x: the distance in m that the car has moved forwards since the call began, in the car's frame at the beginning
        of the call.
    :ivar y: the distance in m that the car has moved to the left since the call began, in the car's frame at the
        beginning of the call.
    :ivar angle: the angle in rad by which the car has turned to the left since the call began.
    :ivar distance: the length in m of the car's path since the call began.
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self.steps = 0
        self.x = self.y = self.angle = self.distance = 0.0

    def step(self, speed: float, steering: float) -> Generator[Any, None, None]:
        """Drive for one control step with a speed (m/s) and a steering angle (rad)."""
        action = np.array((speed / MAX_SPEED, steering / MAX_STEER), np.float32)
        yield np.clip(action, -1.0, 1.0)
        forward, _, rate, _, _ = self._ctx.observation["motion"].tolist()
        middle = self.angle + rate * PERIOD / 2
        self.x += forward * PERIOD * math.cos(middle)
        self.y += forward * PERIOD * math.sin(middle)
        self.angle += rate * PERIOD
        self.distance += abs(forward) * PERIOD
        self.steps += 1

    def end(self, ended: str) -> Run:
        """Return the outcome. If the call of a primitive has taken no step, ``end`` brakes for one step, because every
        call takes at least one step.
        """
        if self.steps == 0:
            yield from self.step(0.0, float(self._ctx.observation["motion"][3]))
        ahead, behind, left, right = clearance(self._ctx.observation["rays"])
        return {
            "ended": ended,
            "moved": [round(self.x, 3), round(self.y, 3)],
            "turned": round(self.angle, 3),
            "speed": round(float(self._ctx.observation["motion"][0]), 3),
            "clear_ahead": round(ahead, 3),
            "clear_behind": round(behind, 3),
            "clear_left": round(left, 3),
            "clear_right": round(right, 3),
            "touching": round(float(self._ctx.observation["touching"][0]), 3),
            "steps": self.steps,
        }


OUTCOME_DOCS = {
    "ended": "why: see each primitive",
    "moved": "[forwards, left] since the call began, m, in the car's frame at that time, by odometry",
    "turned": "rad since the call began, positive left",
    "speed": "m/s at the end",
    "clear_ahead": "m free from the front bumper straight ahead",
    "clear_behind": "m free from the rear bumper straight back",
    "clear_left": "m of free space from the left flank",
    "clear_right": "m of free space from the right flank",
    "touching": "s that a wall has been touched without a break",
    "steps": "primitive steps used, 0.05 s each",
}


def _clearance_ahead(ctx: Context) -> float:
    return clearance(ctx.observation["rays"])[0]


def _blocked(ctx: Context) -> bool:
    speed = max(0.0, float(ctx.observation["motion"][0]))
    return _clearance_ahead(ctx) < MIN_CLEARANCE + 0.15 * speed * speed


def pursuit(x: float, y: float) -> float:
    """Return the steering angle (rad) with which the car drives on a circle through a point (m, from the rear axle),
    which is atan(2 L y / d^2).

    The formula is that of pure pursuit (Coulter 1992), with the wheelbase L and the distance d of the point.
    """
    return math.atan2(2.0 * WHEELBASE * y, max(x * x + y * y, 1e-3))


def drive(ctx: Context, *, speed: float, steering: float, seconds: float) -> Run:
    motion = _Motion(ctx)
    for _ in range(max(1, round(seconds / PERIOD))):
        yield from motion.step(speed, steering)
    return (yield from motion.end("time"))


def reverse(ctx: Context, *, metres: float) -> Run:
    motion = _Motion(ctx)
    while motion.steps < 80:
        left = metres - motion.distance
        if left <= 0.01:
            return (yield from motion.end("distance"))
        if clearance(ctx.observation["rays"])[1] < 0.06:
            return (yield from motion.end("blocked"))
        yield from motion.step(-min(0.8, 0.15 + left), 0.0)
    return (yield from motion.end("time"))


def stop(ctx: Context) -> Run:
    motion = _Motion(ctx)
    while motion.steps < 30:
        yield from motion.step(0.0, 0.0)
        if abs(float(ctx.observation["motion"][0])) < 0.02:
            return (yield from motion.end("still"))
    return (yield from motion.end("time"))


def steer_to(ctx: Context, *, x: float, y: float, speed: float) -> Run:
    motion = _Motion(ctx)
    while motion.steps < 80:
        dx, dy = x - motion.x, y - motion.y
        cos, sin = math.cos(motion.angle), math.sin(motion.angle)
        forward, left = dx * cos + dy * sin, dy * cos - dx * sin
        if math.hypot(forward, left) < 0.06:
            return (yield from motion.end("reached"))
        if forward < 0.0:
            return (yield from motion.end("passed"))
        if _clearance_ahead(ctx) < 0.05:
            return (yield from motion.end("blocked"))
        yield from motion.step(min(speed, 0.3 + math.hypot(forward, left)), pursuit(forward, left))
    return (yield from motion.end("time"))


def follow(ctx: Context, *, speed: float, seconds: float) -> Run:
    motion = _Motion(ctx)
    for _ in range(max(1, round(seconds / PERIOD))):
        if _blocked(ctx):
            return (yield from motion.end("blocked"))
        road = ctx.observation["road"]
        steering = pursuit(float(road[2]), float(road[3]))
        bend = max(abs(steering), abs(pursuit(float(road[4]), float(road[5]))))
        yield from motion.step(min(speed, 1.4 - 2.0 * min(bend, 0.5)), steering)
    return (yield from motion.end("time"))


def _speed(default: float, low: float = 0.1, high: float = MAX_SPEED) -> Parameter:
    return Parameter(name="speed", low=low, high=high, default=default, unit="m/s", doc="aimed at")


def _metres(name: str, low: float, high: float, default: float, doc: str) -> Parameter:
    return Parameter(name=name, low=low, high=high, default=default, unit="m", doc=doc)


_SECONDS = Parameter(name="seconds", low=0.05, high=3.0, default=0.5, unit="s", doc="at most 3")

PRIMITIVES = (
    Primitive(
        "drive",
        "Hold a speed and a steering angle for a time; negative speed goes backwards (steering left then swings the "
        'tail to the left). Does not stop for obstacles. `ended` is "time".',
        drive,
        (
            _speed(0.5, -MAX_SPEED),
            Parameter(name="steering", low=-0.5, high=0.5, default=0.0, unit="rad", doc="positive is left"),
            _SECONDS,
        ),
        OUTCOME_DOCS,
        max_steps=60,
    ),
    Primitive(
        "reverse",
        "Go back with straight wheels for a distance, at 0.8 m/s at most and slower near its end, where it still rolls "
        'a little: `stop` ends that. `ended`: "distance", "blocked" (less than 0.06 m free behind) or "time" (4 s).',
        reverse,
        (_metres("metres", 0.05, 2.0, 0.3, "at most 2"),),
        OUTCOME_DOCS,
        max_steps=80,
    ),
    Primitive(
        "stop",
        'Brake with straight wheels until the car is at rest (below 0.02 m/s). `ended`: "still" or "time" (1.5 s).',
        stop,
        (),
        OUTCOME_DOCS,
        max_steps=30,
    ),
    Primitive(
        "steer_to",
        "Drive forwards on a circle to a point given from where the call begins, by odometry. The heading at the end "
        "cannot be chosen: it follows from the circle, about 2 atan2(y, x) more than at the beginning. The car "
        "still rolls then. Cannot turn tighter than 0.5 m radius, and does not avoid obstacles. `ended`: "
        '"reached" (within 0.06 m), "passed" (the point is no longer ahead), "blocked" (less than 0.05 m free ahead) '
        'or "time" (4 s).',
        steer_to,
        (
            _metres("x", 0.05, 3.0, 0.8, "forwards of the rear axle"),
            _metres("y", -1.5, 1.5, 0.0, "to the left"),
            _speed(0.5, 0.1, 1.5),
        ),
        OUTCOME_DOCS,
        max_steps=80,
    ),
    Primitive(
        "follow",
        "Follow the road's middle line, or return to it, slower in bends (1.4 m/s at most). Ends before an "
        "obstacle, still rolling; does not avoid it and never drives back. "
        '`ended`: "time" or "blocked" (less than 0.25 m free ahead, more when faster).',
        follow,
        (_speed(1.0, 0.1, 1.4), _SECONDS),
        OUTCOME_DOCS,
        max_steps=60,
    ),
)
