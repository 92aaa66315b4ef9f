"""The world around the car as MJCF: ground, walls along the road, obstacles, ramps, wet patches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

from rlgpt_mujoco_car import vehicle
from rlgpt_mujoco_car.road import Array, Road

TIMESTEP = 0.0025
SUBSTEPS = 20
"""Physics steps of one control step: 0.05 s."""
WALL = 0.04
"""Half of a wall's thickness, m."""
BEND = 0.25
"""rad, by how much the road turns along one straight piece of wall."""
WALL_HEIGHT = 0.16
"""m, above the highest ground of the road."""
WALL_GROUP = 2
"""The group of all geoms that may not be touched for long; the sensor ``walls`` counts the contacts with them."""
FOOT = 0.2
"""Share of a ramp's length that climbs at half of its angle."""
GROUND_FRICTION, WET_FRICTION = 1.0, 0.25


@dataclass(frozen=True)
class Box:
    """An obstacle: middle (m), half sizes (m), heading (rad)."""

    x: float
    y: float
    half_length: float
    half_width: float
    heading: float = 0.0
    colour: str = "0.2 0.3 0.75 1"


@dataclass(frozen=True)
class Scene:
    """What one episode is played in.

    :ivar start: x, y (m) and heading (rad) of the rear axle's middle.
    :ivar goal: x, y (m) and heading (rad) of where the rear axle's middle is to be.
    :ivar wet: boxes of slippery ground, of friction :data:`WET_FRICTION`.
    :ivar gravity: m/s^2 in the world; tilted where the road climbs.
    :ivar ramp: start (x), length along the ground and angle (rad) of a ramp across the road, then a plateau; or None.
    """

    road: Road
    start: tuple[float, float, float]
    goal: tuple[float, float, float]
    boxes: tuple[Box, ...] = ()
    wet: tuple[Box, ...] = ()
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    ramp: tuple[float, float, float] | None = None
    force: float = vehicle.MAX_FORCE
    closed: bool = True
    plateau: float = 3.0

    @property
    def summit(self) -> float:
        """Height of the plateau, m; 0 where there is none."""
        if self.ramp is None:
            return 0.0
        _, length, angle = self.ramp
        return length * (FOOT * math.tan(angle / 2) + (1 - FOOT) * math.tan(angle))


