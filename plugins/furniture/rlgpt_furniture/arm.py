"""Kinematics of the arm, and the law that turns hand motions into joint targets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rlgpt.plugin.offscreen import make_mujoco_importable

from rlgpt_furniture import panda

make_mujoco_importable()
import mujoco  # noqa: E402

Array = NDArray[np.float64]
DAMPING = 0.03
"""lambda of damped least squares (Nakamura and Hanafusa 1986): J^T (J J^T + lambda^2 I)^-1."""
POSTURE = 0.05
"""Share of the way back to the home posture, within the null space, in each step."""
LONGEST = 0.3
"""rad, largest joint step in one control step."""


class Arm:
    """Kinematics on a state of its own: the simulation is never touched."""

    def __init__(self) -> None:
        self.model: Any = mujoco.MjModel.from_xml_string(panda.arm_only())
        self.data: Any = mujoco.MjData(self.model)
        self._site = self.model.site("tcp").id
        self._jacobian = np.zeros((6, self.model.nv))
        self._home = np.array(panda.HOME)
        self.lower, self.upper = np.array(panda.LOWER) + 0.01, np.array(panda.UPPER) - 0.01
        self._damping = DAMPING**2 * np.eye(6)
        self._quaternion, self._vector = np.zeros(4), np.zeros(3)

    def pose(self, joints: Array) -> tuple[Array, Array]:
        """Position (3, m) and rotation matrix (9, row by row) of the point between the finger tips; valid till next."""
        data = self.data
        data.qpos[:7] = joints
        mujoco.mj_kinematics(self.model, data)
        return data.site_xpos[self._site], data.site_xmat[self._site]

    def jacobian(self) -> Array:
        """(6, 7) at the joints of the last :meth:`pose`: translation and rotation in the world; valid till next."""
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_jacSite(self.model, self.data, self._jacobian[:3], self._jacobian[3:], self._site)
        return self._jacobian[:, :7]

    def towards(self, joints: Array, position: Array, rotation: Array) -> Array:
        """The joints (7) one step of resolved-rate control nearer to a pose.

        dq = J^+ e + (I - J^+ J) k (home - q), with J^+ by damped least squares. Joints that would leave their limits
        are locked and the rest solved again.

        :param rotation: (9,) or (3, 3).
        """
        at, turn = self.pose(joints)
        error = np.empty(6)
        np.subtract(position, at, out=error[:3])
        error[3:] = self.turn(rotation, turn)
        jacobian = self.jacobian()
        bias = POSTURE * (self._home - joints)
        step = self._solve(jacobian, error, bias)
        after = joints + step
        if (after < self.lower).any() or (after > self.upper).any():
            step = self._locked(jacobian, error, bias, joints, step)
        longest = max(abs(v) for v in step.tolist())
        if longest > LONGEST:
            step *= LONGEST / longest
        found: Array = np.minimum(np.maximum(joints + step, self.lower), self.upper)
        return found

    def _solve(self, jacobian: Array, error: Array, bias: Array) -> Array:
        solved = np.linalg.solve(jacobian @ jacobian.T + self._damping, error - jacobian @ bias)
        found: Array = jacobian.T @ solved + bias
        return found

    def _locked(self, jacobian: Array, error: Array, bias: Array, joints: Array, step: Array) -> Array:
        """The step (7) with those joints locked that would leave their limits, and go on leaving."""
        free = np.ones(7)
        for _ in range(2):
            after = joints + step
            leaving = ((after < self.lower) & (step < 0)) | ((after > self.upper) & (step > 0))
            if not leaving.any():
                break
            free[leaving] = 0.0
            step = self._solve(jacobian * free, error, bias * free)
        return step

    def turn(self, target: Array, current: Array) -> Array:
        """The rotation vector (3, rad, in the world) that turns ``current`` into ``target``; valid till next."""
        relative = target.reshape(3, 3) @ current.reshape(3, 3).T
        mujoco.mju_mat2Quat(self._quaternion, relative.ravel())
        mujoco.mju_quat2Vel(self._vector, self._quaternion, 1.0)
        return self._vector

    def reach(self, joints: Array, position: Array, rotation: Array, *, steps: int = 60) -> tuple[Array, float, float]:
        """Inverse kinematics from ``joints`` on: joints (7), and what is left, in m and rad."""
        for _ in range(steps):
            joints = self.towards(joints, position, rotation)
            at, turn = self.pose(joints)
            left = math.dist(position, at)
            angle = float(np.linalg.norm(self.turn(rotation, turn)))
            if left < 2e-4 and angle < 2e-3:
                break
        return joints, left, angle


def matrix(quaternion: Array) -> Array:
    """(w, x, y, z) as a rotation matrix (9)."""
    found = np.empty(9)
    mujoco.mju_quat2Mat(found, quaternion)
    return found


def quaternion(rotation: Array) -> Array:
    """A rotation matrix (9) as (w, x, y, z)."""
    found = np.empty(4)
    mujoco.mju_mat2Quat(found, rotation)
    return found
