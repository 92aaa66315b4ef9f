"""Describes the world around the car as MJCF (MuJoCo's XML), with ground, walls along the road, obstacles, ramps and
wet patches.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

from rlgpt_mujoco_car import vehicle
from rlgpt_mujoco_car.road import Array, Road

TIMESTEP = 0.0025
SUBSTEPS = 20
"""Number of physics steps in one control step, which lasts 0.05 s."""
WALL_HALF_THICKNESS = 0.04
"""Half of a wall's thickness, m."""
MAX_WALL_BEND = 0.25
"""Largest angle by which the road turns along one straight piece of wall, rad."""
WALL_HEIGHT = 0.16
"""Height of the walls above the highest ground of the road, m."""
WALL_GROUP = 2
"""Group of the geoms that the car must not touch for long. The sensor ``walls`` counts the contacts with them."""
RAMP_FOOT_SHARE = 0.2
"""Share of a ramp's length that climbs at half of the ramp's angle."""
GROUND_FRICTION, WET_FRICTION = 1.0, 0.25


@dataclass(frozen=True)
class Box:
    """A rectangle on the ground, which is an obstacle or a wet patch. The attributes of a rectangle are its middle (m),
    half sizes (m) and heading (rad).
    """

    x: float
    y: float
    half_length: float
    half_width: float
    heading: float = 0.0
    colour: str = "0.2 0.3 0.75 1"


