"""Defines ``GenericPlugin``, the plugin of an environment for which no plugin was written. A GenericPlugin is derived
from the spaces of the environment and the caller's arguments.
"""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium

from rlgpt.domain import Metric, Score, Task, World
from rlgpt.domain.validated import validated
from rlgpt.errors import PluginError
from rlgpt.plugin.actions import default_labels, zero_action
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.defaults import Named, SpaceDefaults, with_meanings
from rlgpt.plugin.docstrings import described, readable
from rlgpt.plugin.idle import IDLE, idle_action, plain_idle
from rlgpt.plugin.judged import Asked, Judged, Success, read_success, usual_rule
from rlgpt.plugin.rules import SuccessRule, parse_rule
from rlgpt.plugin.states import AttributeStates, holds
from rlgpt.plugin.types import Context, Primitive, StateCodec

MakeEnv = Callable[..., gymnasium.Env[Any, Any]]
"""A function that makes an environment: ``make_env()`` or ``make_env(render_mode=...)``."""

HORIZON = 1000
"""Maximal number of primitive steps of an episode if the environment has no limit."""

NEVER = SuccessRule("never", (), "at the end", never=True)
"""The rule of success for a task that has a score instead of a success: no episode succeeds."""


class GenericPlugin(EnvironmentPlugin):
    """A plugin with a single task, for any gymnasium environment. :meth:`of` makes such a plugin.

    :ivar world: the arguments of :meth:`of` that a bundle stores, so that its actions run on other machines. These
        arguments are names of actions and observations, names of the user's primitives, the idle action, the rule of
        success, the score and the metrics.
    :ivar has_limit: whether the environment states a maximal number of steps of an episode.
    :ivar threshold: the ``reward_threshold`` in the environment's gymnasium registration; None if the registration has
        no threshold.
    """

    name = "gymnasium"
    vectors = "plain"

    def __init__(self, task: Task, defaults: SpaceDefaults) -> None:
        self._task, self._defaults = task, defaults
        self._make: MakeEnv | None = None
        self._success: SuccessRule | Asked | None = None
        self._metrics: Mapping[str, str] = {}
        self._docs = ""
        self.has_limit = False
        self.threshold: float | None = None
        self._idle: Any = None
        self._own_primitives: tuple[Primitive, ...] = ()
        self._states: StateCodec | None = None
        self._states_tried = False
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
        success: Success | SuccessRule | str | float | None = None,
        score: Score | None = None,
        metrics: Mapping[str, Metric] | None = None,
        horizon: int | None = None,
        primitives: Sequence[Primitive] = (),
        idle: Any = None,
        states: StateCodec | None = None,
    ) -> GenericPlugin:
        """Make the plugin for an environment.

        :param env: the environment, or a function that makes an environment: ``make_env()`` or
            ``make_env(render_mode=...)``. A training needs the function, because it uses several environments.
        :param task: the task. By default, the task is made from the environment's id and from the parameters ``goal``,
            ``horizon``, ``success``, ``score`` and ``metrics``.
        :param goal: what an episode is about, in words, for the default task; not used if ``task`` is given.
        :param labels: names of the action's parts (see :class:`~rlgpt.plugin.types.Labels`), or a dict from name to
            meaning. By default, the labels are the result of ``get_action_meanings()`` or the enum ``actions`` of the
            environment, else ``action_0``, ``action_1``, ...
        :param observations: names of the numbers of a one-dimensional observation, or a dict from name to meaning.
        :param docs: expert knowledge about the environment. By default, the text is the environment's class, docstring
            and settings (:func:`rlgpt.plugin.docstrings.described`).
        :param success: a rule of success (:mod:`rlgpt.plugin.rules`), the return that counts as success, or a function
            (:data:`rlgpt.plugin.judged.Success`). By default, the task has no success if ``score`` is given, else it
            has the rule of :func:`rlgpt.plugin.judged.usual_rule`.
        :param score: the number that measures the quality of an episode, which is the return, or the name of a metric
            in ``metrics``.
        :param metrics: a dict from a key of ``info`` to the metric that is computed from the numbers under this key.
        :param horizon: number of primitive steps after which an episode is truncated. By default, the horizon is the
            environment's own limit of steps, else 1,000.
        :param primitives: primitives in addition to ``act``, ``repeat`` and ``act_until``.
        :param idle: the idle action, which is a label of a Discrete space, or an action of the space. By default, the
            idle action is the first label in :data:`~rlgpt.plugin.idle.IDLE` that the action space has, else an action
            of zeros. The value 0 of a Discrete space may have an effect, so give ``idle`` if no label is in this list.
        :param states: the object that saves and restores the state of an environment that :meth:`make_env` made. By
            default, the object is an :class:`~rlgpt.plugin.states.AttributeStates`, if a test shows that a restored
            episode continues exactly as the saved episode; else None.
        :raises ConfigError: the action space is not supported, labels or ``idle`` do not fit their space, two metrics
            have the same name, or ``score`` is the name of no metric.
        :raises UnknownNameError: ``idle`` is a text that is not a label.
        """
        sample = env if isinstance(env, gymnasium.Env) else _call(env, None)
        rule = None
        if success is not None or score is None:
            rule = usual_rule(sample) if success is None else read_success(success)
        given = dict(metrics or {})
        task = task or _task(sample, goal, "" if rule is None else rule.words, horizon, score, tuple(given.values()))
        plugin = cls(task, SpaceDefaults.of(sample, labels=labels, observations=observations))
        plugin.name = task.plugin
        plugin.has_limit = limit_of(sample) is not None
        plugin.threshold = sample.spec.reward_threshold if sample.spec is not None else None
        plugin._success, plugin._metrics = rule, {key: metric.name for key, metric in given.items()}
        plugin._make = None if isinstance(env, gymnasium.Env) else env
        plugin._idle = idle_action(sample.action_space, tuple(plugin._defaults.labels), idle)
        plugin._docs = readable(docs) if docs else described(sample)
        plugin._own_primitives = tuple(primitives)
        plugin._states, plugin._states_tried = states, states is not None
        plugin.world = World(
            labels=plugin._defaults.labels if labels is not None else None,
            observations=with_meanings(observations) if observations is not None else None,
            primitives=tuple(p.name for p in primitives),
            idle=plain_idle(idle),
            success=rule.text if isinstance(rule, SuccessRule) and success is not None else None,
            score=score,
            metrics=given,
        )
        if sample is not env:
            sample.close()
        return plugin

    def judged_by(self, success: str | None, score: Score | None) -> GenericPlugin:
        """A copy of this plugin with another rule of success, or with a score and no success."""
        rule = None if success is None else parse_rule(success)
        other = copy.copy(self)
        words = {"success": "" if rule is None else rule.words, "score": score}
        other._task = Task.model_validate({**dict(self._task), **words})
        other._success = rule
        other.world = self.world.model_copy(update={"success": success, "score": score})
        return other

    @property
    def rule(self) -> SuccessRule | Asked | None:
        """The rule of success of the task; None if the task has only a score."""
        return self._success

    def tasks(self) -> Mapping[str, Task]:
        return {self._task.id: self._task}

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        """A new environment with ``info["success"]``, whose episodes are truncated at the task's horizon.

        :raises PluginError: the plugin was made from one environment instead of a function that makes environments.
        """
        if self._make is None:
            raise PluginError(
                f"{task.id}: this plugin was made from one environment and cannot make another environment. "
                "Use GenericPlugin.of(make_env), with a function that makes one."
            )
        rule = NEVER if self._success is None else self._success
        env = Judged(_call(self._make, render_mode), task.horizon, rule, self._metrics)
        env.reset(seed=seed)
        return env

    def states(self, task: Task) -> StateCodec | None:
        """The codec that the caller gave. If the caller gave none, the result is an AttributeStates if a test
        (:func:`~rlgpt.plugin.states.holds`) shows that it is exact, else None. The test runs once, in a separate
        environment.
        """
        if not self._states_tried and self._make is not None:
            self._states_tried, codec = True, AttributeStates()
            env = self.make_env(task, seed=0)
            try:
                self._states = codec if holds(codec, env) else None
            finally:
                env.close()
        return self._states

    def defaults(self, task: Task) -> SpaceDefaults:
        return self._defaults

    def primitives(self, task: Task) -> Sequence[Primitive]:
        """The default primitives, followed by the primitives that the caller gave. The meanings of the labels document
        the parameters of the default primitives.
        """
        defaults = self._defaults.primitives(self._defaults.labels, self.view_keys(task), self.view_value)
        return *defaults, *self._own_primitives

    def noop(self, action_space: gymnasium.Space[Any], ctx: Context) -> Any:
        """The caller's idle action. If the caller gave no idle action, the idle action is the value of a Discrete space
        whose label is in :data:`~rlgpt.plugin.idle.IDLE`, else zeros.
        """
        return self.idle(action_space)

    def idle(self, action_space: gymnasium.Space[Any]) -> Any:
        if self._idle is not None:
            return copy.copy(self._idle)
        labels = list(self._defaults.labels)
        idle_labels = [label for label in IDLE if label in labels]
        if isinstance(action_space, gymnasium.spaces.Discrete) and idle_labels:
            return action_space.start + labels.index(idle_labels[0])
        return zero_action(action_space)

    @property
    def idle_words(self) -> str:
        """The label of the idle action of a Discrete space as the text `` (LABEL)``; empty for other spaces."""
        space = self._defaults.actions.space
        if not isinstance(space, gymnasium.spaces.Discrete):
            return ""
        chosen = int(self.idle(space)) - int(space.start)
        return f" ({list(self._defaults.labels)[chosen]})"

    @property
    def unnamed(self) -> dict[str, str]:
        """Words for a message about actions and numbers that have no name. The keys of the returned dict are the
        arguments of ``design()`` that can name these actions and numbers.
        """
        labels, keys = list(self._defaults.labels), [k for k in self._defaults.view_keys if k.shape and k.size > 1]
        found = {}
        if labels == list(default_labels(self._defaults.actions.space)):
            found["labels"] = f"{labels[0]} to {labels[-1]}" if len(labels) > 1 else labels[0]
        if keys and self.world.observations is None:
            nameable = max(len(k.shape) for k in keys) == 1
            found["observations" if nameable else "docs"] = (
                f"the {sum(k.size for k in keys)} numbers of the observation"
            )
        return found

    def knowledge(self, task: Task) -> str:
        return self._docs


