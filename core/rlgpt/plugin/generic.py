"""A plugin for an environment nobody prepared: labels, primitives, view and words, all from its spaces.

It is also where every other plugin's defaults come from.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import gymnasium

from rlgpt.domain import Parameter, Plain, RLSetup, Task
from rlgpt.errors import PluginError
from rlgpt.plugin.actions import ActionCodec, default_labels, names, zero_action
from rlgpt.plugin.base import Context, EnvironmentPlugin, Labels, LowLevel, Primitive, RewardTerm, ViewKey
from rlgpt.plugin.judged import Judged, Success
from rlgpt.plugin.observations import ObservationCodec

MakeEnv = Callable[..., gymnasium.Env[Any, Any]]
"""``make_env()`` or ``make_env(render_mode=...)``."""

__all__ = ["GenericPlugin", "zero_action"]

T = TypeVar("T")

LONGEST_REPEAT = 200
HORIZON = 1000
"""Primitive steps of an episode where the environment names no limit."""

_REWARD = {"reward": "sum of the environment's reward meanwhile"}


class GenericPlugin(EnvironmentPlugin):
    """Any gymnasium environment as a plugin of one task. See :meth:`of`; bare, it can only summarize views."""

    name = "gymnasium"

    def __init__(self) -> None:
        self._task: Task | None = None
        self._make: MakeEnv | None = None
        self._success: Success | None = None
        self._actions: ActionCodec | None = None
        self._observations: ObservationCodec | None = None
        self._labels: tuple[str, ...] = ()
        self._docs = ""
        self._owner: EnvironmentPlugin = self

    @classmethod
    def of(
        cls,
        env: gymnasium.Env[Any, Any] | MakeEnv,
        task: Task | None = None,
        *,
        goal: str = "",
        labels: Sequence[str] | None = None,
        observations: Sequence[str] | None = None,
        docs: str = "",
        success: Success | None = None,
        owner: EnvironmentPlugin | None = None,
    ) -> GenericPlugin:
        """The plugin of an environment.

        :param env: the environment; or what makes one, ``make_env()`` or ``make_env(render_mode=...)``, which is
            needed to train, as training makes several.
        :param task: default: one made of the environment's id, its horizon and ``goal``.
        :param labels: names of the action's parts (see :class:`~rlgpt.plugin.base.Labels`). Default: what
            ``get_action_meanings()`` says, else ``action_0``, ``action_1``, ...
        :param observations: names of the numbers of a one-dimensional observation.
        :param docs: what an expert would tell of the environment. Default: its docstring.
        :param success: ``success(info, total_reward) -> bool``; default: :func:`rlgpt.plugin.judged.succeeded`, which
            suits tasks that end when they are solved. Where surviving is the task (CartPole), say it yourself:
            ``lambda info, total_reward: total_reward >= 475``.
        :param owner: the plugin whose defaults these are: primitives use its labels and its view.
        :raises ConfigError: the action space has no parameters, or labels do not fit their space.
        """
        sample = env if isinstance(env, gymnasium.Env) else _call(env, None)
        plugin = cls()
        plugin._task = task or _task(sample, goal)
        plugin._make = None if isinstance(env, gymnasium.Env) else env
        plugin._success = success
        plugin._labels = tuple(labels) if labels is not None else _meanings(sample)
        plugin._owner = owner or plugin
        if owner is None:
            plugin.name = plugin._task.plugin
        plugin._actions = ActionCodec(sample.action_space, plugin._labels)
        plugin._observations = ObservationCodec(sample.observation_space, observations)
        plugin._docs = docs or inspect.cleandoc(type(sample.unwrapped).__doc__ or "")
        if sample is not env:
            sample.close()
        return plugin

    def tasks(self) -> Mapping[str, Task]:
        return {self._task.id: self._task} if self._task is not None else {}

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        """A new environment, judged by ``success`` and truncated at the task's horizon.

        :raises PluginError: the plugin was made of an environment, not of what makes one.
        """
        if self._make is None:
            raise PluginError(
                f"{task.id}: this plugin knows one environment and cannot make another. "
                "Use GenericPlugin.of(make_env), with a function that makes one."
            )
        env = Judged(_call(self._make, render_mode), task.horizon, self._success)
        env.reset(seed=seed)
        return env

    def primitives(self, task: Task) -> Sequence[Primitive]:
        """``act``, ``repeat`` and, where the view has numbers for a policy, ``act_until``."""
        codec = self._codec(self._actions)
        if self._owner is not self:
            codec = ActionCodec(codec.space, self._owner.labels(task).actions)
        steps = Parameter(name="steps", kind="int", low=1, high=LONGEST_REPEAT, default=10, doc="primitive steps")
        act = Primitive(
            "act",
            "Do one low-level action, for one step. Outcome: reward.",
            _Repeat(codec),
            codec.parameters,
            _REWARD,
            1,
        )
        repeat = Primitive(
            "repeat",
            "Do the same low-level action for some steps. Outcome: reward.",
            _Repeat(codec),
            (*codec.parameters, steps),
            _REWARD,
            LONGEST_REPEAT,
        )
        watched = _watchable(self._owner.view_keys(task))
        if not watched:
            return act, repeat
        until = (
            Parameter(name="key", kind="choice", choices=watched, default=watched[0], doc="number of the view"),
            Parameter(name="relation", kind="choice", choices=("above", "below"), default="above"),
            Parameter(name="threshold", low=-1e6, high=1e6, default=0.0, doc="in the unit of that number"),
        )
        act_until = Primitive(
            "act_until",
            "Do the same low-level action until a number of the view is above (or below) a threshold, at most `steps` "
            "steps; none if it is so already. Outcome: reached, value, reward.",
            _Until(codec, self._owner),
            (*codec.parameters, *until, steps),
            {"reached": "whether the threshold was passed", "value": "the number at the end", **_REWARD},
            LONGEST_REPEAT,
        )
        return act, repeat, act_until

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        return self._codec(self._observations).keys

    def view(self, ctx: Context) -> dict[str, Plain]:
        return self._codec(self._observations).view(ctx)

    def summarize(self, view: Mapping[str, Plain]) -> str:
        """``name: value`` with four significant digits, lists cut after twelve numbers."""
        text = "; ".join(f"{key}: {_words(value)}" for key, value in view.items())
        return text if len(text) <= 1500 else text[:1497] + "..."

    def labels(self, task: Task) -> Labels:
        self._codec(self._actions)
        return Labels(self._labels)

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        """``env_reward`` alone: what the environment itself pays, as it is (so it has no bounds)."""
        inf = float("inf")
        return (RewardTerm("env_reward", "the environment's own reward", _env_reward, "step", -inf, inf),)

    def default_setup(self, task: Task) -> RLSetup:
        """Every key a policy can use; the environment's own reward, or all terms where a plugin does not offer it."""
        keys = tuple(k.name for k in self._owner.view_keys(task) if k.size)
        terms = [t.name for t in self._owner.reward_terms(task)]
        weights = dict.fromkeys(["env_reward"] if "env_reward" in terms else terms, 1.0)
        return RLSetup(reward_weights=weights, observation_keys=keys)

    def knowledge(self, task: Task) -> str:
        return self._docs[:6000]

    @staticmethod
    def _codec(codec: T | None) -> T:
        if codec is None:
            raise PluginError("a bare GenericPlugin() knows no spaces. Use GenericPlugin.of(env).")
        return codec


