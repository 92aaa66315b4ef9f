"""A plugin for an environment nobody prepared: labels, primitives, view and words, all from its spaces.

It is also where every other plugin's defaults come from.
"""

from __future__ import annotations

import copy
import enum
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import gymnasium

from rlgpt.domain import Plain, RLSetup, Task, World
from rlgpt.errors import ConfigError, PluginError
from rlgpt.plugin.actions import ActionCodec, default_labels, names, zero_action
from rlgpt.plugin.base import Context, EnvironmentPlugin, Labels, Primitive, RewardTerm, ViewKey
from rlgpt.plugin.idle import IDLE, idle_action, plain_idle
from rlgpt.plugin.judged import Judged, Success, judge
from rlgpt.plugin.observations import ObservationCodec
from rlgpt.plugin.skills import env_reward, skills

MakeEnv = Callable[..., gymnasium.Env[Any, Any]]
"""``make_env()`` or ``make_env(render_mode=...)``."""

Named = Sequence[str] | Mapping[str, str]
"""Names; or name -> meaning (with its unit), which agents are told."""

__all__ = ["GenericPlugin", "zero_action"]

T = TypeVar("T")

HORIZON = 1000
"""Primitive steps of an episode where the environment names no limit."""


class GenericPlugin(EnvironmentPlugin):
    """Any gymnasium environment as a plugin of one task. See :meth:`of`; bare, it can only summarize views.

    :ivar world: what it was told beyond the spaces: what a bundle carries, so that its actions run elsewhere.
    """

    name = "gymnasium"

    def __init__(self) -> None:
        self._task: Task | None = None
        self._make: MakeEnv | None = None
        self._success: Success | None = None
        self._actions: ActionCodec | None = None
        self._observations: ObservationCodec | None = None
        self._labels: Mapping[str, str] = {}
        self._docs = ""
        self._idle: Any = None
        self._own: tuple[Primitive, ...] = ()
        self._owner: EnvironmentPlugin = self
        self.world = World()

    @classmethod
    def of(
        cls,
        env: gymnasium.Env[Any, Any] | MakeEnv,
        task: Task | None = None,
        *,
        goal: str = "",
        labels: Named | None = None,
        observations: Named | None = None,
        docs: str = "",
        success: Success | float | None = None,
        horizon: int | None = None,
        primitives: Sequence[Primitive] = (),
        idle: Any = None,
        owner: EnvironmentPlugin | None = None,
    ) -> GenericPlugin:
        """The plugin of an environment.

        :param env: the environment; or what makes one, ``make_env()`` or ``make_env(render_mode=...)``, which is
            needed to train, as training makes several.
        :param task: default: one made of the environment's id, its horizon and ``goal``.
        :param labels: names of the action's parts (see :class:`~rlgpt.plugin.base.Labels`), or name -> meaning.
            Default: what ``get_action_meanings()`` or an enum ``actions`` of the environment says, else ``action_0``,
            ``action_1``, ...
        :param observations: names of the numbers of a one-dimensional observation, or name -> meaning.
        :param docs: what an expert would tell of the environment. Default: its docstring.
        :param success: ``success(info, total_reward) -> bool``, or the total reward that counts; default:
            :func:`rlgpt.plugin.judged.judge` tells. Where surviving is the task and no threshold is registered, say it
            yourself: ``success=475``.
        :param horizon: primitive steps after which an episode is truncated. Default: the environment's own limit,
            else 1,000.
        :param primitives: skills of your own, beside ``act``, ``repeat`` and ``act_until``.
        :param idle: what is done where nothing is to be: a label of a Discrete's value, or an action of the space.
            Default: a label that says so (:data:`~rlgpt.plugin.idle.IDLE`), else zeros, which in a Discrete may well
            do something.
        :param owner: the plugin whose defaults these are: primitives use its labels and its view.
        :raises ConfigError: the action space has no parameters, or labels or ``idle`` do not fit their space.
        :raises UnknownNameError: ``idle`` is no label.
        """
        sample = env if isinstance(env, gymnasium.Env) else _call(env, None)
        plugin = cls()
        plugin._success, told = judge(sample, success)
        plugin._task = task or _task(sample, goal, told, horizon)
        plugin._make = None if isinstance(env, gymnasium.Env) else env
        plugin._labels = _with_meanings(labels) if labels is not None else dict.fromkeys(_meanings(sample), "")
        if labels is not None and len(plugin._labels) != len(labels):
            raise ConfigError(f"labels must differ, got {list(labels)}")
        plugin._owner = owner or plugin
        if owner is None:
            plugin.name = plugin._task.plugin
        plugin._actions = ActionCodec(sample.action_space, plugin._labels)
        plugin._idle = idle_action(sample.action_space, tuple(plugin._labels), idle)
        plugin._observations = ObservationCodec(sample.observation_space, observations)
        plugin._docs = docs or inspect.cleandoc(type(sample.unwrapped).__doc__ or "")
        plugin._own = tuple(primitives)
        plugin.world = World(
            labels=plugin._labels if labels is not None else None,
            observations=_with_meanings(observations) if observations is not None else None,
            primitives=tuple(p.name for p in primitives),
            idle=plain_idle(idle),
        )
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
        """``act``, ``repeat`` and, where the view has numbers for a policy, ``act_until``; and those it was given."""
        codec = self._codec(self._actions)
        if self._owner is not self:
            codec = ActionCodec(codec.space, self._owner.labels(task).actions)
        return *skills(codec, self._owner.view_keys(task), self.look), *self._own

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        return self._codec(self._observations).keys

    def view(self, ctx: Context) -> dict[str, Plain]:
        return self._codec(self._observations).view(ctx)

    def look(self, ctx: Context, key: str) -> Plain:
        """The value of one key of the owner's view; of the others only where the view is not this plugin's."""
        owns = GenericPlugin if self._owner is self else EnvironmentPlugin
        if type(self._owner).view is owns.view:
            return self._codec(self._observations).value(ctx, key)
        return self._owner.view(ctx)[key]

    def summarize(self, view: Mapping[str, Plain]) -> str:
        """``name: value`` with four significant digits, lists cut after twelve numbers."""
        text = "; ".join(f"{key}: {_words(value)}" for key, value in view.items())
        return text if len(text) <= 1500 else text[:1497] + "..."

    def labels(self, task: Task) -> Labels:
        self._codec(self._actions)
        return Labels(tuple(self._labels))

    def noop(self, action_space: gymnasium.Space[Any], ctx: Context) -> Any:
        """What was given as ``idle``; else the value of a Discrete whose label says that it does nothing
        (:data:`~rlgpt.plugin.idle.IDLE`); else zeros."""
        if self._idle is not None:
            return copy.copy(self._idle)
        found = [label for label in IDLE if label in self._labels]
        if isinstance(action_space, gymnasium.spaces.Discrete) and found:
            return action_space.start + list(self._labels).index(found[0])
        return zero_action(action_space)

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        """``env_reward`` alone: what the environment itself pays, as it is (so it has no bounds)."""
        inf = float("inf")
        return (RewardTerm("env_reward", "the environment's own reward", env_reward, "step", -inf, inf),)

    def default_setup(self, task: Task) -> RLSetup:
        """Every key a policy can use, pictures and long arrays (as they are) first; the environment's own reward, or
        all terms where a plugin does not offer it."""
        keys = [k.name for k in self._owner.view_keys(task) if k.size]
        if self._owner is self or type(self._owner).view_keys is EnvironmentPlugin.view_keys:
            keys = [*self._codec(self._observations).alone, *keys]
        terms = [t.name for t in self._owner.reward_terms(task)]
        weights = dict.fromkeys(["env_reward"] if "env_reward" in terms else terms, 1.0)
        return RLSetup(reward_weights=weights, observation_keys=tuple(keys))

    def knowledge(self, task: Task) -> str:
        return self._docs[:6000]

    @staticmethod
    def _codec(codec: T | None) -> T:
        if codec is None:
            raise PluginError("a bare GenericPlugin() knows no spaces. Use GenericPlugin.of(env).")
        return codec