@dataclass(frozen=True)
class Scene:
    """The world of one episode.

    :ivar start: the pose of the car at the start, as x, y (m) and heading (rad) of the centre of the rear axle.
    :ivar goal: the pose of the car at the goal, as x, y (m) and heading (rad) of the centre of the rear axle.
    :ivar boxes: the obstacles.
    :ivar wet: the patches of slippery ground, whose friction is :data:`WET_FRICTION`.
    :ivar gravity: the gravity vector, m/s^2. The vector is tilted if the road climbs.
    :ivar ramp: a ramp across the road, given by its start (x, m), its length along the ground (m) and its angle (rad),
        or None.
    :ivar force: the force of the motor, N.
    :ivar closed: whether a wall closes the road at its start, behind the car.
    :ivar plateau: the length of the level ground after the ramp, m.
    :ivar friction: the friction of the ground, as a share of the default friction.
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
    friction: float = 1.0

    @property
    def summit(self) -> float:
        """The height of the plateau in m, or 0 if the scene has no plateau."""
        if self.ramp is None:
            return 0.0
        _, length, angle = self.ramp
        return length * (RAMP_FOOT_SHARE * math.tan(angle / 2) + (1 - RAMP_FOOT_SHARE) * math.tan(angle))


def mjcf(scene: Scene) -> str:
    """The model of a scene as MJCF."""
    walls = [*_walls(scene), *(_obstacle(b) for b in scene.boxes)]
    ground = [*(_wet(b, scene.friction) for b in scene.wet), *(_ramp(scene) if scene.ramp is not None else ())]
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
  <geom name="ground" type="plane" size="60 60 1" material="ground" {_ground_friction(scene)}/>
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
    """Return the corners of the left and of the right wall, ``(M, 2)`` each, m, at the middle of the walls'
    thickness.
    """
    left, right = road.edges()
    corners = _corners(road)
    return left[corners], right[corners]


def _walls(scene: Scene) -> Iterable[str]:
    """Return the walls, which are boxes along both edges of the road. If the road is closed at its start, more boxes
    stand across the start.

    All boxes of walls have the height that the highest box needs, because rays are computed in the plane, without
    heights.
    """
    left, right = wall_corners(scene.road)
    top = scene.summit + WALL_HEIGHT
    for name, edge in (("left", left), ("right", right)):
        yield from (_wall(f"{name}_{i}", a, b, top) for i, (a, b) in enumerate(itertools.pairwise(edge)))
    if scene.closed:
        yield _wall("back", left[0], right[0], top)


def _corners(road: Road) -> list[int]:
    """Return the indices of the points of the centre line between which a wall is straight.

    Between two successive corners the road turns by at most :data:`MAX_WALL_BEND`, unless the two points are
    neighbours.
    """
    corners = [0]
    for i in range(1, len(road.points)):
        turn = abs(road.headings[i] - road.headings[corners[-1]])
        if turn > MAX_WALL_BEND and i - 1 > corners[-1]:
            corners.append(i - 1)
    return [*corners, len(road.points) - 1]


def _wall(name: str, a: Array, b: Array, top: float) -> str:
    middle, (dx, dy) = (a + b) / 2, b - a
    half = math.hypot(dx, dy) / 2 + WALL_HALF_THICKNESS / 2
    return (
        f'<geom class="wall" name="wall_{name}" pos="{middle[0]} {middle[1]} {top / 2}" '
        f'size="{half} {WALL_HALF_THICKNESS} {top / 2}" euler="0 0 {math.atan2(dy, dx)}"/>'
    )


def _obstacle(box: Box) -> str:
    return (
        f'<geom class="wall" pos="{box.x} {box.y} {WALL_HEIGHT / 2}" '
        f'size="{box.half_length} {box.half_width} {WALL_HEIGHT / 2}" '
        f'euler="0 0 {box.heading}" rgba="{box.colour}"/>'
    )


def _ground_friction(scene: Scene) -> str:
    """The friction of the ground in MJCF.

    MuJoCo uses the larger friction of two surfaces in contact, unless one of them has priority. Ground that is more
    slippery than usual gets priority in contacts, so that its small friction counts.
    """
    priority = "" if scene.friction == 1.0 else ' priority="1" condim="4"'
    return f'friction="{GROUND_FRICTION * scene.friction} 0.005 0.0001"{priority}'


def _wet(box: Box, friction: float) -> str:
    # With priority, the patch's friction is used, not the larger one of the two.
    grip = WET_FRICTION * friction
    return (
        f'<geom type="box" pos="{box.x} {box.y} -0.0095" size="{box.half_length} {box.half_width} 0.01" '
        f'euler="0 0 {box.heading}" rgba="0.3 0.5 0.8 1" friction="{grip} 0.005 0.0001" priority="1" '
        'condim="4"/>'
    )


def _ramp(scene: Scene) -> Iterable[str]:
    """Return the boxes of the ramp. The ramp begins with a foot that has half of the ramp's angle and softens the jolt,
    and ends with the plateau.
    """
    assert scene.ramp is not None
    start, length, angle = scene.ramp
    width, thick = scene.road.half_width, 0.05
    foot = RAMP_FOOT_SHARE * length
    x, z = start, 0.0
    for name, part, climb in (("foot", foot, angle / 2), ("ramp", length - foot, angle)):
        rise = part * math.tan(climb)
        middle = (x + part / 2 + thick * math.sin(climb), z + rise / 2 - thick * math.cos(climb))
        yield (
            f'<geom name="{name}" type="box" pos="{middle[0]} 0 {middle[1]}" '
            f'size="{part / math.cos(climb) / 2} {width} {thick}" euler="0 {-climb} 0" rgba="0.6 0.55 0.45 1" '
            f"{_ground_friction(scene)}/>"
        )
        x, z = x + part, z + rise
    yield (
        f'<geom name="plateau" type="box" pos="{x + scene.plateau / 2} 0 {z / 2}" '
        f'size="{scene.plateau / 2} {width} {z / 2}" rgba="0.6 0.55 0.45 1" {_ground_friction(scene)}/>'
    )


def _paint(scene: Scene) -> str:
    """Return the marks on the ground, which are the centre line and the goal."""
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
        f'<geom class="paint" name="goal" pos="{x} {y} {scene.summit + 0.001}" size="{vehicle.BODY_LENGTH / 2 + 0.03} '
        f'{vehicle.BODY_WIDTH / 2 + 0.03} 0.001" euler="0 0 {heading}" rgba="0.3 0.8 0.35 0.6"/>'
    )
    return "".join(lines)
