"""Success and a horizon for an environment that has none of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium

Success = Callable[[Mapping[str, Any], float], bool]
"""``success(info, total_reward)``: ``info`` of the step, undiscounted reward of the episode so far."""


def succeeded(info: Mapping[str, Any], total_reward: float, terminated: bool) -> bool:
    """What counts as success where nobody says: what ``info`` says under ``success`` or ``is_success``; else an episode
    that the environment ended, with a positive total reward."""
    for key in ("success", "is_success"):
        if key in info:
            return bool(info[key])
    return terminated and total_reward > 0


class Judged(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """Puts a bool ``info["success"]`` into every step and truncates at ``horizon`` primitive steps.

    :param success: how to tell; default: :func:`succeeded`.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], horizon: int, success: Success | None = None) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, horizon=horizon, success=success, _disable_deepcopy=True)
        gymnasium.Wrapper.__init__(self, env)
        self._horizon, self._success = horizon, success
        self._steps, self._total = 0, 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self._steps, self._total = 0, 0.0
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, "success": False}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        self._total += float(reward)
        if self._success is not None:
            success = bool(self._success(info, self._total))
        else:
            success = succeeded(info, self._total, terminated)
        truncated = truncated or (self._steps >= self._horizon and not terminated)
        return observation, reward, terminated, truncated, {**info, "success": success}
