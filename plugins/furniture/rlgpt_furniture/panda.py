"""Describes the Panda arm as MJCF (MuJoCo's XML), with the manufacturer's kinematics and limits, and shapes of capsules
and boxes.

The kinematics and joint limits of the arm are those of the Franka Control Interface's documentation (Denavit-Hartenberg
parameters, "Robot and interface specifications"). Link masses are those of Gaz and others, 2019 (Dynamic identification
of the Franka Emika Panda robot). Inertia tensors are those of the shapes. The model of the arm contains no file of
other models.
"""

from __future__ import annotations

JOINTS = 7
BASE_HEIGHT = 0.015
"""Height of the underside of the base above the table (FurnitureBench's bench clamp), m."""
TCP = 0.1034
"""Distance from the frame of the hand to the point between the finger tips, m."""
HOME = (-0.0263, 0.3759, 0.1249, -2.1383, -0.0943, 2.4965, 0.7854)
"""Joint positions at reset, rad. The positions are FurnitureBench's, except for the last joint, with which the fingers
open along y.
"""
LOWER_LIMITS = (-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973)
UPPER_LIMITS = (2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973)
STIFFNESS = (600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 100.0)
"""Stiffness of the joints, N m / rad: the joint impedance of libfranka's example, with the last value doubled."""
DAMPING = (50.0, 50.0, 50.0, 50.0, 30.0, 25.0, 15.0)
MAX_TORQUE = (87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0)
"""Torque limits of the joints, N m."""
FINGER_TRAVEL = 0.04
"""Range of each finger, m."""
GRIP_STIFFNESS = 3000.0
"""Stiffness of each finger's servo, N / m. The servo presses with 45 N on a part that is 0.03 m wide."""
MAX_GRIP_FORCE = 60.0

_HALF = 0.70710678
_X_BACK, _X_FORTH = f"{_HALF} {-_HALF} 0 0", f"{_HALF} {_HALF} 0 0"
# name, position, quaternion, mass, shapes: (from, to, radius) of capsules in the link's frame, m
_LINKS: tuple[tuple[str, str, str, float, tuple[tuple[tuple[float, ...], tuple[float, ...], float], ...]], ...] = (
    (
        "link1",
        "0 0 0.333",
        "1 0 0 0",
        4.97,
        (((0, 0, -0.20), (0, 0, -0.08), 0.062), ((0, -0.05, 0), (0, 0.03, 0), 0.066)),
    ),
    ("link2", "0 0 0", _X_BACK, 0.65, (((0, 0, 0.03), (0, 0, 0.05), 0.066), ((0, -0.06, 0), (0, -0.20, 0), 0.062))),
    (
        "link3",
        "0 -0.316 0",
        _X_FORTH,
        3.23,
        (((0, 0, -0.08), (0, 0, -0.06), 0.06), ((0.0825, -0.03, 0), (0.0825, 0.05, 0), 0.06)),
    ),
    (
        "link4",
        "0.0825 0 0",
        _X_FORTH,
        3.59,
        (((0, 0, -0.01), (0, 0, 0.05), 0.06), ((-0.0825, 0.06, 0), (-0.0825, 0.11, 0), 0.06)),
    ),
    (
        "link5",
        "-0.0825 0.384 0",
        _X_BACK,
        1.23,
        (((0, 0, -0.26), (0, 0, -0.22), 0.058), ((0, 0.06, -0.20), (0, 0.06, -0.02), 0.034)),
    ),
    ("link6", "0 0 0", _X_FORTH, 1.67, (((0, 0, -0.05), (0, 0, 0.03), 0.05), ((0.03, 0, 0), (0.088, 0, 0), 0.045))),
    ("link7", "0.088 0 0", _X_FORTH, 0.74, (((0, 0, 0.0), (0, 0, 0.062), 0.044),)),
)

DEFAULTS = """
<default class="arm">
  <joint type="hinge" axis="0 0 1" armature="0.1" damping="0.5"/>
  <geom contype="2" conaffinity="5" friction="0.8 0.005 0.0001" rgba="0.93 0.94 0.95 1"/>
</default>
<default class="finger">
  <joint type="slide" axis="0 1 0" range="0 0.04" armature="0.1" damping="20"/>
  <geom type="box" contype="2" conaffinity="5" condim="4" friction="2 0.05 0.0001" priority="1"
        rgba="0.25 0.26 0.28 1"/>
</default>
"""

