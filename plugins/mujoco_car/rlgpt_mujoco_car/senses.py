"""Where the car is and what it senses, compiled: every step asks for it, and physics should be what steps cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import numba
import numpy as np

from rlgpt_mujoco_car import vehicle
from rlgpt_mujoco_car.road import SPACING, Array

RAYS = 20
RANGE = 5.0
"""m; a ray that meets nothing measures this."""
AHEAD = (0.5, 1.0, 1.5, 2.25, 3.0)
"""m along the road at which its points are told."""
PARTS = {"rays": RAYS, "motion": 5, "road": 2 + 2 * len(AHEAD), "goal": 4, "touching": 1}
"""What one vector of senses holds, in this order, and of how many numbers each."""
SIZE = sum(PARTS.values())

Senses = np.ndarray[tuple[int], np.dtype[np.float32]]
Located = tuple[int, float, float, float, float, float, float]
Measure = Callable[[float, float, float, Array, Senses], None]
Sense = Callable[[Array, Array, Array, Array, tuple[float, float, float], int, float, Senses], Located]

_ANGLES = np.arange(RAYS) * (2 * math.pi / RAYS)
_FORWARD, _LEFT = np.cos(_ANGLES), np.sin(_ANGLES)
_POINTS = np.round(np.array(AHEAD) / SPACING).astype(np.int64)
_STEER = (8, 11)
"""Where the front wheels' steering angles lie in qpos."""
_RADIUS, _HALF = vehicle.RADIUS, vehicle.WHEELBASE / 2


def _measure(x: float, y: float, heading: float, lines: Array, out: Senses) -> None:
    """Fill ``out`` with the distances (m, at most 5) from (x, y), evenly round from ``heading`` to the left.

    A segment from a to b is met at t along the ray d where (a - o) x (b - a) / d x (b - a), and within its ends.
    """
    cos, sin = math.cos(heading), math.sin(heading)
    ways = np.empty((RAYS, 2))
    for i in range(RAYS):
        out[i] = RANGE
        ways[i, 0] = cos * _FORWARD[i] - sin * _LEFT[i]
        ways[i, 1] = sin * _FORWARD[i] + cos * _LEFT[i]
    for n in range(lines.shape[0]):
        ax, ay = lines[n, 0] - x, lines[n, 1] - y
        ex, ey = lines[n, 2] - lines[n, 0], lines[n, 3] - lines[n, 1]
        half = 0.5 * math.sqrt(ex * ex + ey * ey) + RANGE
        mx, my = ax + 0.5 * ex, ay + 0.5 * ey
        if mx * mx + my * my > half * half:
            continue
        cross = ax * ey - ay * ex
        facing = 1.0 if cross >= 0.0 else -1.0
        for i in range(RAYS):
            dx, dy = ways[i, 0], ways[i, 1]
            # the division is left to the few rays that meet the segment
            across = facing * (dx * ey - dy * ex)
            share = facing * (ax * dy - ay * dx)
            if across > 0.0 and 0.0 <= share <= across:
                way = facing * cross / across
                if way < out[i]:
                    out[i] = way


measure: Measure = cast(Measure, numba.njit(cache=True)(_measure))
"""The distances, compiled; see :func:`_measure`."""


def _sense(
    places: Array,
    sensed: Array,
    line: Array,
    lines: Array,
    goal: tuple[float, float, float],
    index: int,
    touched: float,
    out: Senses,
) -> Located:
    """Fill ``out`` (float32, :data:`SIZE`) with what the car senses.

    :param places: qpos.
    :param sensed: the sensors' data.
    :param line: ``(N, 3)``, x, y (m) and heading (rad) of the road's points.
    :param lines: ``(M, 4)``, what rays can meet, m.
    :param goal: x, y (m) and heading (rad).
    :param index: of the road's point that was nearest last: a car does a point in two steps at most.
    :param touched: s for which a wall has been touched.
    :returns: index of the nearest point; x, y, height (m) and heading (rad) of the car; how upright it is (cosine);
        metres along the road.
    """
    x, y, z = places[0], places[1], places[2] - _RADIUS
    w, i, j, k = places[3], places[4], places[5], places[6]
    heading = math.atan2(2 * (w * k + i * j), 1 - 2 * (j * j + k * k))
    pitch = -math.asin(min(1.0, max(-1.0, 2 * (w * j - k * i))))
    upright = 1 - 2 * (i * i + j * j)
    cos, sin = math.cos(heading), math.sin(heading)
    last = line.shape[0] - 1

    best = (line[index, 0] - x) ** 2 + (line[index, 1] - y) ** 2
    for way in (1, -1):
        while 0 <= index + way <= last:
            other = (line[index + way, 0] - x) ** 2 + (line[index + way, 1] - y) ** 2
            if other >= best:
                break
            index, best = index + way, other
    dx, dy, along = x - line[index, 0], y - line[index, 1], line[index, 2]
    offset = dy * math.cos(along) - dx * math.sin(along)
    progress = index * SPACING + dx * math.cos(along) + dy * math.sin(along)

    measure(x + _HALF * cos, y + _HALF * sin, heading, lines, out[:RAYS])
    at = RAYS
    out[at], out[at + 1], out[at + 2] = sensed[0], sensed[1], sensed[5]
    out[at + 3] = (places[_STEER[0]] + places[_STEER[1]]) / 2
    out[at + 4] = pitch
    at += 5
    out[at], out[at + 1] = offset, (along - heading + math.pi) % (2 * math.pi) - math.pi
    at += 2
    for n in range(_POINTS.shape[0]):
        point = min(index + _POINTS[n], last)
        dx, dy = line[point, 0] - x, line[point, 1] - y
        out[at], out[at + 1] = dx * cos + dy * sin, dy * cos - dx * sin
        at += 2
    dx, dy, turn = goal[0] - x, goal[1] - y, goal[2] - heading
    out[at], out[at + 1] = dx * cos + dy * sin, dy * cos - dx * sin
    out[at + 2], out[at + 3] = math.cos(turn), math.sin(turn)
    out[at + 4] = touched
    return index, x, y, z, heading, upright, progress


sense: Sense = cast(Sense, numba.njit(cache=True)(_sense))
"""What the car senses, compiled; see :func:`_sense`."""
