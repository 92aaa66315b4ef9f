"""Properties of the damped least squares step of joints, compared with closed formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rlgpt.plugin.resolved_rate import joint_step

FREE = np.full(7, np.inf)


def random_problem(seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return a Jacobian of shape (6, 7), an error of shape (6,) and joint positions of shape (7,)."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(6, 7)), rng.normal(size=6), rng.uniform(-0.9, 0.9, 7)


@given(st.integers(0, 10**6))
def test_joint_step_without_limits_is_the_damped_least_squares_solution(seed: int) -> None:
    jacobian, error, joints = random_problem(seed)
    step = joint_step(jacobian, error, joints, -FREE, FREE, damping=0.5)
    ridge = np.linalg.solve(jacobian.T @ jacobian + 0.25 * np.eye(7), jacobian.T @ error)
    np.testing.assert_allclose(step, ridge, atol=1e-9)


@given(st.integers(0, 10**6))
def test_joint_step_bias_acts_in_the_null_space(seed: int) -> None:
    jacobian, error, joints = random_problem(seed)
    bias = np.random.default_rng(seed + 1).normal(size=7)
    step = joint_step(jacobian, error, joints, -FREE, FREE, damping=1e-6, bias=bias)
    plain = joint_step(jacobian, error, joints, -FREE, FREE, damping=1e-6)
    null_space = np.eye(7) - np.linalg.pinv(jacobian) @ jacobian
    np.testing.assert_allclose(jacobian @ step, error, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(step - plain, null_space @ bias, atol=1e-3)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_joint_step_locks_a_joint_at_its_limit_while_other_joints_reach_the_target(side: float) -> None:
    jacobian, error = np.array([[1.0, 1.0]]), np.array([0.2 * side])
    step = joint_step(jacobian, error, np.array([side, 0.0]), -np.ones(2), np.ones(2), damping=1e-6)
    np.testing.assert_allclose(step, [0.0, 0.2 * side], atol=1e-6)


def test_joint_step_may_move_a_joint_beyond_its_limit_back() -> None:
    step = joint_step(np.eye(1), np.array([-0.1]), np.array([1.2]), -np.ones(1), np.ones(1), damping=1e-6)
    np.testing.assert_allclose(step, [-0.1], atol=1e-6)
