"""Defines the furniture, with its parts, joints and start poses. All numbers of this module are those of
FurnitureBench, unless a comment states another source.

The z axis of a part is the axis of assembly, which is FurnitureBench's y axis, or its -y axis for the lamp. The peg of
a leg points to -z, and the holes of a table top open to +z.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rlgpt_furniture.shapes import Meshes, box

PEG_RADIUS = 0.0128
"""Radius of a leg's peg, m."""
PEG_LENGTH = 0.025
PLUG_RADIUS = 0.013
"""Radius of the bulb's plug, m."""
CHAMFER = 0.002
HOLE_FLOOR = 0.004
"""Thickness of the wood under a blind hole, m."""
HOLE_BLOCK = 0.022
"""Half side of the square of wedges around a hole, m."""
_LYING = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)
"""Quaternion that turns z into x."""

Area = tuple[float, float, float]
"""Least x, largest x and half size along y of a rectangle, m."""


@dataclass(frozen=True)
class Part:
    """A part of the furniture.

    :ivar mass: the mass of the part, kg.
    :ivar start: the start position x, y of the part's origin at yaw 0, in m from the robot's base on the table.
    :ivar height: the height of the part's origin above the table at the start, m.
    :ivar footprint: the half sizes along x and y of the area that is free for the part at the start at yaw 0, m. The
        peg of a leg reaches beyond it.
    :ivar lying: the quaternion (w, x, y, z) of the part while it lies on the table at yaw 0.
    :ivar areas: the areas that a leg and its peg cover at yaw 0. The other parts cover their footprint.
    """

    name: str
    mass: float
    start: tuple[float, float]
    height: float
    footprint: tuple[float, float]
    lying: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    areas: tuple[Area, ...] = ()


@dataclass(frozen=True)
class Joint:
    """A joint of the furniture. The part ``part`` is assembled onto the part ``base`` at any of ``places`` (m in the
    frame of ``base``). Each place takes one part.

    :ivar turns: the order of the part's rotational symmetry about z, which is 4 for a leg, or 0 for full symmetry.
    :ivar upright: whether the part must be upright (FurnitureBench's hood need not be upright).
    :ivar after: the index of a joint that must be made before this joint, or None.
    :ivar depth: the depth by which the part goes into or over ``base``, m.
    """

    base: str
    part: str
    places: tuple[tuple[float, float, float], ...]
    turns: int = 4
    upright: bool = True
    after: int | None = None
    depth: float = PEG_LENGTH


@dataclass(frozen=True)
class Furniture:
    """A kind of furniture, with its parts, and its joints in the order of assembly."""

    name: str
    parts: tuple[Part, ...]
    joints: tuple[Joint, ...]

    def geoms(self, part: str, meshes: Meshes, clearance: float, solid: bool) -> str:
        """Return a part's geoms (shapes in MuJoCo's XML).

        :param clearance: the distance between a peg and its hole on all sides, m.
        :param solid: whether pegs collide; pegs of connectors do not.
        """
        return _GEOMS[part.rstrip("1234")](meshes, clearance, solid)


def _top(
    meshes: Meshes, clearance: float, solid: bool, *, half: tuple[float, float, float], hole: tuple[float, float]
) -> str:
    (w, d, h), (sx, sy) = half, hole
    low, high = -h + HOLE_FLOOR, h
    middle, thick = (low + high) / 2, (high - low) / 2
    wall, b = PEG_RADIUS + clearance, HOLE_BLOCK
    geoms = [
        box((0, 0, -h + HOLE_FLOOR / 2), (w, d, HOLE_FLOOR / 2)),
        box((0, 0, middle), (sx - b, d, thick)),
    ]
    rim, strip = (w - sx - b) / 2, (d - sy - b) / 2
    for x in (-1, 1):
        geoms.append(box((x * (w - rim), 0, middle), (rim, d, thick)))
        geoms.append(box((x * sx, 0, middle), (b, sy - b, thick)))
        for y in (-1, 1):
            geoms.append(box((x * sx, y * (d - strip), middle), (b, strip, thick)))
            profile = ((low, wall, b), (high - CHAMFER, wall, b), (high, wall + CHAMFER, b))
            geoms.append(meshes.ring(f"hole{x}{y}", profile, (x * sx, y * sy), square=True))
    return "".join(geoms)


def _peg(top: float, length: float, radius: float) -> tuple[tuple[float, float], ...]:
    return ((top - length, radius - CHAMFER), (top - length + CHAMFER, radius), (top, radius))


def _leg(meshes: Meshes, clearance: float, solid: bool, *, half: float) -> str:
    free = "" if solid else 'contype="0" conaffinity="0"'
    return box((0, 0, 0), (0.015, 0.015, half)) + meshes.prism("peg", _peg(-half, PEG_LENGTH, PEG_RADIUS), free)


