"""The car as MJCF (MuJoCo's XML). The simulated car is a 1:10 model with Ackermann steering, independent suspension and
rear-wheel drive.

The sizes of the car are those of common 1:10 touring cars (wheelbase 0.26 m, track 0.2 m, tyres 65 mm, 1.6 kg). The car
of the RL-GPT paper was never published; this model is a reconstruction.
"""

from __future__ import annotations

import math

WHEELBASE = 0.26
TRACK = 0.20
WHEEL_RADIUS = 0.0325
TYRE_HALF_WIDTH = 0.013
"""Half width of a tyre, m. The constants above are in m, too."""
BODY_LENGTH, BODY_WIDTH = 0.40, 0.19
"""Length and width of the body, m."""
CHASSIS_MASS, CABIN_MASS, WHEEL_MASS, HUB_MASS = 1.3, 0.1, 0.03, 0.02
"""Masses of chassis, cabin, a wheel and a hub, kg. Each arm has a hub at its end; each front wheel has a
second hub, which steers.
"""
SPRUNG_MASS = CHASSIS_MASS + CABIN_MASS
"""Mass that the springs carry, kg."""
MASS = SPRUNG_MASS + 4 * WHEEL_MASS + 6 * HUB_MASS
"""Mass of the whole car: 1.64 kg."""
MAX_STEER = 0.5
"""Largest steering angle of the virtual wheel at the centre of the front axle, rad."""
MAX_SPEED = 2.5
"""Largest speed, forwards and backwards, m/s."""
MAX_FORCE = 12.0
"""Force of the motor at the tyres, N. A scenario may have a weaker motor."""
STIFFNESS, DAMPING = 500.0, 12.0
"""Stiffness (N/m) and damping (N s/m) of each spring. The car sags by 7 mm and has the damping ratio c /
(2 sqrt(k m)) = 0.45.
"""
SPRING_PRELOAD = 0.00785
"""Compression of each spring when the wheel is at the height of the axle, m. A car at rest stands 1 mm higher."""

TURNING_RADIUS = WHEELBASE / math.tan(MAX_STEER)
"""Turning radius of the centre of the rear axle at the largest steering angle: 0.48 m."""

_WHEEL_SIDES = {"fl": (1, 1), "fr": (1, -1), "rl": (-1, 1), "rr": (-1, -1)}


def ackermann(steer: float) -> tuple[float, float]:
    """Return the angles of the left and the right front wheel (rad) for a virtual centre wheel at the angle ``steer``,
    which is positive to the left.
    """
    if abs(steer) < 1e-6:
        return steer, steer
    radius = WHEELBASE / math.tan(steer)
    return math.atan(WHEELBASE / (radius - TRACK / 2)), math.atan(WHEELBASE / (radius + TRACK / 2))


def body(x: float, y: float, z: float, heading: float) -> str:
    """The car as an MJCF body. The centre of the car's rear axle is above (x, y), and the wheels are on the ground at
    height ``z``.
    """
    half = heading / 2
    wheels = "".join(_wheel(name, *place) for name, place in _WHEEL_SIDES.items())
    # The origin is above the middle of the rear axle, which has no lateral velocity: this keeps the kinematics simple.
    return f"""
<body name="car" pos="{x} {y} {z + WHEEL_RADIUS}" quat="{math.cos(half)} 0 0 {math.sin(half)}">
  <freejoint name="car"/>
  <geom class="car" name="chassis" type="box" pos="{WHEELBASE / 2} 0 0.025" mass="{CHASSIS_MASS}"
    size="{BODY_LENGTH / 2} {BODY_WIDTH / 2} 0.02" rgba="0.85 0.16 0.12 1"/>
  <geom class="car" name="cabin" type="box" pos="{WHEELBASE / 2 - 0.03} 0 0.06" size="0.09 0.075 0.02"
    mass="{CABIN_MASS}" rgba="0.15 0.17 0.2 1"/>
  <site name="imu" pos="0 0 0"/>
  <camera name="chase" pos="-0.9 0 0.65" xyaxes="0 -1 0 0.5 0 0.87"/>
  <camera name="front" pos="{WHEELBASE} 0 0.1" xyaxes="0 -1 0 0.15 0 0.99" fovy="80"/>
  {wheels}
</body>"""


def _wheel(name: str, along: int, side: int) -> str:
    x, y = (WHEELBASE if along > 0 else 0.0), side * TRACK / 2
    tyre = f"""
<body name="wheel_{name}">
  <joint name="spin_{name}" type="hinge" axis="0 1 0" damping="0.0001" armature="0.00002"/>
  <geom class="car" name="tyre_{name}" type="cylinder" size="{WHEEL_RADIUS} {TYRE_HALF_WIDTH}"
    quat="0.70711 0.70711 0 0" mass="{WHEEL_MASS}" friction="1.0 0.005 0.0001" condim="4" rgba="0.1 0.1 0.1 1"/>
</body>"""
    hub = f'<inertial pos="0 0 0" mass="{HUB_MASS}" diaginertia="0.00002 0.00002 0.00002"/>'
    if along > 0:
        tyre = f"""
<body name="hub_{name}">{hub}
  <joint name="steer_{name}" type="hinge" axis="0 0 1" range="-0.75 0.75" damping="0.01" armature="0.0005"/>{tyre}
</body>"""
    return f"""
<body name="arm_{name}" pos="{x} {y} 0">{hub}
  <joint name="spring_{name}" type="slide" axis="0 0 1" range="-0.02 0.02" stiffness="{STIFFNESS}" damping="{DAMPING}"
    springref="{-SPRING_PRELOAD}"/>{tyre}
</body>"""


def actuators(force: float = MAX_FORCE) -> str:
    """Return the car's actuators, which are the motor on the rear axle (an open differential) and the two steering
    servos. ``force`` is the motor's force at the tyres, N.
    """
    top = MAX_SPEED / WHEEL_RADIUS
    torque = force * WHEEL_RADIUS
    return f"""
<tendon><fixed name="drive"><joint joint="spin_rl" coef="0.5"/><joint joint="spin_rr" coef="0.5"/></fixed></tendon>
<actuator>
  <velocity name="motor" tendon="drive" kv="{0.04}" ctrlrange="{-top} {top}" forcerange="{-torque} {torque}"/>
  <position name="servo_l" joint="steer_fl" kp="1.5" kv="0.03" ctrlrange="-0.75 0.75" forcerange="-0.5 0.5"/>
  <position name="servo_r" joint="steer_fr" kp="1.5" kv="0.03" ctrlrange="-0.75 0.75" forcerange="-0.5 0.5"/>
</actuator>"""
