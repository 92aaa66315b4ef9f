"""Collects the primitive steps of episodes with coded actions, as if the policy had chosen each of them as a base
action.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlgpt.options.lane import Lane
from rlgpt.rl.policy_lane import PolicyFormat


class PrimitiveSteps(NamedTuple):
    """K primitive steps, each in the form of a decision of one base action.

    :ivar observations: the numbers of the setup's observation keys before each step, float32 ``[K, D]``. The numbers
        about the plan's code are left out, because a base-only episode calls no code.
    :ivar following: the same numbers after each step.
    :ivar actions: the flat actions that choose the base actions, float32 ``[K, action_size]``.
    :ivar rewards: the rewards of the steps, float32 ``[K]``.
    :ivar returns: the discounted sums of the rewards of the episode up to each step, float32 ``[K]``.
    :ivar terminated: whether the step led to a terminal state, bool ``[K]``.
    """

    observations: NDArray[np.float32]
    following: NDArray[np.float32]
    actions: NDArray[np.float32]
    rewards: NDArray[np.float32]
    returns: NDArray[np.float32]
    terminated: NDArray[np.bool_]


class PrimitiveLog:
    """The primitive steps of one lane's decision in progress.

    :param gamma: discount per primitive step.
    """

    def __init__(self, form: PolicyFormat, lane: Lane, gamma: float) -> None:
        self._form, self._lane, self._gamma = form, lane, gamma
        self._numbers: list[NDArray[np.float32]] = []
        self._steps: list[tuple[NDArray[np.float32] | None, float, float]] = []
        self._return = 0.0

    def begin(self, collects: bool) -> None:
        """Begin an episode.

        :param collects: whether the primitive steps of the episode are collected.
        """
        self._lane.on_reward = self._add if collects else None
        self._numbers = [self._form.numbers(self._lane)] if collects else []
        self._steps, self._return = [], 0.0

    def take(self, terminated: bool) -> PrimitiveSteps | None:
        """Return the primitive steps since the last call. A step whose low-level action the policy cannot choose as a
        base action is left out. The result is None if no step is left.

        :param terminated: whether the last step led to a terminal state.
        """
        steps, numbers = self._steps, self._numbers
        self._steps, self._numbers = [], numbers[-1:]
        kept = [i for i, (action, _, _) in enumerate(steps) if action is not None]
        if not kept:
            return None
        return PrimitiveSteps(
            np.stack([numbers[i] for i in kept]),
            np.stack([numbers[i + 1] for i in kept]),
            np.stack([action for action, _, _ in steps if action is not None]),
            np.array([steps[i][1] for i in kept], np.float32),
            np.array([steps[i][2] for i in kept], np.float32),
            np.array([terminated and i == len(steps) - 1 for i in kept]),
        )

    def _add(self, low_level: Any, reward: float) -> None:
        self._return = self._return * self._gamma + reward
        self._steps.append((self._form.base_action(low_level), reward, self._return))
        self._numbers.append(self._form.numbers(self._lane))
