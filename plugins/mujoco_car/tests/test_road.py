"""Tests of the geometry of roads."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rlgpt_mujoco_car.road import MIN_BEND_RADIUS, SPACING, STRAIGHT_LENGTH, Road, straight, winding

roads = st.builds(
    lambda seed, length: winding(np.random.default_rng(seed), length, 0.5), st.integers(0, 10**6), st.floats(10, 30)
)


@given(roads)
def test_road_points_are_equally_spaced_and_bends_have_the_minimum_radius(road: Road) -> None:
    steps = np.linalg.norm(np.diff(road.points, axis=0), axis=1)
    np.testing.assert_allclose(steps, SPACING, rtol=1e-9)
    assert np.abs(np.diff(road.headings)).max() <= SPACING / MIN_BEND_RADIUS + 1e-9


@given(roads)
def test_a_road_starts_with_a_straight_and_never_turns_back(road: Road) -> None:
    first = round(STRAIGHT_LENGTH / SPACING)
    np.testing.assert_allclose(road.points[: first + 1, 1], 0.0)
    assert np.abs(road.headings).max() <= 1.05 + 1e-9
    assert (np.diff(road.points[:, 0]) > 0).all()


@given(roads, st.floats(0, 1), st.floats(-0.4, 0.4))
def test_a_lateral_offset_moves_a_point_at_a_right_angle_to_the_road(road: Road, share: float, offset: float) -> None:
    point, heading = road.at(share * road.length, offset)
    middle, _ = road.at(share * road.length)
    np.testing.assert_allclose(point - middle, offset * np.array((-np.sin(heading), np.cos(heading))), atol=1e-12)


def test_the_edges_of_a_straight_road_are_one_road_width_apart() -> None:
    left, right = straight(4.0, 0.6).edges()
    np.testing.assert_allclose(left - right, [[0.0, 1.2]] * len(left), atol=1e-12)
