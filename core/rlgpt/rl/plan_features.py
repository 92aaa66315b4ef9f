"""What a policy observes of the plan's code: its next choice, and the action that it proposes now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlgpt.options import ExtendedEnv

PLAN = "plan "
"""Begins the name of the number that is 1 if the plan's code would choose a branch, else 0."""


class PlanFeatures:
    """Numbers that follow those of the setup's observation keys.

    For each coded action, 1 if the plan's code would choose it now. If a decision may interrupt an action, also 1 while
    one is in progress, and what it proposes for the next primitive step: one-hot for a Discrete, else its numbers.
    These are zeros without a proposal, and where primitives yield actions of another form than the action space's.

    :ivar names: one for each number.
    """

    def __init__(self, env: ExtendedEnv) -> None:
        self._env = env
        self._first = len(env.layout.branches) - len(env.actions)
        self._space = env.env.action_space
        self._width = _width(self._space) if env.interrupt_every is not None else 0
        plan = [f"{PLAN}{action.name}" for action in env.actions]
        proposal = ["running", *(f"proposal[{i}]" for i in range(self._width))] if self._width else []
        self.names = (*plan, *proposal)

    def build(self, info: Mapping[str, Any]) -> np.ndarray:
        """float32, shape ``(len(names),)``.

        :param info: of the newest reset or step of the extended environment.
        """
        numbers = np.zeros(len(self.names), np.float32)
        numbers[info["plan"] - self._first] = 1.0
        if self._width and (proposal := self._env.proposal) is not None:
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
    return bool(np.shape(value) == space.shape)


def _numbers(space: spaces.Space[Any], value: Any) -> np.ndarray:
    if isinstance(space, spaces.Discrete):
        chosen = np.zeros(int(space.n), np.float32)
        chosen[int(value) - int(space.start)] = 1.0
        return chosen
    if isinstance(space, spaces.Tuple):
        return np.concatenate([_numbers(part, v) for part, v in zip(space.spaces, value, strict=True)])
    return np.asarray(value, np.float32).reshape(-1)