def _lamp_base(meshes: Meshes, clearance: float, solid: bool) -> str:
    wall, bottom, shoulder, top = PLUG_RADIUS + clearance, 0.0148, 0.0397, 0.0458
    return (
        box((0, 0, -0.0162), (0.028, 0.028, 0.001))  # The top stands on four corners.
        + meshes.prism("foot", ((-0.0162, 0.0423), (bottom, 0.0423)))
        + meshes.ring("stand", ((bottom, wall, 0.0423), (shoulder, wall, 0.0423)))
        + meshes.ring("neck", ((shoulder, wall, 0.036), (top - CHAMFER, wall, 0.036), (top, wall + CHAMFER, 0.034)))
    )


def _lamp_bulb(meshes: Meshes, clearance: float, solid: bool) -> str:
    free = "" if solid else 'contype="0" conaffinity="0"'
    glass = '<geom class="part" type="sphere" pos="0 0 0.041" size="0.027" rgba="0.95 0.93 0.8 1"/>'
    plug = meshes.prism("plug", _peg(-0.022, 0.031, PLUG_RADIUS), free)
    return plug + box((0, 0, -0.004), (0.0175, 0.0175, 0.018)) + glass


def _lamp_hood(meshes: Meshes, clearance: float, solid: bool) -> str:
    return meshes.ring("hood", ((-0.0486, 0.040, 0.044), (0.0514, 0.026, 0.030)))


_GEOMS: dict[str, Callable[[Meshes, float, bool], str]] = {
    "table_top": partial(_top, half=(0.08125, 0.08125, 0.015625), hole=(0.05625, 0.05625)),
    "leg": partial(_leg, half=0.03125),
    "desk_top": partial(_top, half=(0.105, 0.075, 0.015625), hole=(0.080, 0.050)),
    "desk_leg": partial(_leg, half=0.05),
    "lamp_base": _lamp_base,
    "lamp_bulb": _lamp_bulb,
    "lamp_hood": _lamp_hood,
}


def _places(x: float, y: float, z: float) -> tuple[tuple[float, float, float], ...]:
    return tuple((i * x, j * y, z) for i in (1, -1) for j in (1, -1))


def _leg_areas(half: float) -> tuple[Area, Area]:
    return (-half, half, 0.015), (-half - PEG_LENGTH, -half, PEG_RADIUS)


def _square_leg(number: int, y: float) -> Part:
    return Part(f"leg{number}", 0.0231, (0.3715, y), 0.015, (0.045, 0.017), _LYING, _leg_areas(0.03125))


def _desk_leg(number: int, y: float) -> Part:
    return Part(f"desk_leg{number}", 0.0562, (0.3715, y), 0.015, (0.065, 0.017), _LYING, _leg_areas(0.05))


_TABLE_TOP = Part("table_top", 0.151, (0.5415, 0.0), 0.015625, (0.08125, 0.08125))
_TABLE = partial(Joint, "table_top", places=_places(0.05625, 0.05625, 0.046875))
_DESK_TOP = Part("desk_top", 0.1694, (0.5415, 0.0), 0.015625, (0.075, 0.105), (math.sqrt(0.5), 0, 0, math.sqrt(0.5)))
_DESK = partial(Joint, "desk_top", places=_places(0.080, 0.050, 0.065625))

FURNITURE: dict[str, Furniture] = {
    "one_leg": Furniture("one_leg", (_TABLE_TOP, _square_leg(4, 0.20)), (_TABLE("leg4"),)),
    "square_table": Furniture(
        "square_table",
        (_TABLE_TOP, *(_square_leg(i + 1, y) for i, y in enumerate((-0.20, -0.12, 0.12, 0.20)))),
        tuple(_TABLE(f"leg{i}") for i in (1, 2, 3, 4)),
    ),
    "desk": Furniture(
        "desk",
        (_DESK_TOP, *(_desk_leg(i + 1, y) for i, y in enumerate((-0.15, -0.08, 0.08, 0.15)))),
        tuple(_DESK(f"desk_leg{i}") for i in (1, 2, 3, 4)),
    ),
    "lamp": Furniture(
        "lamp",
        (
            Part("lamp_base", 0.0597, (0.4415, 0.05), 0.0172, (0.0423, 0.0423)),
            Part(
                "lamp_bulb",
                0.0385,
                (0.4315, 0.18),
                0.0209,
                (0.068, 0.03),
                (math.cos(0.71), 0.0, math.sin(0.71), 0.0),
            ),
            Part("lamp_hood", 0.060, (0.4615, -0.12), 0.0486, (0.044, 0.044)),
        ),
        (
            Joint("lamp_base", "lamp_bulb", ((0.0, 0.0, 0.0678),), turns=0, depth=0.031),
            Joint("lamp_base", "lamp_hood", ((0.0, 0.0, 0.0883),), turns=0, upright=False, after=0, depth=0.1),
        ),
    ),
}
"""Name -> furniture. The parts of the desk have the same densities as those of the square table."""
