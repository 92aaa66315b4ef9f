"""Mathematical laws of ``vec``, the vector module for coded actions."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rlgpt.sandbox.guest import vec

NUMBERS = st.floats(min_value=-100, max_value=100).filter(lambda x: x == 0 or abs(x) > 1e-6)
VECTORS = st.lists(NUMBERS, min_size=3, max_size=3)
AXES = VECTORS.filter(lambda v: vec.norm(v) > 1e-2)
ANGLES = st.floats(min_value=-math.pi, max_value=math.pi)
ROTATIONS = st.builds(vec.quat, AXES, ANGLES)


def near(a: object, tolerance: float = 1e-6) -> object:
    return pytest.approx(a, abs=tolerance, rel=1e-9)


@given(VECTORS, VECTORS, st.floats(min_value=-2, max_value=2))
def test_vec_add_sub_lerp_distance_and_dot_are_consistent(a: list[float], b: list[float], t: float) -> None:
    assert vec.add(vec.sub(a, b), b) == near(a)
    assert vec.lerp(a, b, t) == near(vec.add(a, vec.scale(vec.sub(b, a), t)))
    assert vec.distance(a, b) == near(vec.norm(vec.sub(a, b)))
    assert vec.dot(a, a) == near(vec.norm(a) ** 2)


@given(VECTORS, VECTORS)
def test_cross_product_is_at_right_angles_to_both_vectors(a: list[float], b: list[float]) -> None:
    c = vec.cross(a, b)
    assert [vec.dot(c, a), vec.dot(c, b)] == near([0.0, 0.0], 1e-6 * (1 + vec.norm(a) + vec.norm(b)) ** 3)
    # Lagrange's identity.
    assert vec.dot(c, c) == pytest.approx(vec.dot(a, a) * vec.dot(b, b) - vec.dot(a, b) ** 2, rel=1e-6, abs=1e-3)


@given(AXES)
def test_normalized_vectors_have_length_one(a: list[float]) -> None:
    assert vec.norm(vec.normalize(a)) == near(1.0)
    assert vec.angle(a, a) == near(0.0)
    assert vec.angle(a, vec.scale(a, -2)) == near(math.pi)
    assert vec.normalize([0, 0, 0]) == [0, 0, 0]


@given(VECTORS, st.floats(min_value=0, max_value=50))
def test_vec_limit_and_clamp_keep_their_bounds(a: list[float], bound: float) -> None:
    assert vec.norm(vec.limit(a, bound)) <= bound * (1 + 1e-12) + 1e-300
    assert all(-bound <= x <= bound for x in vec.clamp(a, -bound, bound))


@given(st.floats(min_value=-1000, max_value=1000))
def test_vec_wrap_keeps_the_direction_of_an_angle(angle: float) -> None:
    wrapped = vec.wrap(angle)
    assert -math.pi < wrapped <= math.pi
    assert [math.cos(wrapped), math.sin(wrapped)] == near([math.cos(angle), math.sin(angle)])


def test_a_quarter_turn_rotates_an_axis_onto_the_next() -> None:
    q = vec.quat([0, 0, 2], math.pi / 2)
    assert vec.rotate(q, [1, 0, 0]) == near([0, 1, 0])
    assert vec.rotate(vec.quat_mul(vec.quat([1, 0, 0], math.pi / 2), q), [1, 0, 0]) == near([0, 0, 1])


@given(ROTATIONS, ROTATIONS, VECTORS)
def test_rotations_compose_invert_and_keep_lengths(p: list[float], q: list[float], v: list[float]) -> None:
    assert vec.norm(vec.rotate(p, v)) == near(vec.norm(v))
    assert vec.rotate(vec.quat_mul(p, q), v) == near(vec.rotate(p, vec.rotate(q, v)))
    assert vec.rotate(vec.quat_inv(p), vec.rotate(p, v)) == near(v)


@given(AXES, ANGLES)
def test_quat_angle_is_the_angle_of_the_rotation(axis: list[float], angle: float) -> None:
    assert vec.quat_angle([1, 0, 0, 0], vec.quat(axis, angle)) == near(abs(angle))


@given(ROTATIONS, ROTATIONS, st.floats(min_value=0, max_value=1))
def test_vec_slerp_divides_the_angle_between_two_rotations(p: list[float], q: list[float], t: float) -> None:
    whole = vec.quat_angle(p, q)
    assume(whole < math.pi - 1e-3)
    between = vec.slerp(p, q, t)
    assert vec.quat_angle(p, between) == near(t * whole)
    assert vec.quat_angle(between, q) == near((1 - t) * whole)


@given(ANGLES, st.floats(min_value=-1.5, max_value=1.5), ANGLES)
def test_quaternion_is_unchanged_after_conversion_to_euler_angles_and_back(
    roll: float, pitch: float, yaw: float
) -> None:
    q = vec.quat_from_euler(roll, pitch, yaw)
    assert vec.quat_angle(q, vec.quat_from_euler(*vec.euler(q))) == near(0.0)


def test_vec_add_refuses_vectors_of_different_lengths() -> None:
    with pytest.raises(ValueError, match="longer than argument 1"):
        vec.add([1, 2], [1, 2, 3])
