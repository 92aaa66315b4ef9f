"""Defines ``Judged``, a wrapper that adds success, metrics and a time limit to an environment that does not define
them.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from rlgpt.errors import ConfigError, PluginError, RlgptError
from rlgpt.plugin.rules import Moment, SuccessRule, lookup, number_of, parse_rule, reported_success

Success = Callable[..., bool]
"""A function that is called after every step and returns whether the episode succeeds. The parameters of this function
may have these names: ``env`` (the unwrapped environment), ``info``, ``total_reward`` (the sum of the episode's rewards
so far), ``observation``, ``terminated``, ``truncated``. A function of two parameters with other names gets ``info`` and
``total_reward``. ``info`` also has the key :data:`OVER`. If the function has a docstring, this docstring describes
success in prompts.
"""

OVER = "episode_over"
"""Key in the ``info`` that a success function gets. The value says whether the episode is over. The return of an
episode is final only when the episode is over.
"""

LEGACY = "reported else terminated and return > 0"
"""The default rule of :class:`Judged`."""

_WANTED = frozenset({"env", "info", "total_reward", "observation", "terminated", "truncated"})
_PARAMETERS = (
    "Its parameters can be env (the unwrapped environment), info, total_reward, observation, terminated and truncated, "
    "by these names; a function of two parameters with other names gets info and total_reward."
)


@dataclass(frozen=True)
class Asked:
    """A rule of success that calls the user's function.

    :ivar names: names of the parameters of the user's function; empty if one of these names is not a known name.
    """

    function: Success
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, function: Success) -> Asked:
        """:raises ConfigError: the function cannot be called with any arguments that rlgpt has."""
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return cls(function)
        parameters = signature.parameters.values()
        names = tuple(p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD)
        if names and set(names) <= _WANTED:
            return cls(function, names)
        try:
            signature.bind({}, 0.0)
        except TypeError:
            raise ConfigError(f"success is a function with the parameters {signature}. {_PARAMETERS}") from None
        return cls(function)

    def __call__(self, env: gymnasium.Env[Any, Any], observation: Any, now: Moment) -> bool:
        info = {**now.info, OVER: now.over}
        known = {"env": env.unwrapped, "info": info, "total_reward": now.total, "observation": observation}
        known |= {"terminated": now.terminated, "truncated": now.truncated}
        given = {name: known[name] for name in self.names}
        try:
            answer = self.function(**given) if given else self.function(info, now.total)
        except RlgptError:
            raise
        except Exception as fault:
            text = " ".join(str(fault).split())[:500].rstrip(".") or "no message"
            raise ConfigError(
                f"success() raised {type(fault).__name__}: {text}. It was called with "
                f"{', '.join(given) or 'info and total_reward'}. {_PARAMETERS}"
            ) from fault
        return _truth(answer)

    @property
    def words(self) -> str:
        doc = " ".join((inspect.getdoc(self.function) or "").split()) if inspect.isfunction(self.function) else ""
        return doc or "what the goal says, judged from the environment's info and the episode's total reward"


def read_success(success: Success | SuccessRule | str | float) -> SuccessRule | Asked:
    """Make a rule of success from a text, a number or a function of the user.

    :raises ConfigError: ``success`` is not a text, a number, a function or a rule, or is a text that is not a rule, or
        is a function whose parameters rlgpt does not know.
    """
    if isinstance(success, SuccessRule | Asked):
        return success
    if callable(success):
        return Asked.of(success)
    return parse_rule(success)


def usual_rule(env: gymnasium.Env[Any, Any]) -> SuccessRule:
    """The rule of success that is used if the user gives no rule. An episode succeeds if ``success`` or ``is_success``
    in ``info`` is true. If ``info`` has neither key, the episode's return must reach the registered
    ``reward_threshold``; without such a threshold, the environment must end the episode with a positive return.

    The function :func:`rlgpt.design` does not use this rule.
    """
    threshold = env.spec.reward_threshold if env.spec is not None else None
    return parse_rule(
        LEGACY if threshold is None or not math.isfinite(threshold) else f"reported else return >= {threshold:.15g}"
    )


FLAGS = 4
UNTOLD = ("success", "is_success", "TimeLimit.truncated")
"""Keys of ``info`` that do not show why an episode ended."""


def flags(info: Mapping[str, Any]) -> tuple[str, ...]:
    """At most :data:`FLAGS` keys of ``info`` that are True. At the last step of an episode, they may show why it ended,
    for example ``crashed``.
    """
    true = (key for key, value in info.items() if isinstance(value, bool | np.bool_) and value)
    return tuple(str(key) for key in true if key not in UNTOLD)[:FLAGS]


class Judged(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """Adds a bool ``info["success"]`` to every step and truncates an episode after ``horizon`` primitive steps.

    A training may use a shorter horizon than the wrapper (:attr:`rlgpt.domain.RLSetup.horizon`). The wrapper does not
    see the end of an episode that the shorter horizon cuts, so a rule that is judged at the end cannot make such an
    episode a success.

    If the environment ends an episode that is no success, and ``info`` has no key ``cause``, ``info["cause"]`` has the
    :func:`flags` of the last step.

    :param success: the rule of success, which is a text (:mod:`rlgpt.plugin.rules`), the return that an episode must
        reach, or a function. By default, an episode succeeds if ``success`` or ``is_success`` in ``info`` is true. If
        ``info`` has neither ``success`` nor ``is_success``, an episode succeeds if the environment ends it with a
        positive return.
    :param metrics: key of ``info`` -> name of a metric. For each key of ``metrics``, the wrapper copies the number
        under this key of ``info`` into ``info["metrics"]`` under the metric's name.
    :ivar reported: whether the environment's own ``info`` has contained ``success`` or ``is_success`` so far.
    :ivar seen: the keys of ``info`` that the environment has reported so far.
    :raises ConfigError: the function ``success`` raised an exception or did not return a bool, or a metric is not a
        number (raised by ``step``).
    :raises PluginError: the environment's reward is not a finite number (raised by ``step``).
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        horizon: int,
        success: Success | SuccessRule | str | float | None = None,
        metrics: Mapping[str, str] | None = None,
    ) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(
            self, horizon=horizon, success=success, metrics=metrics, _disable_deepcopy=True
        )
        gymnasium.Wrapper.__init__(self, env)
        self._horizon, self._metrics = horizon, dict(metrics or {})
        self._rule = read_success(LEGACY if success is None else success)
        self._steps, self._total = 0, 0.0
        self.reported, self.seen = False, dict[str, None]()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self._steps, self._total = 0, 0.0
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._measured({**info, "success": False})

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        self._total += finite(reward, self._steps)
        truncated = truncated or (self._steps >= self._horizon and not terminated)
        self.reported = self.reported or reported_success(info) is not None
        self.seen.update(dict.fromkeys(map(str, info)))
        now = Moment(info, self._total, bool(terminated), bool(truncated))
        rule = self._rule
        success = rule(self.env, observation, now) if isinstance(rule, Asked) else rule(now)
        why = flags(info) if terminated and not success and "cause" not in info else ()
        told = {"cause": ", ".join(why)} if why else {}
        return observation, reward, terminated, truncated, self._measured({**info, **told, "success": success})

    def _measured(self, info: dict[str, Any]) -> dict[str, Any]:
        if not self._metrics:
            return info
        numbers: dict[str, float] = {}
        for key, name in self._metrics.items():
            value = lookup(info, key)
            if value is None:
                continue
            number = number_of(value)
            if number is None:
                raise ConfigError(
                    f"metrics: info[{key!r}] is {value!r:.80} at step {self._steps}, not a finite number. Name a key "
                    "with a finite number; dots lead into mappings."
                )
            numbers[name] = number
        own = info.get("metrics")  # The environment's own ``metrics``, which may have any type.
        return {**info, "metrics": {**own, **numbers} if isinstance(own, Mapping) else numbers}


def finite(reward: Any, step: int) -> float:
    """Convert the environment's reward at primitive step ``step`` of the episode to a float.

    :raises PluginError: the reward is not a finite number, so the return of the episode would be undefined.
    """
    number = number_of(reward)
    if number is None:
        raise PluginError(
            f"the environment gave the reward {reward!r} at step {step} of its episode; a reward must be a finite "
            "number. Fix the environment, or wrap it: gymnasium.wrappers.TransformReward(env, f) replaces the reward r "
            "by f(r)."
        )
    return number


def _truth(answer: Any) -> bool:
    if not isinstance(answer, bool | np.bool_):
        raise ConfigError(
            f"success() returned {answer!r}, a {type(answer).__name__}; it must return True or False. "
            "Compare: lambda info, total_reward: info['episode_over'] and total_reward >= 200; or wrap it in bool()."
        )
    return bool(answer)