_HAND = f"""
<geom class="arm" type="cylinder" fromto="0 0 0.06 0 0 0.107" size="0.04" mass="0.1" rgba="0.7 0.72 0.75 1"/>
<body name="hand" pos="0 0 0.107" quat="0.92387953 0 0 -0.38268343" gravcomp="1">
  <geom class="arm" name="palm" type="box" pos="0 0 0.033" size="0.0316 0.1025 0.0325" mass="0.73"/>
  <site name="tcp" pos="0 0 {TCP}" size="0.004" rgba="1 0 0 0"/>
  <camera name="wrist" pos="0.06 0 0.02" xyaxes="0 -1 0 0.95 0 0.3" fovy="75"/>
  <body name="left_finger" pos="0 0 0.0584" gravcomp="1">
    <joint name="left" class="finger"/>
    <geom class="finger" pos="0 0.0165 0.018" size="0.0095 0.0085 0.018" mass="0.01" rgba="0.85 0.86 0.88 1"/>
    <geom class="finger" name="left_pad" pos="0 0.0065 0.0445" size="0.0105 0.0065 0.0095" mass="0.01"/>
  </body>
  <body name="right_finger" pos="0 0 0.0584" quat="0 0 0 1" gravcomp="1">
    <joint name="right" class="finger"/>
    <geom class="finger" pos="0 0.0165 0.018" size="0.0095 0.0085 0.018" mass="0.01" rgba="0.85 0.86 0.88 1"/>
    <geom class="finger" name="right_pad" pos="0 0.0065 0.0445" size="0.0105 0.0065 0.0095" mass="0.01"/>
  </body>
</body>
"""


def body() -> str:
    """Return the arm on its base at the world's origin, with the x axis forwards. The arm has MuJoCo's contype 2 and
    collides with table (contype 1) and parts (contype 4).
    """
    text = _HAND
    for number, (name, place, turn, mass, capsules) in reversed(list(enumerate(_LINKS))):
        shapes = "".join(_capsule(a, b, r, mass / len(capsules), number) for a, b, r in capsules)
        joint = f'<joint class="arm" name="joint{number + 1}" range="{LOWER_LIMITS[number]} {UPPER_LIMITS[number]}"/>'
        text = f'<body name="{name}" pos="{place}" quat="{turn}" gravcomp="1">{joint}{shapes}{text}</body>'
    base = (
        '<geom class="arm" type="cylinder" fromto="0 0 0 0 0 0.15" size="0.07"/>'
        '<geom class="arm" type="box" pos="-0.06 0 0.04" size="0.08 0.07 0.04"/>'
    )
    return f'<body name="base" pos="0 0 {BASE_HEIGHT}">{base}{text}</body>'


def _capsule(a: tuple[float, ...], b: tuple[float, ...], radius: float, mass: float, number: int) -> str:
    ends = " ".join(map(str, (*a, *b)))
    shade = "0.93 0.94 0.95 1" if number % 2 else "0.86 0.88 0.9 1"
    return f'<geom class="arm" type="capsule" fromto="{ends}" size="{radius}" mass="{mass}" rgba="{shade}"/>'


def actuators() -> str:
    """Return the actuators, which are position servos of the seven joints (rad) and of the two fingers (m)."""
    arm = "".join(
        f'<general joint="joint{i + 1}" gaintype="fixed" gainprm="{k}" biastype="affine" biasprm="0 {-k} {-d}" '
        f'ctrllimited="true" ctrlrange="{low} {high}" forcelimited="true" forcerange="{-t} {t}"/>'
        for i, (k, d, t, low, high) in enumerate(
            zip(STIFFNESS, DAMPING, MAX_TORQUE, LOWER_LIMITS, UPPER_LIMITS, strict=True)
        )
    )
    fingers = "".join(
        f'<general joint="{side}" gaintype="fixed" gainprm="{GRIP_STIFFNESS}" biastype="affine" '
        f'biasprm="0 {-GRIP_STIFFNESS} -60" ctrllimited="true" ctrlrange="0 {FINGER_TRAVEL}" forcelimited="true" '
        f'forcerange="{-MAX_GRIP_FORCE} {MAX_GRIP_FORCE}"/>'
        for side in ("left", "right")
    )
    return f"<actuator>{arm}{fingers}</actuator>"


def arm_only() -> str:
    """Return a model that contains only the arm (the first nine joints of the scene), for kinematics."""
    return (
        f'<mujoco><compiler angle="radian" autolimits="true"/><default>{DEFAULTS}</default>'
        f"<worldbody>{body()}</worldbody></mujoco>"
    )
