"""Vectors and rotations for coded actions. The functions take lists of floats and return new lists of floats.

A vector is a list of numbers of any one length; a quaternion is ``[w, x, y, z]`` of norm 1; angles are radians.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Vector = Sequence[float]


def add(a: Vector, b: Vector) -> list[float]:
    """a + b, element by element."""
    return [x + y for x, y in zip(a, b, strict=True)]


def sub(a: Vector, b: Vector) -> list[float]:
    """a - b, element by element: from b to a."""
    return [x - y for x, y in zip(a, b, strict=True)]


def scale(a: Vector, factor: float) -> list[float]:
    """factor * a."""
    return [factor * x for x in a]


def dot(a: Vector, b: Vector) -> float:
    """Inner product."""
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def cross(a: Vector, b: Vector) -> list[float]:
    """Cross product of two vectors of length 3."""
    (ax, ay, az), (bx, by, bz) = a, b
    return [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]


def norm(a: Vector) -> float:
    """Euclidean length."""
    return math.hypot(*a)


def distance(a: Vector, b: Vector) -> float:
    """norm(a - b)."""
    return math.dist(a, b)


def normalize(a: Vector) -> list[float]:
    """a / norm(a); zeros stay zeros."""
    length = norm(a)
    return [x / length for x in a] if length > 0 else [0.0 for _ in a]


def lerp(a: Vector, b: Vector, t: float) -> list[float]:
    """a + t * (b - a): a at t=0, b at t=1."""
    return [x + t * (y - x) for x, y in zip(a, b, strict=True)]


def clamp(a: Vector, low: float, high: float) -> list[float]:
    """Every element into [low, high]."""
    return [min(max(x, low), high) for x in a]


def limit(a: Vector, length: float) -> list[float]:
    """a, shortened to at most this length."""
    n = norm(a)
    return scale(a, length / n) if n > length else list(a)


def angle(a: Vector, b: Vector) -> float:
    """Angle between two vectors, 0 to pi."""
    u, v = normalize(a), normalize(b)
    return 2 * math.atan2(norm(sub(u, v)), norm(add(u, v)))


def wrap(radians: float) -> float:
    """The same angle in (-pi, pi]."""
    return math.pi - (math.pi - radians) % (2 * math.pi)


def quat(axis: Vector, radians: float) -> list[float]:
    """The rotation by an angle about an axis."""
    s = math.sin(radians / 2)
    return [math.cos(radians / 2), *(s * x for x in normalize(axis))]


def quat_mul(p: Vector, q: Vector) -> list[float]:
    """First q, then p."""
    (a, b, c, d), (w, x, y, z) = p, q
    return [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]


def quat_inv(q: Vector) -> list[float]:
    """The opposite rotation."""
    w, x, y, z = q
    return [w, -x, -y, -z]


def rotate(q: Vector, v: Vector) -> list[float]:
    """The vector v (length 3), rotated by q."""
    w, u = q[0], list(q[1:])
    t = scale(cross(u, v), 2)
    return add(add(v, scale(t, w)), cross(u, t))


def quat_angle(p: Vector, q: Vector) -> float:
    """Angle of the rotation from p to q, 0 to pi."""
    r = quat_mul(q, quat_inv(p))
    return 2 * math.atan2(norm(r[1:]), abs(r[0]))


def slerp(p: Vector, q: Vector, t: float) -> list[float]:
    """The rotation a share t of the shortest way from p to q."""
    r = quat_mul(q, quat_inv(p))
    if r[0] < 0:
        r = scale(r, -1)
    half = math.atan2(norm(r[1:]), r[0])
    return quat_mul(quat(r[1:], 2 * half * t), p)


def quat_from_euler(roll: float, pitch: float, yaw: float) -> list[float]:
    """About the fixed x axis by roll, then y by pitch, then z by yaw."""
    return quat_mul(quat([0, 0, 1], yaw), quat_mul(quat([0, 1, 0], pitch), quat([1, 0, 0], roll)))


def euler(q: Vector) -> list[float]:
    """[roll, pitch, yaw] of a quaternion: the inverse of quat_from_euler."""
    w, x, y, z = q
    return [
        math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
        math.asin(min(1.0, max(-1.0, 2 * (w * y - z * x)))),
        math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
    ]
