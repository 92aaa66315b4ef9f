"""The interface of a plugin. A plugin makes the environments of its tasks, and defines the knowledge and skills that
agents may use.

Only :meth:`EnvironmentPlugin.tasks` and :meth:`EnvironmentPlugin.make_env` are required. Every other method has a
default, derived from the spaces of the environment (:class:`rlgpt.plugin.defaults.SpaceDefaults`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlgpt.domain import Plain, RLSetup, Task
from rlgpt.plugin.types import (
    Check,
    Context,
    EnvLimits,
    Labels,
    Primitive,
    ResetOption,
    RewardTerm,
    StateCodec,
    SubTask,
    ViewKey,
)

if TYPE_CHECKING:
    import gymnasium

    from rlgpt.plugin.defaults import SpaceDefaults
    from rlgpt.sandbox.library import Vectors


class EnvironmentPlugin(ABC):
    """A plugin: a family of tasks. One process has one instance of a plugin. The instance stores no environment and no
    state of an episode.
    """

    name: str
    """Name of the plugin: the prefix of its task ids, and its name in ``rlgpt doctor``."""

    vectors: Vectors = "all"
    """Functions of the sandbox's vector module ``vec`` that prompts describe: ``all``; ``plain``, without
    quaternions, if nothing rotates in three dimensions; ``none``, for a world of cells or words.
    """

    base: EnvironmentPlugin | None = None
    """The plugin for which this one answers; None for a plugin of its own."""

    def overrides(self, method: str) -> bool:
        """Whether the plugin has its own version of the method of this name."""
        return getattr(type(self), method) is not getattr(EnvironmentPlugin, method)

    @abstractmethod
    def tasks(self) -> Mapping[str, Task]:
        """Task id -> task. This method must be fast: it imports no simulator."""

    @abstractmethod
    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        """Make the task's environment, without coded actions.

        The environment passes ``gymnasium.utils.env_checker.check_env`` and truncates an episode after ``task.horizon``
        primitive steps. If the task has a success, ``info["success"]`` is a bool at every step. If the task has
        metrics, ``info["metrics"]`` has their numbers at the steps that report them. The wrapper
        :class:`rlgpt.plugin.Judged` adds the time limit, success and metrics.

        :param seed: seeds everything that is drawn before the first reset.
        :param render_mode: render mode of gymnasium; ``rgb_array`` for videos.
        """

    def make_vector(self, task: Task, *, count: int, seed: int) -> gymnasium.vector.VectorEnv[Any, Any, Any] | None:
        """Make a batch simulator with ``count`` of the task's environments. The built-in PPO then learns from it, and
        evaluations of several episodes play in it.

        With the same seed of a reset, an environment of the vector behaves as that of :meth:`make_env`. The vector's
        autoreset mode is ``AutoresetMode.DISABLED`` or, for the training only, ``NEXT_STEP``. :meth:`lane_model` gives
        the model of one environment.

        :returns: None, the default: there is no batch simulator.
        """
        return None

    def defaults(self, task: Task) -> SpaceDefaults:
        """Labels, primitives and view, derived from the spaces of ``task``. The default of every other method uses
        them.

        For each task, this makes one environment, closes it, and stores the result. A plugin whose simulator is slow to
        start may return ``SpaceDefaults(action_space, observation_space)`` instead.

        :raises ConfigError: the action space has no parameters.
        """
        from rlgpt.plugin.defaults import SpaceDefaults

        cache: dict[str, SpaceDefaults] = self.__dict__.setdefault("_defaults_by_task", {})
        if task.id not in cache:
            env = self.make_env(task, seed=0)
            try:
                cache[task.id] = SpaceDefaults.of(env)
            finally:
                env.close()
        return cache[task.id]

    def model(self, env: gymnasium.Env[Any, Any]) -> Any:
        """The object through which primitives, views and reward terms read ``env``. Code in the sandbox
        never gets it. Default: ``env.unwrapped``.
        """
        return env.unwrapped

    def lane_model(self, venv: gymnasium.vector.VectorEnv[Any, Any, Any], lane: int) -> Any:
        """The model (see :meth:`model`) of environment ``lane`` of a vector (:func:`rlgpt.extend_vector`).

        With ``AutoresetMode.SAME_STEP``, the step that ends an episode also begins the next one. A batch simulator is
        then already in the next episode when the last view and reward terms are computed. View and reward terms must
        then be computed from the observation and ``info``. Default: the model of this environment, if the vector holds
        separate ones; else ``venv.unwrapped``.
        """
        envs = getattr(venv, "envs", None)
        return venv.unwrapped if envs is None else self.model(envs[lane])

    def primitives(self, task: Task) -> Sequence[Primitive]:
        """The primitives: skills that coded actions may call.

        Default: ``act``, ``repeat`` and, if the view has numbers for a policy, ``act_until``.
        """
        return self.defaults(task).primitives(self.labels(task).actions, self.view_keys(task), self.view_value)

    def low_level_space(self, env: gymnasium.Env[Any, Any]) -> gymnasium.Space[Any]:
        """The space of the actions that primitives yield.

        Default: the action space. The space may be wider than the action space if ``step`` accepts more than a policy
        may choose.
        """
        return env.action_space

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        """The keys of :meth:`view`, documented, and those of :meth:`policy_view`, which are marked ``alone``.

        Default: one or more for each part of the observation.
        """
        return self.defaults(task).view_keys

    def view(self, ctx: Context) -> dict[str, Plain]:
        """The view, which coded actions observe: a JSON-like value for each key of :meth:`view_keys` that is not
        marked ``alone``.
        """
        return self.defaults(ctx.task).view(ctx)

    def views(self, contexts: Sequence[Context]) -> Sequence[Mapping[str, Plain]]:
        """:meth:`view` of several environments at the same moment, with the same keys in the same order, and with equal
        values. A plugin that can compute them in one batch overrides it, and may compute a key when it is first read
        (:class:`~rlgpt.plugin.columns.Columns`). A view must not change when its environment steps. Default: one by
        one.
        """
        return [self.view(ctx) for ctx in contexts]

    def policy_view(self, ctx: Context) -> Mapping[str, Any]:
        """The values that only a policy observes: a number or an array for each key of :meth:`view_keys` that is marked
        ``alone``.

        Use it for numbers that would fill a prompt and that code cannot use, such as the one-hot cells of a map or a
        history of sensors. The method is called only if the RLSetup names such a key. The values may be arrays, and the
        sandbox's limits do not apply to them. Default: no keys.
        """
        return {}

    def policy_views(self, contexts: Sequence[Context]) -> Sequence[Mapping[str, Any]]:
        """:meth:`policy_view` of several environments at the same moment, as :meth:`views`. Default: one by one."""
        return [self.policy_view(ctx) for ctx in contexts]

    def view_value(self, ctx: Context, key: str) -> Plain:
        """The value of one key of :meth:`view`. If the plugin does not override ``view``, only this key is computed."""
        if type(self).view is EnvironmentPlugin.view:
            return self.defaults(ctx.task).view_value(ctx, key)
        return self.view(ctx)[key]

    def applicable(self, action: str, view: Mapping[str, Plain]) -> bool:
        """Whether coded action ``action`` may start now. The action's own ``can_start`` must allow it as well."""
        return True

    def noop(self, action_space: gymnasium.Space[Any], ctx: Context) -> Any:
        """The base action with the least effect. The idle action is used for a coded action that calls no primitive.
        Default: zeros.

        :returns: an element of ``action_space``.
        """
        from rlgpt.plugin.actions import zero_action

        return zero_action(action_space)

    def summarize(self, view: Mapping[str, Plain]) -> str:
        """A view as text for prompts, at most 1,500 characters."""
        from rlgpt.plugin.defaults import summarize

        return summarize(view)

    def labels(self, task: Task) -> Labels:
        """Names of the parts of the base action. Default: the names that the environment gives, else
        ``action_0``, ...
        """
        return Labels(tuple(self.defaults(task).labels))

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        """Reward terms to which an RLSetup may give weights. Default: only the environment's reward, as
        ``env_reward``.
        """
        from rlgpt.plugin.defaults import ENV_REWARD

        return (ENV_REWARD,)

    def default_setup(self, task: Task) -> RLSetup:
        """The RLSetup that is used if no agent writes one, and for the pure RL baseline.

        Default: every key that a policy can use (pictures and long arrays of the default view first), and the
        environment's reward, or all reward terms if the plugin does not offer the environment's reward.
        """
        keys = [k.name for k in self.view_keys(task) if k.size]
        if type(self).view_keys is EnvironmentPlugin.view_keys:
            keys = [*self.defaults(task).alone, *keys]
        terms = [t.name for t in self.reward_terms(task)]
        weights = dict.fromkeys(["env_reward"] if "env_reward" in terms else terms, 1.0)
        return RLSetup(reward_weights=weights, observation_keys=tuple(keys))

    def reset_options(self, task: Task) -> Sequence[ResetOption]:
        """Start states from which an RLSetup may let training episodes begin. Default: only the task's own reset."""
        return ()

    def states(self, task: Task) -> StateCodec | None:
        """The object that saves and restores the state of an episode, so that training episodes can begin where coded
        actions returned.

        Default: None, which means that the state cannot be saved. The plugin of an environment in plain Python may
        return :class:`~rlgpt.plugin.states.AttributeStates`; that of an environment with methods ``save`` and ``load``
        may return :class:`~rlgpt.plugin.states.OwnStates`. The plugin contract (:mod:`rlgpt.testing`) tests that a
        restored episode continues exactly.
        """
        return None

    def sub_task(self, task: Task) -> SubTask | None:
        """The part of another task that ``task`` is. Only rlgpt's planner makes such tasks. Default: None."""
        return None

    def knowledge(self, task: Task) -> str:
        """Expert knowledge about the environment: facts, not a solution. At most 10,000 characters."""
        return ""

    def trainer_defaults(self, task: Task) -> Mapping[str, Any]:
        """Hyperparameters that suit the task: name in :class:`rlgpt.rl.base.Hyperparameters` -> value."""
        return {}

    def trainer_bounds(self, task: Task) -> Mapping[str, tuple[float, float]]:
        """Hyperparameter that an RLSetup may set -> its inclusive range.

        Default: :data:`rlgpt.plugin.defaults.TRAINER_BOUNDS`. The values of :meth:`trainer_defaults` must be within
        these ranges.
        """
        from rlgpt.plugin.defaults import TRAINER_BOUNDS

        return TRAINER_BOUNDS

    def transcripts(self, task: Task) -> Sequence[Path]:
        """Recordings (``.jsonl`` files with a language model's replies) for this task, which are package data."""
        return ()

    def limits(self, task: Task) -> EnvLimits:
        """The limits of the environments: how many may exist at the same time."""
        return EnvLimits()

    def doctor(self) -> Sequence[Check]:
        """Check whether this machine has the hardware and software that the plugin needs."""
        return ()
