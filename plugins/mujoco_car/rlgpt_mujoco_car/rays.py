"""Represents the obstacles that rays can hit as line segments, seen from above."""

from __future__ import annotations

import math

import numpy as np

from rlgpt_mujoco_car.road import Array
from rlgpt_mujoco_car.scene import WALL_HALF_THICKNESS, Box, Scene, wall_corners


def segments(scene: Scene) -> Array:
    """Return the line segments of a scene, ``(N, 4)``, with x and y of both ends of each segment, m. The line segments
    are the inner faces of the walls and the outlines of boxes.
    """
    left, right = wall_corners(scene.road)
    faces = [np.concatenate((edge[:-1], edge[1:]), axis=1) for edge in (_inward(left, -1.0), _inward(right, 1.0))]
    if scene.closed:
        start = np.stack((left[0], right[0])) + np.array((WALL_HALF_THICKNESS, 0.0))
        faces.append(start.reshape(1, 4))
    faces += [_outline(box) for box in scene.boxes]
    return np.ascontiguousarray(np.concatenate(faces))


def _inward(edge: Array, side: float) -> Array:
    """Return the corners of a wall's inner face, ``(M, 2)``. The inner face of a wall is the face towards the road,
    half a thickness from the wall's middle.

    :param side: 1 if the road is on the left of the wall, -1 if the road is on the right.
    """
    steps = np.diff(edge, axis=0)
    along = np.concatenate((steps[:1], steps[:-1] + steps[1:], steps[-1:]))
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    return edge + side * WALL_HALF_THICKNESS * np.stack((-along[:, 1], along[:, 0]), axis=1)


def _outline(box: Box) -> Array:
    cos, sin = math.cos(box.heading), math.sin(box.heading)
    corners = np.array(((1, 1), (-1, 1), (-1, -1), (1, -1))) * (box.half_length, box.half_width)
    turned = corners @ np.array(((cos, sin), (-sin, cos))) + (box.x, box.y)
    return np.concatenate((turned, np.roll(turned, -1, axis=0)), axis=1)