def mjcf(scene: Scene) -> str:
    """The whole model."""
    walls = [*_walls(scene), *(_obstacle(b) for b in scene.boxes)]
    ground = [*(_wet(b) for b in scene.wet), *(_ramp(scene) if scene.ramp is not None else ())]
    x, y, heading = scene.start
    gravity = " ".join(map(str, scene.gravity))
    middle = scene.road.points[len(scene.road.points) // 2]
    return f"""
<mujoco model="car">
<compiler angle="radian" autolimits="true"/>
<option timestep="{TIMESTEP}" integrator="implicitfast" gravity="{gravity}"/>
<size memory="2M"/>
<visual><headlight ambient="0.45 0.45 0.45" diffuse="0.5 0.5 0.5"/><map zfar="60" znear="0.01"/></visual>
<asset>
  <texture name="ground" type="2d" builtin="checker" rgb1="0.42 0.46 0.42" rgb2="0.46 0.5 0.46" width="64" height="64"/>
  <material name="ground" texture="ground" texrepeat="80 80"/>
</asset>
<default>
  <geom contype="2" conaffinity="1"/>
  <default class="wall">
    <geom type="box" group="{WALL_GROUP}" rgba="0.75 0.72 0.68 1" friction="0.4 0.005 0.0001"/>
  </default>
  <default class="paint"><geom type="box" contype="0" conaffinity="0"/></default>
  <default class="car"><geom contype="1" conaffinity="2"/></default>
</default>
<worldbody>
  <light pos="{middle[0]} {middle[1]} 15" dir="0.2 0.1 -1" directional="true" castshadow="false"/>
  <geom name="ground" type="plane" size="60 60 1" material="ground" friction="{GROUND_FRICTION} 0.005 0.0001"/>
  <body name="walls">{"".join(walls)}</body>
  {"".join(ground)}
  {_paint(scene)}
  {vehicle.body(x, y, 0.0, heading)}
</worldbody>
{vehicle.actuators(scene.force)}
<sensor>
  <velocimeter name="velocity" site="imu"/><gyro name="turning" site="imu"/>
  <contact name="walls" body1="walls" num="1" data="found"/>
</sensor>
</mujoco>"""


def wall_corners(road: Road) -> tuple[Array, Array]:
    """The corners of the left and of the right wall, in the middle of their thickness: ``(M, 2)`` each, m."""
    left, right = road.edges()
    corners = _corners(road)
    return left[corners], right[corners]


def _walls(scene: Scene) -> Iterable[str]:
    """Boxes along both edges, and across the start where the road is closed.

    All are as high as the highest needs to be: rays, which are level and know no heights, then tell what is so.
    """
    left, right = wall_corners(scene.road)
    top = scene.summit + WALL_HEIGHT
    for name, edge in (("left", left), ("right", right)):
        yield from (_wall(f"{name}_{i}", a, b, top) for i, (a, b) in enumerate(itertools.pairwise(edge)))
    if scene.closed:
        yield _wall("back", left[0], right[0], top)


def _corners(road: Road) -> list[int]:
    """Points between which a wall may be straight: it turns by at most :data:`BEND`, or is as short as can be."""
    found = [0]
    for i in range(1, len(road.points)):
        turn = abs(road.headings[i] - road.headings[found[-1]])
        if turn > BEND and i - 1 > found[-1]:
            found.append(i - 1)
    return [*found, len(road.points) - 1]


def _wall(name: str, a: Array, b: Array, top: float) -> str:
    middle, (dx, dy) = (a + b) / 2, b - a
    half = math.hypot(dx, dy) / 2 + WALL / 2
    return (
        f'<geom class="wall" name="wall_{name}" pos="{middle[0]} {middle[1]} {top / 2}" size="{half} {WALL} {top / 2}" '
        f'euler="0 0 {math.atan2(dy, dx)}"/>'
    )


def _obstacle(box: Box) -> str:
    return (
        f'<geom class="wall" pos="{box.x} {box.y} {WALL_HEIGHT / 2}" '
        f'size="{box.half_length} {box.half_width} {WALL_HEIGHT / 2}" '
        f'euler="0 0 {box.heading}" rgba="{box.colour}"/>'
    )


def _wet(box: Box) -> str:
    # priority makes the patch's friction count instead of the larger of the two
    return (
        f'<geom type="box" pos="{box.x} {box.y} -0.0095" size="{box.half_length} {box.half_width} 0.01" '
        f'euler="0 0 {box.heading}" rgba="0.3 0.5 0.8 1" friction="{WET_FRICTION} 0.005 0.0001" priority="1" '
        'condim="4"/>'
    )


def _ramp(scene: Scene) -> Iterable[str]:
    """A foot at half of the angle, which takes the jolt, the ramp and the plateau."""
    assert scene.ramp is not None
    start, length, angle = scene.ramp
    width, thick = scene.road.half, 0.05
    foot = FOOT * length
    x, z = start, 0.0
    for name, part, climb in (("foot", foot, angle / 2), ("ramp", length - foot, angle)):
        rise = part * math.tan(climb)
        middle = (x + part / 2 + thick * math.sin(climb), z + rise / 2 - thick * math.cos(climb))
        yield (
            f'<geom name="{name}" type="box" pos="{middle[0]} 0 {middle[1]}" '
            f'size="{part / math.cos(climb) / 2} {width} {thick}" euler="0 {-climb} 0" rgba="0.6 0.55 0.45 1" '
            f'friction="{GROUND_FRICTION} 0.005 0.0001"/>'
        )
        x, z = x + part, z + rise
    yield (
        f'<geom name="plateau" type="box" pos="{x + scene.plateau / 2} 0 {z / 2}" '
        f'size="{scene.plateau / 2} {width} {z / 2}" rgba="0.6 0.55 0.45 1" friction="{GROUND_FRICTION} 0.005 0.0001"/>'
    )


def _paint(scene: Scene) -> str:
    """The middle line, and the goal."""
    points = scene.road.points
    lines = []
    for a, b in zip(points[::4], points[2::4], strict=False):
        middle, (dx, dy) = (a + b) / 2, b - a
        lines.append(
            f'<geom class="paint" pos="{middle[0]} {middle[1]} 0.0005" size="{math.hypot(dx, dy) / 2} 0.015 0.0005" '
            f'euler="0 0 {math.atan2(dy, dx)}" rgba="0.95 0.9 0.6 1"/>'
        )
    x, y, heading = scene.goal
    x, y = x + vehicle.WHEELBASE / 2 * math.cos(heading), y + vehicle.WHEELBASE / 2 * math.sin(heading)
    lines.append(
        f'<geom class="paint" name="goal" pos="{x} {y} {scene.summit + 0.001}" size="{vehicle.LENGTH / 2 + 0.03} '
        f'{vehicle.WIDTH / 2 + 0.03} 0.001" euler="0 0 {heading}" rgba="0.3 0.8 0.35 0.6"/>'
    )
    return "".join(lines)
