"""Computes sensor readings and the position of the car. The functions of this module are compiled by numba, because
every step calls them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import numba
import numpy as np

from rlgpt_mujoco_car import vehicle
from rlgpt_mujoco_car.road import SPACING, Array

RAYS = 20
RAY_RANGE = 5.0
"""Distance that a ray without a hit reports, m."""
LOOKAHEAD = (0.5, 1.0, 1.5, 2.25, 3.0)
"""Distances along the road from the car to the observed points, m."""
COMPONENT_SIZES = {"rays": RAYS, "motion": 5, "road": 2 + 2 * len(LOOKAHEAD), "goal": 4, "touching": 1}
"""The components of the sensor vector in order, and the size of each."""
SENSOR_COUNT = sum(COMPONENT_SIZES.values())

SensorVector = np.ndarray[tuple[int], np.dtype[np.float32]]
Located = tuple[int, float, float, float, float, float, float]
CastRays = Callable[[float, float, float, Array, SensorVector], None]
ReadSensors = Callable[[Array, Array, Array, Array, tuple[float, float, float], int, float, SensorVector], Located]

_RAY_ANGLES = np.arange(RAYS) * (2 * math.pi / RAYS)
_RAY_COS, _RAY_SIN = np.cos(_RAY_ANGLES), np.sin(_RAY_ANGLES)
_LOOKAHEAD_POINTS = np.round(np.array(LOOKAHEAD) / SPACING).astype(np.int64)
_STEERING_QPOS = (8, 11)
"""Indices of the front wheels' steering angles in qpos."""
_WHEEL_RADIUS, _HALF_WHEELBASE = vehicle.WHEEL_RADIUS, vehicle.WHEELBASE / 2


def _cast_rays(x: float, y: float, heading: float, segments: Array, out: SensorVector) -> None:
    """Fill ``out`` with the distances (m, at most 5) from (x, y) to the nearest segment, counter-clockwise from
    ``heading``.

    A ray from o in direction d hits the segment from a to b at the distance (a - o) x (b - a) / d x (b - a), if the hit
    point lies between a and b.

    :param segments: the line segments ``(M, 4)``, each with x and y of both ends, m.
    """
    cos, sin = math.cos(heading), math.sin(heading)
    directions = np.empty((RAYS, 2))
    for i in range(RAYS):
        out[i] = RAY_RANGE
        directions[i, 0] = cos * _RAY_COS[i] - sin * _RAY_SIN[i]
        directions[i, 1] = sin * _RAY_COS[i] + cos * _RAY_SIN[i]
    for n in range(segments.shape[0]):
        ax, ay = segments[n, 0] - x, segments[n, 1] - y
        ex, ey = segments[n, 2] - segments[n, 0], segments[n, 3] - segments[n, 1]
        half = 0.5 * math.sqrt(ex * ex + ey * ey) + RAY_RANGE
        mx, my = ax + 0.5 * ex, ay + 0.5 * ey
        if mx * mx + my * my > half * half:
            continue
        cross = ax * ey - ay * ex
        facing = 1.0 if cross >= 0.0 else -1.0
        for i in range(RAYS):
            dx, dy = directions[i, 0], directions[i, 1]
            # The division is done only for the few rays that hit the segment.
            across = facing * (dx * ey - dy * ex)
            share = facing * (ax * dy - ay * dx)
            if across > 0.0 and 0.0 <= share <= across:
                distance = facing * cross / across
                if distance < out[i]:
                    out[i] = distance


cast_rays: CastRays = cast(CastRays, numba.njit(cache=True)(_cast_rays))
""":func:`_cast_rays`, compiled."""


def _read_sensors(
    qpos: Array,
    sensordata: Array,
    centre_line: Array,
    segments: Array,
    goal: tuple[float, float, float],
    index: int,
    touch_seconds: float,
    out: SensorVector,
) -> Located:
    """Fill ``out`` (float32, :data:`SENSOR_COUNT`) with the sensor readings.

    :param qpos: the simulator's ``qpos``.
    :param sensordata: the simulator's ``sensordata``.
    :param centre_line: the points of the road, ``(N, 3)``, with x, y (m) and heading (rad).
    :param segments: the line segments that rays can hit, ``(M, 4)``, m.
    :param goal: x, y (m) and heading (rad) of the goal.
    :param index: the index of the road's point that was nearest to the car at the last call. The search begins at this
        point.
    :param touch_seconds: for how long the car has touched a wall without interruption, s.
    :returns: the index of the road's nearest point; the car's x, y, height (m) and heading (rad); the cosine of the
        car's tilt; and the distance along the road, m.
    """
    x, y, z = qpos[0], qpos[1], qpos[2] - _WHEEL_RADIUS
    w, i, j, k = qpos[3], qpos[4], qpos[5], qpos[6]
    heading = math.atan2(2 * (w * k + i * j), 1 - 2 * (j * j + k * k))
    pitch = -math.asin(min(1.0, max(-1.0, 2 * (w * j - k * i))))
    upright = 1 - 2 * (i * i + j * j)
    cos, sin = math.cos(heading), math.sin(heading)
    last = centre_line.shape[0] - 1

    best = (centre_line[index, 0] - x) ** 2 + (centre_line[index, 1] - y) ** 2
    for direction in (1, -1):
        while 0 <= index + direction <= last:
            other = (centre_line[index + direction, 0] - x) ** 2 + (centre_line[index + direction, 1] - y) ** 2
            if other >= best:
                break
            index, best = index + direction, other
    dx, dy, along = x - centre_line[index, 0], y - centre_line[index, 1], centre_line[index, 2]
    offset = dy * math.cos(along) - dx * math.sin(along)
    progress = index * SPACING + dx * math.cos(along) + dy * math.sin(along)

    cast_rays(x + _HALF_WHEELBASE * cos, y + _HALF_WHEELBASE * sin, heading, segments, out[:RAYS])
    at = RAYS
    out[at], out[at + 1], out[at + 2] = sensordata[0], sensordata[1], sensordata[5]
    out[at + 3] = (qpos[_STEERING_QPOS[0]] + qpos[_STEERING_QPOS[1]]) / 2
    out[at + 4] = pitch
    at += 5
    out[at], out[at + 1] = offset, (along - heading + math.pi) % (2 * math.pi) - math.pi
    at += 2
    for n in range(_LOOKAHEAD_POINTS.shape[0]):
        point = min(index + _LOOKAHEAD_POINTS[n], last)
        dx, dy = centre_line[point, 0] - x, centre_line[point, 1] - y
        out[at], out[at + 1] = dx * cos + dy * sin, dy * cos - dx * sin
        at += 2
    dx, dy, turn = goal[0] - x, goal[1] - y, goal[2] - heading
    out[at], out[at + 1] = dx * cos + dy * sin, dy * cos - dx * sin
    out[at + 2], out[at + 3] = math.cos(turn), math.sin(turn)
    out[at + 4] = touch_seconds
    return index, x, y, z, heading, upright, progress


read_sensors: ReadSensors = cast(ReadSensors, numba.njit(cache=True)(_read_sensors))
"""The compiled version of :func:`_read_sensors`."""
