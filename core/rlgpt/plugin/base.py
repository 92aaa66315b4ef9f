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
    """The functions of the sandbox's vector module ``vec`` that prompts describe. ``all`` is for every world, ``plain``
    (no quaternions) for a world in which nothing rotates in three dimensions, ``none`` for a world of cells or words.
    """

    base: EnvironmentPlugin | None = None
    """The plugin whose methods this plugin calls, if it stands in for another plugin; else None."""

    def overrides(self, method: str) -> bool:
        """Whether the plugin has its own version of the method of this name."""
        return getattr(type(self), method) is not getattr(EnvironmentPlugin, method)

    @abstractmethod
    def tasks(self) -> Mapping[str, Task]:
        """The tasks of the plugin: task id -> task.

        The id of each task is ``PLUGIN/NAME``, where PLUGIN is the name of the plugin. This method must be fast, so it
        must not import a simulator.
        """

    @abstractmethod
    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        """Make the task's environment, without coded actions.

        The environment passes ``gymnasium.utils.env_checker.check_env`` and truncates an episode after ``task.horizon``
        primitive steps. If the task has a success, ``info["success"]`` is a bool at every step. If the task has
        metrics, ``info["metrics"]`` maps the name of a metric to its number, at the steps that report the metric. The
        wrapper :class:`rlgpt.plugin.Judged` adds the time limit, success and metrics to an environment.

        :param task: one of :meth:`tasks`, perhaps with other settings.
        :param seed: seed of all random numbers that are drawn before the first reset.
        :param render_mode: render mode of gymnasium; ``rgb_array`` for videos.
        :returns: an environment with a supported action space: Discrete, Box, one-dimensional MultiDiscrete, or a Tuple
            of Discrete and Box.
        :raises rlgpt.errors.ConfigError: this machine lacks what the environment needs, such as the simulator.
        """

    def make_vector(self, task: Task, *, count: int, seed: int) -> gymnasium.vector.VectorEnv[Any, Any, Any] | None:
        """Make a batch simulator with ``count`` of the task's environments. The built-in PPO then learns in this
        vector, and evaluations of several episodes play in the vector.

        After a reset with the same seed, each environment of the vector behaves as an environment that :meth:`make_env`
        makes. The vector's autoreset mode is ``AutoresetMode.DISABLED`` or, for the training only, ``NEXT_STEP``.
        :meth:`lane_model` returns the model of one environment.

        :returns: the vector; None, the default, if there is no batch simulator.
        """
        return None

    def defaults(self, task: Task) -> SpaceDefaults:
        """Labels, primitives and view, derived from the spaces of ``task``. The default implementations of the other
        methods use this object.

        For each task, this method makes one environment, closes it, and stores the result. A plugin whose simulator is
        slow to start may override the method and return ``SpaceDefaults(action_space, observation_space)``.

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
        """The object through which primitives, views and reward terms read ``env``. Code in the sandbox never gets this
        object. Default: ``env.unwrapped``.
        """
        return env.unwrapped

    def lane_model(self, venv: gymnasium.vector.VectorEnv[Any, Any, Any], lane: int) -> Any:
        """The model (see :meth:`model`) of environment ``lane`` of a vector (:func:`rlgpt.extend_vector`).

        With ``AutoresetMode.SAME_STEP``, the step that ends an episode also begins the next episode. So a batch
        simulator is already in the next episode when the last view and reward terms of the old episode are computed.
        View and reward terms must therefore be computed from the observation and ``info``. Default: ``model(env)`` if
        the vector consists of separate environments, else ``venv.unwrapped``.
        """
        envs = getattr(venv, "envs", None)
        return venv.unwrapped if envs is None else self.model(envs[lane])

    def primitives(self, task: Task) -> Sequence[Primitive]:
        """The primitives that coded actions may call.

        Default: ``act``, ``repeat`` and, if the view has numbers for a policy, ``act_until``.
        """
        return self.defaults(task).primitives(self.labels(task).actions, self.view_keys(task), self.view_value)

    def low_level_space(self, env: gymnasium.Env[Any, Any]) -> gymnasium.Space[Any]:
        """The space of the low-level actions that primitives yield.

        Default: the action space. This space may contain further actions that ``env.step`` accepts but a policy may not
        choose.
        """
        return env.action_space

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        """The documented keys of :meth:`view` and of :meth:`policy_view`. The keys of :meth:`policy_view` have
        ``alone=True``.

        Default: one or more keys for each part of the observation.
        """
        return self.defaults(task).view_keys

    def view(self, ctx: Context) -> dict[str, Plain]:
        """The view that coded actions observe. The view has a plain value for each key of :meth:`view_keys` that is not
        marked ``alone``.
        """
        return self.defaults(ctx.task).view(ctx)

    def views(self, contexts: Sequence[Context]) -> Sequence[Mapping[str, Plain]]:
        """The views of several environments at the same moment. All views have the same keys in the same order, and the
        values that :meth:`view` returns.

        A plugin that can compute several views in one batch overrides this method. The plugin may compute the values of
        a key only when the key is first read (:class:`~rlgpt.plugin.columns.Columns`). A view must not change when its
        environment steps. Default: one call of :meth:`view` for each environment.
        """
        return [self.view(ctx) for ctx in contexts]

    def policy_view(self, ctx: Context) -> Mapping[str, Any]:
        """The values that only a policy observes: a number or an array for each key of :meth:`view_keys` that is marked
        ``alone``.

        Such keys are for numbers that would fill a prompt and that code cannot use, such as the one-hot cells of a map
        or a history of sensors. This method is called only if the RLSetup names one of its keys. The values may be
        arrays, and the sandbox's limits do not apply to these values. Default: no keys.
        """
        return {}

    def policy_views(self, contexts: Sequence[Context]) -> Sequence[Mapping[str, Any]]:
        """The values of :meth:`policy_view` for several environments at the same moment. Default: one call of
        :meth:`policy_view` for each environment.
        """
        return [self.policy_view(ctx) for ctx in contexts]

    def view_value(self, ctx: Context, key: str) -> Plain:
        """The value of one key of :meth:`view`. If the plugin does not override ``view``, no other key is computed."""
        if type(self).view is EnvironmentPlugin.view:
            return self.defaults(ctx.task).view_value(ctx, key)
        return self.view(ctx)[key]

    def applicable(self, action: str, view: Mapping[str, Plain]) -> bool:
        """Whether coded action ``action`` may start now. The action's own ``can_start`` must allow it as well."""
        return True

    def noop(self, action_space: gymnasium.Space[Any], ctx: Context) -> Any:
        """The idle action: the base action with the least effect. The environment takes it in a decision whose coded
        action calls no primitive. Default: zeros.

        :returns: an element of ``action_space``.
        """
        from rlgpt.plugin.actions import zero_action

        return zero_action(action_space)

    def summarize(self, view: Mapping[str, Plain]) -> str:
        """The text of a view for prompts, at most 1,500 characters."""
        from rlgpt.plugin.defaults import summarize

        return summarize(view)

    def labels(self, task: Task) -> Labels:
        """The labels: names of the parts of the base action. Default: the names that the environment gives, else
        ``action_0``, ...
        """
        return Labels(tuple(self.defaults(task).labels))

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        """The reward terms to which an RLSetup may give weights. Default: only the environment's own reward, under the
        name ``env_reward``.
        """
        from rlgpt.plugin.defaults import ENV_REWARD

        return (ENV_REWARD,)

    def default_setup(self, task: Task) -> RLSetup:
        """The RLSetup that is used if no agent writes one, and for the pure RL baseline.

        The default setup has every key that a policy can use (pictures and long arrays of the default view first). The
        reward is the environment's own reward, or the sum of all reward terms if the plugin does not offer the
        environment's reward.
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

        Default: None, which means that the state cannot be saved. For an environment in plain Python, a plugin may
        return :class:`~rlgpt.plugin.states.AttributeStates`. For an environment with methods ``save`` and ``load``, a
        plugin may return :class:`~rlgpt.plugin.states.OwnStates`. The plugin contract (:mod:`rlgpt.testing`) tests that
        a restored episode continues exactly.
        """
        return None

    def sub_task(self, task: Task) -> SubTask | None:
        """How ``task`` is a part of another task; None, the default, if it is not a part of another task. Only rlgpt's
        planner makes tasks that are parts of other tasks.
        """
        return None

    def knowledge(self, task: Task) -> str:
        """Expert knowledge about the environment, at most 10,000 characters. The text states facts and contains no
        solution of the task.
        """
        return ""

    def trainer_defaults(self, task: Task) -> Mapping[str, Any]:
        """Hyperparameters that suit the task: name in :class:`rlgpt.rl.base.Hyperparameters` -> value."""
        return {}

    def trainer_bounds(self, task: Task) -> Mapping[str, tuple[float, float]]:
        """The hyperparameters that an RLSetup may set: name -> the smallest and the largest valid value.

        Default: :data:`rlgpt.plugin.defaults.TRAINER_BOUNDS`. The values of :meth:`trainer_defaults` must be valid.
        """
        from rlgpt.plugin.defaults import TRAINER_BOUNDS

        return TRAINER_BOUNDS

    def transcripts(self, task: Task) -> Sequence[Path]:
        """The recordings for the task: ``.jsonl`` files in the plugin's package with replies of a language model."""
        return ()

    def limits(self, task: Task) -> EnvLimits:
        """The limits of the environments, such as how many environments may exist at the same time."""
        return EnvLimits()

    def doctor(self) -> Sequence[Check]:
        """Check whether this machine has the hardware and software that the plugin needs."""
        return ()
