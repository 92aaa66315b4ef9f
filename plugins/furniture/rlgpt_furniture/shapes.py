"""Makes shapes with a hole from convex wedges that meet in planes and do not overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence

WEDGES = 8
ROUND_CORNERS = 16
"""Number of corners of a round shape."""
_HALF = math.pi / WEDGES

Profile = Sequence[tuple[float, float, float]]
"""(height, inner, outer) of each level, from below, m. The radii are inner radii of octagons."""


def box(centre: Sequence[float], half: Sequence[float], extra: str = "") -> str:
    """Return the MJCF of a box that is a part's shape, given by its centre and half sizes, m."""
    place, size = (" ".join(f"{v:.6g}" for v in values) for values in (centre, half))
    return f'<geom class="part" type="box" pos="{place}" size="{size}" {extra}/>'


class Meshes:
    """Collects the meshes of one model and makes the geoms that use them."""

    def __init__(self) -> None:
        self._vertices: dict[str, str] = {}

    @property
    def assets(self) -> str:
        """The meshes as MJCF."""
        return "".join(f'<mesh name="{n}" vertex="{v}" inertia="convex"/>' for n, v in self._vertices.items())

    def prism(self, name: str, profile: Sequence[tuple[float, float]], extra: str = "") -> str:
        """Return a convex round body about z. The body has the given (height, radius) at each level, in m, from below.
        Two meshes of one model that have the same name must have the same shape.

        The shape of the body is a mesh and not a cylinder geom, because MuJoCo sometimes reports that an upright
        cylinder penetrates the plane under it by millimetres.
        """
        turns = [2 * math.pi * k / ROUND_CORNERS for k in range(ROUND_CORNERS)]
        points = [(r * math.cos(a), r * math.sin(a), z) for z, r in profile for a in turns]
        return self._geom(name, points, extra=extra)

    def ring(self, name: str, profile: Profile, centre: tuple[float, float] = (0.0, 0.0), square: bool = False) -> str:
        """Return the geoms of a ring of eight wedges about z.

        :param square: whether the outside of the ring is a square, whose half side is ``outer``.
        """
        geoms = []
        for k in range(WEDGES):
            points = [
                p
                for z, inner, outer in profile
                for p in (*_edge(k, inner, z), *(_square(k, outer, z) if square else _edge(k, outer, z)))
            ]
            geoms.append(self._geom(f"{name}_{k}", points, centre))
        return "".join(geoms)

    def _geom(
        self,
        name: str,
        points: Sequence[tuple[float, float, float]],
        centre: tuple[float, float] = (0.0, 0.0),
        extra: str = "",
    ) -> str:
        self._vertices[name] = " ".join(f"{v:.7g}" for p in points for v in p)
        # MuJoCo moves the frame of a mesh to the mesh's centre, and the geom with it. ``pos`` is the position of the
        # points' origin.
        return f'<geom class="part" type="mesh" mesh="{name}" pos="{centre[0]:.6g} {centre[1]:.6g} 0" {extra}/>'


def _edge(k: int, radius: float, z: float) -> list[tuple[float, float, float]]:
    corner, middle = radius / math.cos(_HALF), 2 * _HALF * k
    return [(corner * math.cos(middle + way * _HALF), corner * math.sin(middle + way * _HALF), z) for way in (-1, 1)]


def _square(k: int, half: float, z: float) -> list[tuple[float, float, float]]:
    middle = 2 * _HALF * k
    points = []
    for way in (-1, 1):
        x, y = math.cos(middle + way * _HALF), math.sin(middle + way * _HALF)
        reach = half / max(abs(x), abs(y))
        points.append((x * reach, y * reach, z))
    if k % 2:
        points.append((math.copysign(half, math.cos(middle)), math.copysign(half, math.sin(middle)), z))
    return points
