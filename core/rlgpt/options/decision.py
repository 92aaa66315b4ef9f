"""The state of one decision while the environment takes the primitive steps of this decision. A *decision* is one
choice of the policy; a *primitive step* is one step of the base environment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gymnasium

OnStep = Callable[[gymnasium.Env[Any, Any], int], None]
"""A function that is called after each reset and each primitive step, with the base environment and the number of
primitive steps of the episode (0 after a reset). The number is -1 for a step that only leads to the start of an episode
of a sub-goal.
"""

_NUMBERS = {"duration", "primitive_steps", "total_reward", "reward_terms"}
OWN_KEYS = frozenset({"action", "ended", "verdicts", "decision", "predicates", "plan", "running"} | _NUMBERS)
"""The keys of ``info`` that only rlgpt writes. If the base environment uses such a key, its value is dropped."""


class Decided(NamedTuple):
    """The result of a decision, as ``step`` of :class:`rlgpt.options.env.ExtendedEnv` returns it."""

    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


@dataclass
class DecisionState:
    """The results of one decision's primitive steps so far.

    :ivar observation: the newest observation of the base environment.
    :ivar info: the info dict that the base environment returned with ``observation``.
    :ivar reward: the discounted reward ``sum_{i<k} gamma^i r_i`` over the k primitive steps (Sutton, Precup and Singh
        1999, section 3).
    :ivar total_reward: the sum of the rewards r_i of the decision, without discount.
    :ivar success: whether ``info["success"]`` was true at any primitive step of the decision.
    :ivar duration: k, the number of primitive steps so far.
    :ivar terms: for each reward term, the sum of its weighted values over the primitive steps of the decision, without
        discount. The values of a reward term of weight 0 are summed without a weight.
    """

    observation: Any
    info: Mapping[str, Any]
    reward: float = 0.0
    total_reward: float = 0.0
    duration: int = 0
    success: bool = False
    terminated: bool = False
    truncated: bool = False
    terms: dict[str, float] = field(default_factory=dict)

    def new_info(self) -> dict[str, Any]:
        """A copy of the base environment's info without :data:`OWN_KEYS`."""
        if OWN_KEYS.isdisjoint(self.info):
            return dict(self.info)
        return {key: value for key, value in self.info.items() if key not in OWN_KEYS}

    @property
    def episode_over(self) -> bool:
        return self.terminated or self.truncated

    def pay(self, reward: float, gamma: float) -> None:
        """Add the reward of the newest primitive step to the decision's reward, and count the step."""
        self.reward += gamma**self.duration * reward
        self.total_reward += reward
        self.duration += 1