def _call(make: MakeEnv, render_mode: str | None) -> gymnasium.Env[Any, Any]:
    return make() if render_mode is None else make(render_mode=render_mode)


def _with_meanings(named: Named) -> Mapping[str, str]:
    return dict(named) if isinstance(named, Mapping) else dict.fromkeys(named, "")


def _task(env: gymnasium.Env[Any, Any], goal: str, success: str, horizon: int | None) -> Task:
    title = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    name = re.sub(r"[^a-z0-9_.-]+", "-", title.lower()).lstrip("-_.") or "env"
    return Task(
        id=f"{GenericPlugin.name}/{name[:80]}",
        goal=goal or f"Get as much reward as possible in {title}.",
        horizon=horizon or _limit(env) or HORIZON,
        success=success,
    )


def _limit(env: gymnasium.Env[Any, Any]) -> int | None:
    """Steps of an episode as a TimeLimit, the registration, or the environment itself names them."""
    if env.has_wrapper_attr("_max_episode_steps"):
        limit = env.get_wrapper_attr("_max_episode_steps")
    else:
        limit = env.spec.max_episode_steps if env.spec is not None else None
    limit = limit or getattr(env.unwrapped, "max_steps", None)
    return int(limit) if isinstance(limit, int) and limit > 0 else None


def _meanings(env: gymnasium.Env[Any, Any]) -> tuple[str, ...]:
    labels = default_labels(env.action_space)
    meanings, actions = (getattr(env.unwrapped, name, None) for name in ("get_action_meanings", "actions"))
    said: list[str] = []
    if callable(meanings):
        said = [str(m) for m in meanings()]
    elif inspect.isclass(actions) and issubclass(actions, enum.Enum):
        said = [member.name for member in actions]
    found = tuple(names(said))
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
