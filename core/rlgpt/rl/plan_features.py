"""Computes the numbers about the plan's code in a policy's observation: the plan's choice, and the low-level action
that the coded action in progress proposes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlgpt.options.calls import has_shape
from rlgpt.options.lane_setup import LaneSetup

PLAN = "plan "
"""Prefix of the name of each number that is 1 if a branch is the plan's choice, else 0."""


class PlanFeatures:
    """Computes the numbers in a policy's observation that describe the plan's code. In ``obs``, they follow the numbers
    of the setup's observation keys.

    For each coded action, the observation has a number that is 1 if this action is the plan's choice, else 0. If a
    decision may interrupt a coded action, more numbers follow. The first of them is 1 while a coded action is in
    progress, else 0. The others are the low-level action that this coded action proposes for the next primitive step
    (one-hot for a Discrete space). They are zeros if there is no proposal, or if the proposal does not fit the action
    space.

    :ivar names: the name of each number.
    """

    def __init__(self, setup: LaneSetup) -> None:
        self._first, self._space = setup.offset, setup.action_space
        self._width = _width(self._space) if setup.interrupt_every is not None else 0
        plan = [f"{PLAN}{action.name}" for action in setup.actions]
        proposal = ["running", *(f"proposal[{i}]" for i in range(self._width))] if self._width else []
        self.names = (*plan, *proposal)

    def build(self, info: Mapping[str, Any], proposal: Any) -> np.ndarray:
        """The numbers about the plan's code, float32, shape ``(len(names),)``.

        :param info: the info dict of the newest reset or step of the lane.
        :param proposal: the low-level action that the coded action in progress proposes, or None.
        """
        numbers = np.zeros(len(self.names), np.float32)
        numbers[info["plan"] - self._first] = 1.0
        if self._width and proposal is not None:
            numbers[-self._width - 1] = 1.0
            if _fits(self._space, proposal):
                numbers[-self._width :] = _numbers(self._space, proposal)
        return numbers


def _width(space: spaces.Space[Any]) -> int:
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, spaces.Tuple):
        return sum(_width(part) for part in space.spaces)
    return int(np.prod(space.shape or ()))


def _fits(space: spaces.Space[Any], value: Any) -> bool:
    if isinstance(space, spaces.Discrete):
        return bool(np.ndim(value) == 0) and 0 <= int(value) - int(space.start) < int(space.n)
    if isinstance(space, spaces.Tuple):
        return isinstance(value, tuple) and len(value) == len(space.spaces) and all(map(_fits, space.spaces, value))
    return has_shape(value, space.shape)


def _numbers(space: spaces.Space[Any], value: Any) -> np.ndarray:
    if isinstance(space, spaces.Discrete):
        chosen = np.zeros(int(space.n), np.float32)
        chosen[int(value) - int(space.start)] = 1.0
        return chosen
    if isinstance(space, spaces.Tuple):
        return np.concatenate([_numbers(part, v) for part, v in zip(space.spaces, value, strict=True)])
    return np.asarray(value, np.float32).reshape(-1)