def _call(make: MakeEnv, render_mode: str | None) -> gymnasium.Env[Any, Any]:
    """Make an environment. gymnasium warns at each call of ``make`` if an environment has a newer version; this warning
    is not repeated for the many environments of a run.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*is out of date", DeprecationWarning)
        return make() if render_mode is None else make(render_mode=render_mode)


def _task(
    env: gymnasium.Env[Any, Any],
    goal: str,
    success: str,
    horizon: int | None,
    score: Score | None,
    metrics: tuple[Metric, ...],
) -> Task:
    title = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    name = re.sub(r"[^a-z0-9_.-]+", "-", title.lower()).lstrip("-_.") or "env"
    fields = {
        "id": f"{GenericPlugin.name}/{name[:80]}",
        "goal": goal or f"Get as much reward as possible in {title}.",
        "horizon": horizon or limit_of(env) or HORIZON,
        "success": success,
        "score": score,
        "metrics": metrics,
    }
    return validated(Task, fields)


def limit_of(env: gymnasium.Env[Any, Any]) -> int | None:
    """Maximal number of steps of an episode, from the TimeLimit wrapper, the gymnasium registration, or an attribute of
    the environment; None if the environment has no limit.
    """
    if env.has_wrapper_attr("_max_episode_steps"):
        limit = env.get_wrapper_attr("_max_episode_steps")
    else:
        limit = env.spec.max_episode_steps if env.spec is not None else None
    limit = limit or getattr(env.unwrapped, "max_steps", None)
    return int(limit) if isinstance(limit, int) and limit > 0 else None
