"""Success and a horizon for an environment that does not define them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from rlgpt.errors import ConfigError, PluginError

Success = Callable[[Mapping[str, Any], float], bool]
"""``success(info, total_reward)``, called after every step: ``info`` of the step and, under :data:`OVER`, whether the
episode ends with it; undiscounted reward of the episode so far. Its docstring, if any, describes success in prompts."""

OVER = "episode_over"
"""Key of a bool in the ``info`` of a function of success: whether the episode is over and its return is final."""

_SAID = ("success", "is_success")


def said(info: Mapping[str, Any]) -> bool | None:
    """What the environment itself reports under ``success`` or ``is_success``; None where it reports nothing."""
    for key in _SAID:
        if key in info:
            return bool(info[key])
    return None


def succeeded(info: Mapping[str, Any], total_reward: float, terminated: bool) -> bool:
    """The default rule of success: ``success`` or ``is_success`` in ``info``; if both are missing, an episode that the
    environment ended with a positive total reward."""
    reported = said(info)
    return terminated and total_reward > 0 if reported is None else reported


@dataclass(frozen=True)
class Reaches:
    """Success is a total reward of at least ``total`` when the episode is over: earlier the return may still fall.

    :ivar says: whether ``success`` or ``is_success`` in ``info`` counts instead, at any step that has one.
    """

    total: float
    says: bool = False

    def __call__(self, info: Mapping[str, Any], total_reward: float) -> bool:
        reported = said(info) if self.says else None
        return bool(info[OVER]) and total_reward >= self.total if reported is None else reported


def judge(env: gymnasium.Env[Any, Any], success: Success | float | None) -> tuple[Success | None, str]:
    """The rule of success as a function, and in words.

    :param success: a function of info and total reward; or the total reward that counts; None: ``success`` or
        ``is_success`` in info, else the ``reward_threshold`` at which the environment is registered as solved, else an
        episode that it ends with a positive total reward.
    :raises ConfigError: ``success`` is none of these.
    :returns: None for the last of these, which needs to know whether the episode ended.
    """
    if success is not None and not callable(success) and not isinstance(success, int | float):
        raise ConfigError(
            f"success is {success!r:.80}; give a function success(info, total_reward) -> bool, or the total reward "
            "that counts."
        )
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

    An episode that a training cuts shorter (:attr:`rlgpt.domain.RLSetup.horizon`) is never over here, so its return
    alone never makes it a success.

    :param success: the rule of success; default: :func:`succeeded`.
    :raises ConfigError: (of ``step``) ``success`` returned no bool.
    :raises PluginError: (of ``step``) the environment paid a reward that is not a finite number.
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
        self._total += finite(reward, self._steps)
        truncated = truncated or (self._steps >= self._horizon and not terminated)
        if self._success is not None:
            success = _truth(self._success({**info, OVER: bool(terminated or truncated)}, self._total))
        else:
            success = succeeded(info, self._total, terminated)
        return observation, reward, terminated, truncated, {**info, "success": success}


def finite(reward: Any, step: int) -> float:
    """The environment's reward at primitive step ``step`` of its episode, as a number.

    :raises PluginError: it is not a finite number: returns, values and outcomes would be undefined from then on.
    """
    try:
        number = float(reward)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise PluginError(
            f"the environment paid the reward {reward!r} at step {step} of its episode; a reward must be a finite "
            "number. Fix the environment, or wrap it: gymnasium.wrappers.TransformReward(env, f) replaces what f is "
            "given by what it returns."
        )
    return number


def _truth(told: Any) -> bool:
    if not isinstance(told, bool | np.bool_):
        raise ConfigError(
            f"success(info, total_reward) returned {told!r}, a {type(told).__name__}; it must return True or False. "
            "Compare: lambda info, total_reward: info['episode_over'] and total_reward >= 200; or wrap it in bool()."
        )
    return bool(told)
