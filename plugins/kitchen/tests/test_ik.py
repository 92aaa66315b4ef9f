"""Kinematics of the kitchen arm, compared with closed formulas and finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from rlgpt_kitchen.ik import JOINTS, Arm, angles_of, rotation_of, rotation_vector
from rlgpt_kitchen.plugin import KitchenPlugin


@pytest.fixture(scope="module")
def arm() -> Any:
    plugin = KitchenPlugin()
    env: Any = plugin.make_env(plugin.tasks()["kitchen/kettle"], seed=0)
    yield Arm(env.base.model), env.base.robot_env.init_qpos.copy()
    env.close()


_angles = st.tuples(st.floats(-3, 3), st.floats(-1.5, 1.5), st.floats(-3, 3)).map(np.array)


@given(_angles)
def test_angles_of_a_rotation_matrix_equal_the_angles_that_made_the_matrix(angles: Any) -> None:
    rotation = rotation_of(angles)
    assert np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    assert np.isclose(np.linalg.det(rotation), 1.0)
    assert np.allclose(angles_of(rotation), angles, atol=1e-7)


def test_rotation_of_angles_turns_the_hand_in_the_documented_directions() -> None:
    pointing = [rotation_of(np.array(a))[:, 2] for a in ((0, 0, 0), (0, 0, 0.5), (0, 0.5, 0), (1.5, 0, 0))]
    assert np.allclose(pointing[0], [0, 1, 0])
    assert pointing[1][0] < -0.4, "yaw turns to the left"
    assert pointing[2][2] > 0.4, "pitch turns up"
    assert np.allclose(pointing[3], [0, 1, 0])
    assert np.allclose(np.abs(rotation_of(np.array([np.pi / 2, 0, 0]))[:, 1]), [0, 0, 1]), "fingers one above the other"


@given(_angles, hnp.arrays(float, 3, elements=st.floats(-1, 1)))
def test_rotation_vector_turns_the_current_rotation_into_the_target(angles: Any, vector: Any) -> None:
    current = rotation_of(angles)
    angle = float(np.linalg.norm(vector))
    k = np.cross(np.eye(3), vector / angle) if angle > 1e-6 else np.zeros((3, 3))
    turn = np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k
    assert np.allclose(rotation_vector(turn @ current, current), vector, atol=1e-5)


def test_kitchen_arm_jacobian_equals_finite_differences(arm: Any) -> None:
    solver, start = arm
    for seed in range(5):
        here = start.copy()
        here[:JOINTS] += np.random.default_rng(seed).uniform(-0.3, 0.3, JOINTS)
        pose = solver.solve(here)
        for j in range(JOINTS):
            there = here.copy()
            there[j] += 1e-6
            moved = solver.solve(there)
            assert np.allclose((moved.position - pose.position) / 1e-6, pose.jacobian[:3, j], atol=1e-4)
            turn = rotation_vector(moved.rotation, pose.rotation) / 1e-6
            assert np.allclose(turn, pose.jacobian[3:, j], atol=1e-3)


@given(hnp.arrays(float, 6, elements=st.floats(-0.1, 0.1)), st.integers(0, 1000))
def test_kitchen_arm_joint_step_keeps_the_joint_limits(arm: Any, twist: Any, seed: int) -> None:
    solver, start = arm
    qpos = start.copy()
    qpos[:JOINTS] = np.random.default_rng(seed).uniform(solver.lower, solver.upper)
    step = solver.joint_step(solver.solve(qpos), twist)
    assert np.all(qpos[:JOINTS] + step <= solver.upper + 1e-9)
    assert np.all(qpos[:JOINTS] + step >= solver.lower - 1e-9)


def test_kitchen_arm_joint_step_moves_the_hand_by_the_displacement(arm: Any) -> None:
    solver, start = arm
    qpos = start.copy()
    qpos[:JOINTS] = (0.1, -1.2, 1.6, -2.3, 0.4, 1.0, 1.5)
    pose = solver.solve(qpos)
    for axis in np.eye(3):
        moved = qpos.copy()
        moved[:JOINTS] += solver.joint_step(pose, 0.01 * axis)
        assert np.allclose(solver.solve(moved).position - pose.position, 0.01 * axis, atol=1.5e-3)