class _Repeat:
    """Runs one action for ``steps`` steps."""

    def __init__(self, codec: ActionCodec) -> None:
        self.codec = codec

    def __call__(self, ctx: Context, steps: int = 1, **args: Plain) -> LowLevel:
        action, reward = self.codec.action(args), 0.0
        for _ in range(steps):
            yield action
            reward += _env_reward(ctx)
        return {"reward": reward}


class _Until:
    """Runs one action until a number of the view passes a threshold."""

    def __init__(self, codec: ActionCodec, owner: EnvironmentPlugin) -> None:
        self.codec, self.owner = codec, owner

    def __call__(self, ctx: Context, key: str, relation: str, threshold: float, steps: int, **args: Plain) -> LowLevel:
        action, reward = self.codec.action(args), 0.0
        name, _, index = key.partition("[")

        def value() -> float:
            found: Any = self.owner.view(ctx)[name]
            return float(found[int(index[:-1])] if index else found)

        def reached() -> bool:
            return value() > threshold if relation == "above" else value() < threshold

        for _ in range(steps):
            if reached():
                break
            yield action
            reward += _env_reward(ctx)
        return {"reached": reached(), "value": value(), "reward": reward}


def _env_reward(ctx: Context) -> float:
    return float(ctx.info.get("env_reward", 0.0))


def _watchable(keys: Sequence[ViewKey]) -> tuple[str, ...]:
    """Single numbers by name, those of short lists as ``name[i]``."""
    found = []
    for key in keys:
        found += [key.name] if key.size == 1 else [f"{key.name}[{i}]" for i in range(key.size if key.size <= 32 else 0)]
    return tuple(found)


def _call(make: MakeEnv, render_mode: str | None) -> gymnasium.Env[Any, Any]:
    return make() if render_mode is None else make(render_mode=render_mode)


def _task(env: gymnasium.Env[Any, Any], goal: str) -> Task:
    title = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    name = re.sub(r"[^a-z0-9_.-]+", "-", title.lower()).lstrip("-_.") or "env"
    limit = env.spec.max_episode_steps if env.spec is not None else None
    if limit is None and env.has_wrapper_attr("_max_episode_steps"):
        limit = env.get_wrapper_attr("_max_episode_steps")
    return Task(
        id=f"{GenericPlugin.name}/{name[:80]}",
        goal=goal or f"Get as much reward as possible in {title}.",
        horizon=limit or HORIZON,
        success="what the environment reports as success, or else an episode it ends with a positive total reward",
    )


def _meanings(env: gymnasium.Env[Any, Any]) -> tuple[str, ...]:
    labels = default_labels(env.action_space)
    meanings = getattr(env.unwrapped, "get_action_meanings", None)
    found = tuple(names([str(m) for m in meanings()])) if callable(meanings) else ()
    return found if len(found) == len(labels) else labels


def _words(value: Plain) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        more = f", ... {len(value) - 12} more" if len(value) > 12 else ""
        return f"[{', '.join(_words(v) for v in value[:12])}{more}]"
    if isinstance(value, dict):
        return ", ".join(f"{k} {_words(v)}" for k, v in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)
