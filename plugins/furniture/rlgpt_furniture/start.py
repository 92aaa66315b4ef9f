"""Draws the start poses of the parts from a seeded generator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain, product

import numpy as np

from rlgpt_furniture.arm import Array
from rlgpt_furniture.furniture import Area, Furniture, Part


@dataclass(frozen=True)
class Spread:
    """The largest differences between a start pose and FurnitureBench's start pose, for parts (m, rad) and for the hand
    (m, rad).
    """

    shift: float
    turn: float
    hand_shift: float
    hand_turn: float


SPREADS = {
    "low": Spread(0.015, math.radians(15), 0.0, 0.0),
    "medium": Spread(0.05, math.radians(45), 0.05, math.radians(15)),
    "high": Spread(0.10, math.pi, 0.05, math.radians(15)),
}
"""The levels of randomness. The levels low and medium are FurnitureBench's. FurnitureBench's high level has three fixed
starts; in this plugin positions and angles are random.
"""
START_AREA = ((0.34, 0.64), (-0.24, 0.24))
"""Bounds of x and y of the parts' origins, m: FurnitureBench's bounds, but 3 cm narrower towards the robot."""
PART_GAP = 0.012
"""Minimal free distance between the footprints of two parts, m."""


def draw(furniture: Furniture, spread: Spread, rng: np.random.Generator) -> Array:
    """Draw the start poses of all parts, as ``qpos`` of their free joints, ``(7 x parts,)``. At the start, no two parts
    overlap, and no part lies on the fence.

    :raises RuntimeError: no start without an overlap was found.
    """
    for _ in range(500):
        poses: list[Array] = []
        outlines: list[Array] = []
        covered: list[Array] = []
        for part in furniture.parts:
            for _ in range(100):
                yaw = float(rng.uniform(-spread.turn, spread.turn))
                x, y = np.array(part.start) + rng.uniform(-spread.shift, spread.shift, 2)
                a, b = part.footprint
                free = _corners(x, y, yaw, (-a - PART_GAP / 2, a + PART_GAP / 2, b + PART_GAP / 2))
                own = [_corners(x, y, yaw, area) for area in part.areas or ((-a, a, b),)]
                pairs = chain(product([free], outlines), product(own, covered))
                if _inside(x, y, free) and not any(_overlap(one, other) for one, other in pairs):
                    poses.append(_pose(part, x, y, yaw))
                    outlines.append(free)
                    covered += own
                    break
            else:
                break
        if len(poses) == len(furniture.parts):
            return np.concatenate(poses)
    raise RuntimeError(f"no start without overlaps was found for {furniture.name}: its spread is too large.")


def draw_tag_offsets(parts: int, error: float, rng: np.random.Generator) -> Array:
    """Draw the horizontal errors of the parts' observed positions, ``(parts, 2)``, m, uniformly from a disc of radius
    ``error``.
    """
    radius = error * np.sqrt(rng.uniform(0.0, 1.0, parts))
    angle = rng.uniform(-math.pi, math.pi, parts)
    return np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=1)


def _pose(part: Part, x: float, y: float, yaw: float) -> Array:
    w, z = math.cos(yaw / 2), math.sin(yaw / 2)
    a, b, c, d = part.lying
    # The rotation about the vertical axis, multiplied by the lying orientation.
    return np.array((x, y, part.height, w * a - z * d, w * b - z * c, w * c + z * b, w * d + z * a))


def _corners(x: float, y: float, yaw: float, area: Area) -> Array:
    """Return the corners of an area of a part at a place and yaw, ``(4, 2)``."""
    west, east, side = area
    cos, sin = math.cos(yaw), math.sin(yaw)
    corners = ((east, side), (west, side), (west, -side), (east, -side))
    return np.array([(x + u * cos - v * sin, y + u * sin + v * cos) for u, v in corners])


def _inside(x: float, y: float, corners: Array) -> bool:
    (west, east), (south, north) = START_AREA
    if not (west <= x <= east and south <= y <= north):
        return False
    front, side = float(corners[:, 0].max()), np.abs(corners[:, 1])
    if front > 0.645:
        return False
    # between the sides of the fence, or outside one of the sides
    return front < 0.515 or bool(side.max() < 0.16 or (side.min() > 0.19 and len(set(np.sign(corners[:, 1]))) == 1))


def _overlap(a: Array, b: Array) -> bool:
    """Return whether two convex polygons overlap, which is true if no side of either polygon separates them."""
    for polygon, other in ((a, b), (b, a)):
        for i in range(4):
            dx, dy = polygon[i] - polygon[i - 1]
            normal = np.array((dy, -dx))
            if (other @ normal).min() >= (polygon @ normal).max():
                return False
    return True
