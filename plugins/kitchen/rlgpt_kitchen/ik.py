"""Computes the resolved-rate inverse kinematics of the arm, with one damped least squares solution for each control
step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rlgpt.plugin.offscreen import make_mujoco_importable
from rlgpt.plugin.resolved_rate import joint_step

make_mujoco_importable()

import mujoco  # noqa: E402

Array = NDArray[np.float64]

JOINTS = 7
DAMPING = 0.05
"""Damping lambda of :func:`rlgpt.plugin.resolved_rate.joint_step`."""
LIMIT_MARGIN = 0.02
"""Minimal distance of the joints from their limits, rad."""


@dataclass(frozen=True)
class Pose:
    """Holds the pose of the hand and the state of the arm, computed from one observation.

    :ivar position: the position of the site ``end_effector`` in the world, m (3).
    :ivar rotation: the rotation of the site ``end_effector`` in the world (3, 3).
    :ivar jacobian: the Jacobian (6, 7) of the site ``end_effector`` with respect to the 7 joints, in the world; its
        rows are first the translation and then the rotation.
    :ivar joints: the joint positions, rad (7).
    :ivar gravity: the torques that hold the arm against gravity, N m (7).
    """

    position: Array
    rotation: Array
    jacobian: Array
    joints: Array
    gravity: Array


class Arm:
    """Computes the kinematics of the arm on a copy of the simulator's state, so that the simulation does not change."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.scratch = mujoco.MjData(model)
        self.site = model.site("end_effector").id
        self.lower, self.upper = model.jnt_range[:JOINTS, 0] + LIMIT_MARGIN, model.jnt_range[:JOINTS, 1] - LIMIT_MARGIN
        self._jacobian = np.zeros((6, model.nv))
        self._bias = np.zeros(model.nv)

    def solve(self, observed: Array) -> Pose:
        """Return the pose of the hand for an observed ``qpos`` (30)."""
        data, model = self.scratch, self.model
        data.qpos[:] = observed
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_jacSite(model, data, self._jacobian[:3], self._jacobian[3:], self.site)
        mujoco.mj_rne(model, data, 0, self._bias)
        return Pose(
            position=data.site_xpos[self.site].copy(),
            rotation=data.site_xmat[self.site].reshape(3, 3).copy(),
            jacobian=self._jacobian[:, :JOINTS].copy(),
            joints=data.qpos[:JOINTS].copy(),
            gravity=self._bias[:JOINTS].copy(),
        )

    def joint_step(self, pose: Pose, twist: Array) -> Array:
        """Return the joint displacements (7, rad) for a small displacement of the hand.

        :param twist: the displacement of the hand in the world, which is (3,) for a translation in m, or (6,) for a
            translation and a rotation vector in rad.
        """
        step = joint_step(pose.jacobian[: len(twist)], twist, pose.joints, self.lower, self.upper, damping=DAMPING)
        return np.clip(step, np.minimum(self.lower - pose.joints, 0), np.maximum(self.upper - pose.joints, 0))


def rotation_vector(target: Array, current: Array) -> Array:
    """The rotation vector (3, rad, in the world) that turns ``current`` into ``target``."""
    quaternion, vector = np.zeros(4), np.zeros(3)
    mujoco.mju_mat2Quat(quaternion, (target @ current.T).ravel())
    mujoco.mju_quat2Vel(vector, quaternion, 1.0)
    return vector


_FORWARD = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
"""Rotation of the site for roll = pitch = yaw = 0: the hand points along +y, the fingers open along x,
and its back is up.
"""


def rotation_of(angles: Array) -> Array:
    """Return the rotation matrix (3, 3) of the site ``end_effector`` for (roll, pitch, yaw), rad. The rotation matrix
    is Rz(yaw) Rx(pitch) Ry(roll), applied to a hand that points along +y.

    Yaw turns the hand's pointing direction to the left, pitch turns it up, and roll turns the hand about it.
    """
    (sr, sp, sy), (cr, cp, cy) = np.sin(angles), np.cos(angles)
    roll = np.array([[cr, 0, sr], [0, 1, 0], [-sr, 0, cr]])
    pitch = np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
    yaw = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return yaw @ pitch @ roll @ _FORWARD  # type: ignore[no-any-return]


def angles_of(rotation: Array) -> Array:
    """Return (roll, pitch, yaw) of a rotation of the site ``end_effector``, which is the inverse of :func:`rotation_of`
    for \\|pitch\\| < pi / 2.
    """
    r = rotation @ _FORWARD.T
    return np.array([np.arctan2(-r[2, 0], r[2, 2]), np.arcsin(np.clip(r[2, 1], -1, 1)), np.arctan2(-r[0, 1], r[1, 1])])
