"""Success and a horizon for an environment that has none of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from rlgpt.errors import ConfigError

Success = Callable[[Mapping[str, Any], float], bool]
"""``success(info, total_reward)``: ``info`` of the step, undiscounted reward of the episode so far. Its docstring,
where it has one, tells agents what counts."""

_SAID = ("success", "is_success")


def succeeded(info: Mapping[str, Any], total_reward: float, terminated: bool) -> bool:
    """What counts as success where nobody says: what ``info`` says under ``success`` or ``is_success``; else an episode
    that the environment ended, with a positive total reward."""
    for key in _SAID:
        if key in info:
            return bool(info[key])
    return terminated and total_reward > 0


@dataclass(frozen=True)
class Reaches:
    """A total reward of at least ``total``, at any step.

    :ivar says: what ``info`` says under ``success`` or ``is_success`` counts instead, where it says it.
    """

    total: float
    says: bool = False

    def __call__(self, info: Mapping[str, Any], total_reward: float) -> bool:
        if self.says:
            for key in _SAID:
                if key in info:
                    return bool(info[key])
        return total_reward >= self.total


def judge(env: gymnasium.Env[Any, Any], success: Success | float | None) -> tuple[Success | None, str]:
    """How to tell success, and that in words.

    :param success: a function of info and total reward; or the total reward that counts; None: what info reports,
        else the ``reward_threshold`` at which the environment is registered as solved, else an episode that it ends
        with a positive total reward.
    :returns: None for the last of these, which needs to know whether the episode ended.
    """
    if isinstance(success, int | float):
        return Reaches(float(success)), f"a total reward of at least {success:g} in the episode"
    if success is not None:
        told = " ".join((inspect.getdoc(success) or "").split()) if inspect.isfunction(success) else ""
        return success, told or "what the goal says, judged from the environment's info and the episode's total reward"
    threshold = env.spec.reward_threshold if env.spec is not None else None
    if threshold is None:
        return None, "what the environment reports as success, or else an episode it ends with a positive total reward"
    text = f"a total reward of at least {threshold:g} in the episode, unless the environment itself reports success"
    return Reaches(float(threshold), says=True), text


class Judged(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """Puts a bool ``info["success"]`` into every step and truncates at ``horizon`` primitive steps.

    :param success: how to tell; default: :func:`succeeded`.
    :raises ConfigError: (of ``step``) ``success`` returned no bool.
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
            success = _truth(self._success(info, self._total))
        else:
            success = succeeded(info, self._total, terminated)
        truncated = truncated or (self._steps >= self._horizon and not terminated)
        return observation, reward, terminated, truncated, {**info, "success": success}


def _truth(said: Any) -> bool:
    if not isinstance(said, bool | np.bool_):
        raise ConfigError(
            f"success(info, total_reward) returned {said!r}, a {type(said).__name__}; it must return True or False. "
            "Compare: lambda info, total_reward: total_reward >= 200; or wrap it in bool()."
        )
    return bool(said)
