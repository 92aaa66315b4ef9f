"""The complete state of a MuJoCo simulation as a flat array, for plugins that use MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgpt.plugin.offscreen import make_mujoco_importable
from rlgpt.plugin.state_data import numbers

make_mujoco_importable()
import mujoco  # noqa: E402

_COMPLETE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def physics_of(model: Any, data: Any) -> NDArray[np.float64]:
    """The state of a simulation as a flat array. The array contains everything on which the result of the next
    ``mj_step`` depends, including the solver's warm start and the controls.
    """
    flat = np.empty(mujoco.mj_stateSize(model, _COMPLETE))
    mujoco.mj_getState(model, data, flat, _COMPLETE)
    return flat


def set_physics(model: Any, data: Any, flat: Any) -> None:
    """Set the simulation to a state from :func:`physics_of`, and compute the derived quantities (poses, contacts,
    sensors).

    :raises StateError: the array ``flat`` is not a state of this model, or contains NaN or infinity.
    """
    complete = numbers(flat, mujoco.mj_stateSize(model, _COMPLETE), "numbers of the simulator")
    mujoco.mj_setState(model, data, complete, _COMPLETE)
    warm_start = data.qacc_warmstart.copy()
    mujoco.mj_forward(model, data)
    data.qacc_warmstart[:] = warm_start  # mj_step writes the warm start, and mj_forward would overwrite it.
