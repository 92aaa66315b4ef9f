"""Computes the pose of the hand from the joints of the arm, and resolved-rate steps of the joints towards a pose of the
hand.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rlgpt.plugin.offscreen import make_mujoco_importable
from rlgpt.plugin.resolved_rate import joint_step

from rlgpt_furniture import panda

make_mujoco_importable()
import mujoco  # noqa: E402

Array = NDArray[np.float64]
DAMPING = 0.03
"""Damping lambda of :func:`rlgpt.plugin.resolved_rate.joint_step`."""
POSTURE_GAIN = 0.05
"""Share of the distance to the home posture that each step covers within the null space."""
MAX_JOINT_STEP = 0.3
"""Largest displacement of a joint in one control step, rad."""


class Arm:
    """Computes the kinematics of the arm on a copy of the simulator's state, so that the simulation does not change."""

    def __init__(self) -> None:
        self.model: Any = mujoco.MjModel.from_xml_string(panda.arm_only())
        self.data: Any = mujoco.MjData(self.model)
        self._site = self.model.site("tcp").id
        self._jacobian = np.zeros((6, self.model.nv))
        self._home = np.array(panda.HOME)
        self.lower, self.upper = np.array(panda.LOWER_LIMITS) + 0.01, np.array(panda.UPPER_LIMITS) - 0.01
        self._quaternion, self._vector = np.zeros(4), np.zeros(3)

    def pose(self, joints: Array) -> tuple[Array, Array]:
        """Return the position (3, m) and the rotation matrix (9, row by row) of the point between the finger tips.

        The next call overwrites both arrays.
        """
        data = self.data
        data.qpos[:7] = joints
        mujoco.mj_kinematics(self.model, data)
        return data.site_xpos[self._site], data.site_xmat[self._site]

    def jacobian(self) -> Array:
        """Return the Jacobian (6, 7) at the joints of the last call of :meth:`pose`. The first three rows of the
        Jacobian are the translation, and the last three rows are the rotation, in world coordinates.

        The next call of ``jacobian`` overwrites the returned array.
        """
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_jacSite(self.model, self.data, self._jacobian[:3], self._jacobian[3:], self._site)
        return self._jacobian[:, :7]

    def towards(self, joints: Array, position: Array, rotation: Array) -> Array:
        """Compute one step of resolved-rate control from ``joints`` (7, rad) towards a pose of the hand.

        The step is a step of :func:`rlgpt.plugin.resolved_rate.joint_step`, whose bias is a share of the distance to
        the home posture.

        :param position: (3,), m.
        :param rotation: (9,) or (3, 3).
        :returns: the joints after the step (7, rad).
        """
        at, turn = self.pose(joints)
        error = np.empty(6)
        np.subtract(position, at, out=error[:3])
        error[3:] = self.rotation_vector(rotation, turn)
        bias = POSTURE_GAIN * (self._home - joints)
        step = joint_step(self.jacobian(), error, joints, self.lower, self.upper, damping=DAMPING, bias=bias)
        longest = max(abs(v) for v in step.tolist())
        if longest > MAX_JOINT_STEP:
            step *= MAX_JOINT_STEP / longest
        stepped: Array = np.minimum(np.maximum(joints + step, self.lower), self.upper)
        return stepped

    def rotation_vector(self, target: Array, current: Array) -> Array:
        """Return the rotation vector (3, rad, in the world) that turns ``current`` into ``target``.

        The next call of ``rotation_vector`` overwrites the returned array.
        """
        relative = target.reshape(3, 3) @ current.reshape(3, 3).T
        mujoco.mju_mat2Quat(self._quaternion, relative.ravel())
        mujoco.mju_quat2Vel(self._vector, self._quaternion, 1.0)
        return self._vector

    def reach(self, joints: Array, position: Array, rotation: Array, *, steps: int = 60) -> tuple[Array, float, float]:
        """Compute the inverse kinematics for a pose of the hand, starting from ``joints``.

        :returns: the joints (7, rad), and the remaining errors of position (m) and rotation (rad).
        """
        for _ in range(steps):
            joints = self.towards(joints, position, rotation)
            at, turn = self.pose(joints)
            left = math.dist(position, at)
            angle = float(np.linalg.norm(self.rotation_vector(rotation, turn)))
            if left < 2e-4 and angle < 2e-3:
                break
        return joints, left, angle


def matrix(quaternion: Array) -> Array:
    """The rotation matrix (9) of a quaternion (w, x, y, z)."""
    flat = np.empty(9)
    mujoco.mju_quat2Mat(flat, quaternion)
    return flat


def quaternion(rotation: Array) -> Array:
    """The quaternion (w, x, y, z) of a rotation matrix (9)."""
    wxyz = np.empty(4)
    mujoco.mju_mat2Quat(wxyz, rotation)
    return wxyz
