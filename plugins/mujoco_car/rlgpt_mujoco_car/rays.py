"""Distances to walls, seen from above: rays against line segments, compiled, since every step measures them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np

from rlgpt_mujoco_car.road import Array
from rlgpt_mujoco_car.scene import WALL, Box, Scene, wall_corners

Measure = Callable[[float, float, float, Array, float, Any], None]


def segments(scene: Scene) -> Array:
    """``(N, 4)``: x, y of both ends of everything that stands upright, m: the inner faces of walls, boxes' outlines."""
    left, right = wall_corners(scene.road)
    found = [np.concatenate((edge[:-1], edge[1:]), axis=1) for edge in (_inward(left, -1.0), _inward(right, 1.0))]
    if scene.closed:
        start = np.stack((left[0], right[0])) + np.array((WALL, 0.0))
        found.append(start.reshape(1, 4))
    found += [_outline(box) for box in scene.boxes]
    return np.ascontiguousarray(np.concatenate(found))


def _inward(edge: Array, side: float) -> Array:
    """The corners of a wall's inner face: half of its thickness towards the road."""
    steps = np.diff(edge, axis=0)
    along = np.concatenate((steps[:1], steps[:-1] + steps[1:], steps[-1:]))
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    return edge + side * WALL * np.stack((-along[:, 1], along[:, 0]), axis=1)


def _outline(box: Box) -> Array:
    cos, sin = math.cos(box.heading), math.sin(box.heading)
    corners = np.array(((1, 1), (-1, 1), (-1, -1), (1, -1))) * (box.half_length, box.half_width)
    turned = corners @ np.array(((cos, sin), (-sin, cos))) + (box.x, box.y)
    return np.concatenate((turned, np.roll(turned, -1, axis=0)), axis=1)


def _measure(x: float, y: float, heading: float, lines: Array, reach: float, out: Any) -> None:
    """Fill ``out`` with the distances (m, at most ``reach``) from (x, y), evenly round from ``heading`` to the left.

    A segment from a to b is met at t along the ray d where (a - o) x (b - a) / d x (b - a), and within its ends.
    """
    count = out.shape[0]
    ways = np.empty((count, 2))
    for i in range(count):
        out[i] = reach
        angle = heading + i * 2.0 * math.pi / count
        ways[i, 0], ways[i, 1] = math.cos(angle), math.sin(angle)
    for n in range(lines.shape[0]):
        ax, ay = lines[n, 0] - x, lines[n, 1] - y
        ex, ey = lines[n, 2] - lines[n, 0], lines[n, 3] - lines[n, 1]
        half = 0.5 * math.sqrt(ex * ex + ey * ey) + reach
        mx, my = ax + 0.5 * ex, ay + 0.5 * ey
        if mx * mx + my * my > half * half:
            continue
        cross = ax * ey - ay * ex
        for i in range(count):
            dx, dy = ways[i, 0], ways[i, 1]
            across = dx * ey - dy * ex
            if across == 0.0:
                continue
            way = cross / across
            share = (ax * dy - ay * dx) / across
            if 0.0 <= way < out[i] and 0.0 <= share <= 1.0:
                out[i] = way


measure: Measure = cast(Measure, numba.njit(cache=True)(_measure))
"""The distances, compiled; see :func:`_measure`."""
