"""A plugin for an environment without one. It is derived from the spaces and from what the caller says about it."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium

from rlgpt.domain import Task, World
from rlgpt.errors import ConfigError, PluginError
from rlgpt.plugin.actions import zero_action
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.defaults import Named, SpaceDefaults, with_meanings
from rlgpt.plugin.idle import IDLE, idle_action, plain_idle
from rlgpt.plugin.judged import Judged, Success, judge
from rlgpt.plugin.types import Context, Primitive

MakeEnv = Callable[..., gymnasium.Env[Any, Any]]
"""``make_env()`` or ``make_env(render_mode=...)``."""

HORIZON = 1000
"""Primitive steps of an episode if the environment names no limit."""


class GenericPlugin(EnvironmentPlugin):
    """Any gymnasium environment as a plugin of one task. Made by :meth:`of`.

    :ivar world: the names and settings that the caller gave; a bundle carries them, so that its actions run elsewhere.
    """

    name = "gymnasium"

    def __init__(self, task: Task, defaults: SpaceDefaults) -> None:
        self._task, self._defaults = task, defaults
        self._make: MakeEnv | None = None
        self._success: Success | None = None
        self._docs = ""
        self._idle: Any = None
        self._own_primitives: tuple[Primitive, ...] = ()
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
    ) -> GenericPlugin:
        """The plugin of an environment.

        :param env: the environment; or a function that makes one, ``make_env()`` or ``make_env(render_mode=...)``.
            Training needs the function, because it makes several.
        :param task: default: one made of the environment's id, its horizon and ``goal``.
        :param labels: names of the action's parts (see :class:`~rlgpt.plugin.types.Labels`), or name -> meaning.
            Default: from ``get_action_meanings()`` or an enum ``actions`` of the environment, else ``action_0``,
            ``action_1``, ...
        :param observations: names of the numbers of a one-dimensional observation, or name -> meaning.
        :param docs: what an expert knows of the environment. Default: its docstring.
        :param success: ``success(info, total_reward) -> bool``, or the total reward that counts as success. Default:
            see :func:`rlgpt.plugin.judged.judge`. If the task is to survive and the environment registers no
            threshold, give one: ``success=475``.
        :param horizon: primitive steps after which an episode is truncated. Default: the limit of the environment,
            else 1,000.
        :param primitives: primitives of the caller, beside ``act``, ``repeat`` and ``act_until``.
        :param idle: the action that does nothing: a label of a Discrete's value, or an action of the space. Default: a
            label that says so (:data:`~rlgpt.plugin.idle.IDLE`), else zeros, which may do something in a Discrete.
        :raises ConfigError: the action space has no parameters, or labels or ``idle`` do not fit their space.
        :raises UnknownNameError: ``idle`` is not a label.
        """
        sample = env if isinstance(env, gymnasium.Env) else _call(env, None)
        success, success_text = judge(sample, success)
        task = task or _task(sample, goal, success_text, horizon)
        if labels is not None and len(with_meanings(labels)) != len(labels):
            raise ConfigError(f"labels must differ, got {list(labels)}")
        plugin = cls(task, SpaceDefaults.of(sample, labels=labels, observations=observations))
        plugin.name = task.plugin
        plugin._success = success
        plugin._make = None if isinstance(env, gymnasium.Env) else env
        plugin._idle = idle_action(sample.action_space, tuple(plugin._defaults.labels), idle)
        plugin._docs = docs or inspect.cleandoc(type(sample.unwrapped).__doc__ or "")
        plugin._own_primitives = tuple(primitives)
        plugin.world = World(
            labels=plugin._defaults.labels if labels is not None else None,
            observations=with_meanings(observations) if observations is not None else None,
            primitives=tuple(p.name for p in primitives),
            idle=plain_idle(idle),
        )
        if sample is not env:
            sample.close()
        return plugin

    def tasks(self) -> Mapping[str, Task]:
        return {self._task.id: self._task}

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        """A new environment with ``info["success"]``, truncated at the task's horizon.

        :raises PluginError: the plugin was made from an environment and not from a function that makes one.
        """
        if self._make is None:
            raise PluginError(
                f"{task.id}: this plugin knows one environment and cannot make another. "
                "Use GenericPlugin.of(make_env), with a function that makes one."
            )
        env = Judged(_call(self._make, render_mode), task.horizon, self._success)
        env.reset(seed=seed)
        return env

    def defaults(self, task: Task) -> SpaceDefaults:
        return self._defaults

    def primitives(self, task: Task) -> Sequence[Primitive]:
        """The default primitives, whose parameters carry the meanings of the labels; then the caller's."""
        defaults = self._defaults.primitives(self._defaults.labels, self.view_keys(task), self.view_value)
        return *defaults, *self._own_primitives

    def noop(self, action_space: gymnasium.Space[Any], ctx: Context) -> Any:
        """``idle`` if it was given; else the value of a Discrete whose label says that it does nothing
        (:data:`~rlgpt.plugin.idle.IDLE`); else zeros."""
        if self._idle is not None:
            return copy.copy(self._idle)
        labels = list(self._defaults.labels)
        idle_labels = [label for label in IDLE if label in labels]
        if isinstance(action_space, gymnasium.spaces.Discrete) and idle_labels:
            return action_space.start + labels.index(idle_labels[0])
        return zero_action(action_space)

    def knowledge(self, task: Task) -> str:
        return self._docs[:6000]


def _call(make: MakeEnv, render_mode: str | None) -> gymnasium.Env[Any, Any]:
    return make() if render_mode is None else make(render_mode=render_mode)


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
    """Steps of an episode by the TimeLimit, the registration, or the environment itself."""
    if env.has_wrapper_attr("_max_episode_steps"):
        limit = env.get_wrapper_attr("_max_episode_steps")
    else:
        limit = env.spec.max_episode_steps if env.spec is not None else None
    limit = limit or getattr(env.unwrapped, "max_steps", None)
    return int(limit) if isinstance(limit, int) and limit > 0 else None
