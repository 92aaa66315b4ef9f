"""Resolved-rate inverse kinematics for plugins with a robot arm. The module ``rlgpt.plugin.resolved_rate`` computes one
damped least-squares step within joint limits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def joint_step(
    jacobian: Array,
    error: Array,
    joints: Array,
    lower: Array,
    upper: Array,
    *,
    damping: float,
    bias: Array | None = None,
) -> Array:
    """The joint displacements ``[n]`` (rad) that reduce an error of the robot hand's pose.

    dq = J^T (J J^T + lambda^2 I)^-1 (e - J b) + b (Nakamura and Hanafusa 1986, "Inverse kinematic solutions with
    singularity robustness"; the bias b acts in the null space). Joints that would exceed a limit are locked, and the
    system is solved again for the other joints, at most twice. The returned displacements may still exceed a limit, so
    the caller must clip them.

    :param jacobian: ``[m, n]``, the Jacobian J of the hand's pose with respect to the joints.
    :param error: ``[m]``, the error e of the robot hand's pose. The first three numbers are the translation (m), and
        the next three, if m is 6, are the rotation vector (rad).
    :param joints: ``[n]``, the positions of the joints (rad).
    :param lower: ``[n]``, the lower limits of the joints (rad).
    :param upper: ``[n]``, the upper limits of the joints (rad).
    :param damping: the damping factor lambda.
    :param bias: ``[n]``, the preferred displacements b of the joints (rad). None means zeros.
    """
    step = _solve(jacobian, error, damping, bias)
    free = np.ones(len(joints))
    for _ in range(2):
        after = joints + step
        below, above = after < lower, after > upper
        if not (below.any() or above.any()):
            break
        exceeding = (below & (step < 0)) | (above & (step > 0))
        if not exceeding.any():
            break
        free[exceeding] = 0.0
        step = _solve(jacobian * free, error, damping, None if bias is None else bias * free)
    return step


def _solve(jacobian: Array, error: Array, damping: float, bias: Array | None) -> Array:
    gram = jacobian @ jacobian.T
    gram.flat[:: len(error) + 1] += damping**2
    residual = error if bias is None else error - jacobian @ bias
    step: Array = jacobian.T @ np.linalg.solve(gram, residual)
    return step if bias is None else step + bias
