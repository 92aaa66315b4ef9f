"""Computes the directions of the lidar's rays.

MineDojo rotates the view direction by ``rotatePitch`` and ``rotateYaw`` of the game's ``Vec3d``, first about the
world's x axis and then about y (``JSONWorldDataHelper.getDirectedRays``). The pitch of a ray therefore raises the ray
if the player faces south, lowers the ray if the player faces north, and has no effect if the player faces east or west.
The yaw turns the ray to the left. MineDojo's observations contain the pitch and yaw of a ray, not the ray's direction.
This module computes a ray's direction by the same two rotations as MineDojo.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DISTANCE = 40.0
"""Length of a ray, m."""

PITCHES = (0.0, 2.0, -2.0, 5.0, -5.0, 10.0, -10.0, 18.0, -18.0, 32.0, -32.0)
YAWS = (0.0, *(sign * 4.0 * i for i in range(1, 13) for sign in (1, -1)))
"""Angles of the rays in degrees. The rays are dense around the horizontal and as wide as a screen of 256 x 160
pixels.
"""

RAYS = tuple((math.radians(pitch), math.radians(yaw), DISTANCE) for pitch in PITCHES for yaw in YAWS)
"""Pitch (radians), yaw (radians) and length (m) of each ray, in the format of MineDojo's ``lidar_rays``."""

CENTRE = 0
"""Index of the ray along the view direction."""

_PITCH, _YAW = (np.array([ray[i] for ray in RAYS]) for i in (0, 1))
_SIN_PITCH, _COS_PITCH, _SIN_YAW, _COS_YAW = np.sin(_PITCH), np.cos(_PITCH), np.sin(_YAW), np.cos(_YAW)


def look_vector(yaw: float, pitch: float) -> tuple[float, float, float]:
    """Return the unit vector of a view direction. ``yaw`` and ``pitch`` are in degrees. As in the game, a positive
    ``pitch`` points downwards.
    """
    a, b = math.radians(yaw), math.radians(pitch)
    return -math.sin(a) * math.cos(b), -math.sin(b), math.cos(a) * math.cos(b)


def directions(yaw: float, pitch: float) -> Array:
    """Return the unit vectors of all rays for a view direction, float64 ``(rays, 3)``, with x east, y up and z
    south.
    """
    x, y, z = look_vector(yaw, pitch)
    lifted = y * _COS_PITCH + z * _SIN_PITCH
    along = z * _COS_PITCH - y * _SIN_PITCH
    return np.stack((x * _COS_YAW + along * _SIN_YAW, lifted, along * _COS_YAW - x * _SIN_YAW), axis=1)


def bearing(vector: Array, yaw: float) -> float:
    """Return the angle from the heading ``yaw`` to a vector, in degrees to the right, in [-180, 180)."""
    heading = math.degrees(math.atan2(-vector[0], vector[2]))
    return (heading - yaw + 180.0) % 360.0 - 180.0


def elevation(vector: Array) -> float:
    """Return the angle of a vector above the horizontal, in degrees, in [-90, 90]."""
    return math.degrees(math.atan2(vector[1], math.hypot(vector[0], vector[2])))
