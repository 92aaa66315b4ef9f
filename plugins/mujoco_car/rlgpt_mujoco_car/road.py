"""Winding roads. A road has a centre line of bounded curvature, drawn from a seed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SPACING = 0.25
"""Distance between points of the centre line, m."""
STRAIGHT_LENGTH = 3.0
"""Length of the straight road at the start and at the end, m."""
MIN_BEND_RADIUS = 1.2
"""Smallest radius of a bend, m. The car's smallest turning radius is 0.48 m."""


@dataclass(frozen=True)
class Road:
    """A road, given by its centre line, which starts at the origin towards +x.

    :ivar points: the points of the centre line, ``(N, 2)``, m, :data:`SPACING` apart along the line.
    :ivar headings: the direction of the centre line at each point, ``(N,)``, rad.
    :ivar half_width: half of the road's width, m.
    """

    points: Array
    headings: Array
    half_width: float

    @property
    def length(self) -> float:
        """The length of the road along its centre line, m."""
        return SPACING * (len(self.points) - 1)

    @property
    def normals(self) -> Array:
        """The unit vectors that point to the left of the centre line at its points, ``(N, 2)``."""
        return np.stack((-np.sin(self.headings), np.cos(self.headings)), axis=1)

    def at(self, along: float, offset: float = 0.0) -> tuple[Array, float]:
        """Return the point (m, 2) that is ``offset`` m to the left of the centre line at ``along`` m, and the direction
        of the centre line at that place (rad).
        """
        index = min(max(along / SPACING, 0.0), len(self.points) - 1.0)
        below = min(int(index), len(self.points) - 2)
        share = index - below
        point = (1 - share) * self.points[below] + share * self.points[below + 1]
        heading = (1 - share) * self.headings[below] + share * self.headings[below + 1]
        return point + offset * np.array([-np.sin(heading), np.cos(heading)]), float(heading)

    def edges(self) -> tuple[Array, Array]:
        """Return the left and the right border of the road, ``(N, 2)`` each, m."""
        return self.points + self.half_width * self.normals, self.points - self.half_width * self.normals


def winding(rng: np.random.Generator, length: float, half_width: float) -> Road:
    """Return a road of alternating bends that does not come near itself.

    Each bend of the road has a radius from :data:`MIN_BEND_RADIUS` to 3 m and ends with a heading of 20 to 60 degrees
    from +x. Successive bends end on opposite sides.
    """
    curvatures = [0.0] * round(STRAIGHT_LENGTH / SPACING)
    side = rng.choice((-1.0, 1.0))
    heading = 0.0
    while len(curvatures) < (length - STRAIGHT_LENGTH) / SPACING:
        radius = rng.uniform(MIN_BEND_RADIUS, 3.0)
        end_heading = side * rng.uniform(0.35, 1.05)
        steps = max(1, math.ceil(abs(end_heading - heading) * radius / SPACING))
        curvatures += [(end_heading - heading) / (steps * SPACING)] * steps
        curvatures += [0.0] * int(rng.integers(0, 4))
        heading, side = end_heading, -side
    curvatures += [0.0] * round(STRAIGHT_LENGTH / SPACING)
    return along_curvature(np.array(curvatures), half_width)


def straight(length: float, half_width: float) -> Road:
    """A straight road."""
    return along_curvature(np.zeros(round(length / SPACING)), half_width)


def along_curvature(curvatures: Array, half_width: float) -> Road:
    """Return the road whose centre line has the curvatures ``[N]`` (1/m), each over a length of :data:`SPACING`."""
    headings = np.concatenate(([0.0], np.cumsum(curvatures * SPACING)))
    middle = (headings[:-1] + headings[1:]) / 2
    steps = SPACING * np.stack((np.cos(middle), np.sin(middle)), axis=1)
    return Road(np.concatenate((np.zeros((1, 2)), np.cumsum(steps, axis=0))), headings, half_width)
