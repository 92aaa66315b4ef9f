"""The lidar's rays: which are asked for, and where they go.

MineDojo turns a ray from the look by ``rotatePitch`` and ``rotateYaw`` of the game's ``Vec3d``: about the world's x
axis first, then about y (``JSONWorldDataHelper.getDirectedRays``). So a ray's pitch lifts it where the look goes south,
lowers it where it goes north, and does nothing where it goes east or west; its yaw turns it to the left. Observations
name a ray's own pitch and yaw, not where it went: what it hit is found by the same two turns here.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DISTANCE = 40.0
"""Metres that a ray goes."""

PITCHES = (0.0, 2.0, -2.0, 5.0, -5.0, 10.0, -10.0, 18.0, -18.0, 32.0, -32.0)
YAWS = (0.0, *(sign * 4.0 * i for i in range(1, 13) for sign in (1, -1)))
"""Degrees: dense about the level, and to the left and right as wide as a screen of 256 x 160 pixels shows."""

RAYS = tuple((math.radians(pitch), math.radians(yaw), DISTANCE) for pitch in PITCHES for yaw in YAWS)
"""Pitch and yaw in radians and length in metres of each, as MineDojo's ``lidar_rays`` takes them."""

CENTRE = 0
"""Which of them is the look itself."""

_PITCH, _YAW = (np.array([ray[i] for ray in RAYS]) for i in (0, 1))
_SIN_PITCH, _COS_PITCH, _SIN_YAW, _COS_YAW = np.sin(_PITCH), np.cos(_PITCH), np.sin(_YAW), np.cos(_YAW)


def look_vector(yaw: float, pitch: float) -> tuple[float, float, float]:
    """The unit vector of a look. ``yaw`` and ``pitch`` in degrees, as the game has them (pitch: down is positive)."""
    a, b = math.radians(yaw), math.radians(pitch)
    return -math.sin(a) * math.cos(b), -math.sin(b), math.cos(a) * math.cos(b)


def directions(yaw: float, pitch: float) -> Array:
    """Unit vectors of all rays for a look: float64 ``(rays, 3)``; x east, y up, z south."""
    x, y, z = look_vector(yaw, pitch)
    lifted = y * _COS_PITCH + z * _SIN_PITCH
    along = z * _COS_PITCH - y * _SIN_PITCH
    return np.stack((x * _COS_YAW + along * _SIN_YAW, lifted, along * _COS_YAW - x * _SIN_YAW), axis=1)


def bearing(vector: Array, yaw: float) -> float:
    """Degrees from the look's heading to a vector's, to the right, within [-180, 180)."""
    heading = math.degrees(math.atan2(-vector[0], vector[2]))
    return (heading - yaw + 180.0) % 360.0 - 180.0


def elevation(vector: Array) -> float:
    """Degrees of a vector above the level, within [-90, 90]."""
    return math.degrees(math.atan2(vector[1], math.hypot(vector[0], vector[2])))
