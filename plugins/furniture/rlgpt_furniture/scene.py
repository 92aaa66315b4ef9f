"""Describes the scene as MJCF (MuJoCo's XML), with arm, table, fence and parts."""

from __future__ import annotations

from typing import Any

from rlgpt.plugin.offscreen import make_mujoco_importable

from rlgpt_furniture import panda
from rlgpt_furniture.furniture import Furniture
from rlgpt_furniture.shapes import Meshes

make_mujoco_importable()
import mujoco  # noqa: E402

TIMESTEP = 0.001
SUBSTEPS = 100
"""Number of physics steps in one control step, which lasts 0.1 s (FurnitureBench's 10 Hz)."""
FENCE = (
    ("front", (0.6615, 0.0), (0.01, 0.175)),
    ("left", (0.6065, 0.175), (0.085, 0.01)),
    ("right", (0.6065, -0.175), (0.085, 0.01)),
)
"""FurnitureBench's obstacle (the fence): centre and half sizes on the table, m."""
FENCE_HEIGHT = 0.015
"""Half height of the fence, m."""
SOLREF, SOLIMP = "0.003 1", "0.99 0.9995 0.0005"
"""``solref`` and ``solimp`` of every contact. Parts weigh a few grams, and fingers press with 45 N. The penetration is
proportional to (1 - d) / d for MuJoCo's impedance d. With a constant d of 0.99, the penetration was 0.5 mm, and 2 mm if
the arm pushed.
"""
_COLOURS = ("0.72 0.53 0.33 1", "0.45 0.58 0.7 1", "0.75 0.45 0.4 1", "0.5 0.65 0.45 1", "0.65 0.55 0.7 1")


def mjcf(furniture: Furniture, clearance: float, connectors: bool) -> str:
    """Return the model of a scene.

    :param clearance: the distance between a peg and its hole on all sides, m.
    :param connectors: whether connectors hold the parts; pegs do not collide if connectors hold the parts.
    """
    meshes = Meshes()
    parts = "".join(_part(furniture, i, meshes, clearance, connectors) for i in range(len(furniture.parts)))
    return f"""
<mujoco model="{furniture.name}">
  <compiler angle="radian" autolimits="true" inertiafromgeom="auto"/>
  <option timestep="{TIMESTEP}" integrator="implicitfast" cone="elliptic" impratio="10"/>
  <visual><headlight ambient="0.35 0.35 0.35" diffuse="0.5 0.5 0.5"/><quality offsamples="0"/>
    <map znear="0.005"/></visual>
  <default>
    <geom solref="{SOLREF}" solimp="{SOLIMP}"/>{panda.DEFAULTS}
    <default class="part"><geom contype="4" conaffinity="7" condim="4" friction="0.4 0.005 0.0001"
      rgba="{_COLOURS[0]}"/></default>
    <default class="fence"><geom type="box" contype="1" conaffinity="6" friction="0.4 0.005 0.0001"
      rgba="0.3 0.32 0.36 1"/></default>
  </default>
  <asset>{meshes.assets}</asset>
  <worldbody>
    <light pos="0.4 -0.6 1.6" dir="0 0.35 -1" castshadow="false"/>
    <camera name="front" pos="1.25 0 0.65" xyaxes="0 1 0 -0.6 0 0.8" fovy="45"/>
    <camera name="view" pos="1.2 0.72 0.75" xyaxes="-0.669 0.743 0 -0.335 -0.302 0.892" fovy="38"/>
    <geom name="table" type="plane" size="0.9 0.7 0.1" pos="0.4 0 0" contype="1" conaffinity="6"
      friction="0.4 0.005 0.0001" rgba="0.5 0.53 0.57 1"/>
    {"".join(_fence(*piece) for piece in FENCE)}
    {panda.body()}
    {parts}
  </worldbody>
  {panda.actuators()}
  <equality>
    <joint joint1="left" joint2="right" solref="0.005 1"/>
    {_connectors(furniture) if connectors else ""}
  </equality>
</mujoco>"""


def build(furniture: Furniture, clearance: float, connectors: bool) -> Any:
    """Compile the MuJoCo model of a scene and set the masses of the parts."""
    model = mujoco.MjModel.from_xml_string(mjcf(furniture, clearance, connectors))
    for part in furniture.parts:
        body = model.body(part.name).id
        scale = part.mass / model.body_mass[body]
        model.body_mass[body] *= scale
        model.body_inertia[body] *= scale
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def _fence(name: str, middle: tuple[float, float], half: tuple[float, float]) -> str:
    return (
        f'<geom class="fence" name="fence_{name}" pos="{middle[0]} {middle[1]} {FENCE_HEIGHT}" '
        f'size="{half[0]} {half[1]} {FENCE_HEIGHT}"/>'
    )


def _part(furniture: Furniture, number: int, meshes: Meshes, clearance: float, connectors: bool) -> str:
    part = furniture.parts[number]
    geoms = furniture.geoms(part.name, meshes, clearance, not connectors)
    colour = f'rgba="{_COLOURS[number % len(_COLOURS)]}"'
    geoms = geoms.replace('class="part"', f'class="part" {colour}') if "rgba" not in geoms else geoms
    return f'<body name="{part.name}"><freejoint name="{part.name}"/>{geoms}</body>'


def _connectors(furniture: Furniture) -> str:
    """Return the constraints of connectors. Each joint of the furniture has a weld, and two points that form a hinge.
    All constraints of connectors are inactive until the parts are aligned.
    """
    return "".join(
        f'<connect name="{j.part}_foot" body1="{j.base}" body2="{j.part}" anchor="0 0 0" active="false" '
        f'solref="0.01 1"/><connect name="{j.part}_head" body1="{j.base}" body2="{j.part}" anchor="0 0 0" '
        f'active="false" solref="0.01 1"/><weld name="{j.part}_weld" body1="{j.base}" body2="{j.part}" '
        'active="false" solref="0.01 1"/>'
        for j in furniture.joints
    )
