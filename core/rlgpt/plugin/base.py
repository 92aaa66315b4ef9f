"""The interface of a plugin. A plugin makes the environments of its tasks, and defines the knowledge and skills that
agents may use.

A plugin must define only :meth:`EnvironmentPlugin.tasks` and :meth:`EnvironmentPlugin.make_env`. Every other method of
a plugin has a default, derived from the spaces of the environment (:class:`rlgpt.plugin.defaults.SpaceDefaults`).
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
    """A plugin: a family of tasks. One process has one instance of a plugin. The plugin object stores no environment
    and no state of an episode.
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
        """Whether the plugin overrides the method of this name."""
        return getattr(type(self), method) is not getattr(EnvironmentPlugin, method)

    @abstractmethod
    def tasks(self) -> Mapping[str, Task]:
        """The tasks of the plugin: task id -> task.

        The id of each task is ``PLUGIN/NAME``, where PLUGIN is the name of the plugin. The method ``tasks`` must be
        fast, so it must not import a simulator.
        """

    def unlisted_tasks(self) -> Mapping[str, Task]:
        """Further tasks of a plugin that has too many tasks for a list, for example the tasks of a benchmark suite.
        Users name them like all other tasks, but ``rlgpt tasks`` lists them only if a pattern is given.

        :returns: task id -> task; nothing by default. No id is also in :meth:`tasks`.
        """
        return {}

    @abstractmethod
    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        """Make the task's environment, without coded actions.

        The environment passes ``gymnasium.utils.env_checker.check_env`` and truncates an episode after ``task.horizon``
        primitive steps. If the task has a success, the environment's ``info["success"]`` is a bool at every step. If
        the task has metrics, ``info["metrics"]`` maps the name of a metric to its number, at the steps that report the
        metric. The wrapper :class:`rlgpt.plugin.Judged` adds the time limit, success and metrics to an environment.

        :param task: a task of this plugin, whose settings may differ from the defaults.
        :param seed: seed of all random numbers that the environment draws before its first reset.
        :param render_mode: render mode of gymnasium; the mode ``rgb_array`` is used for videos, and for frames that the
            critic gets.
        :returns: an environment with a supported action space, which is Discrete, Box, one-dimensional MultiDiscrete,
            or a Tuple of Discrete and Box.
        :raises rlgpt.errors.ConfigError: this machine lacks what the environment needs, such as the simulator.
        """

    def make_vector(self, task: Task, *, count: int, seed: int) -> gymnasium.vector.VectorEnv[Any, Any, Any] | None:
        """Make a batch simulator that simulates ``count`` environments of the task. PPO and Sample Factory then learn
        in such vectors of environments, and evaluations of several episodes play in one.

        After a reset with the same seed, each environment of the vector behaves like an environment that
        :meth:`make_env` makes. The autoreset mode of the vector is ``AutoresetMode.DISABLED`` or ``NEXT_STEP``;
        evaluations use only vectors with the mode ``DISABLED``. The method :meth:`lane_model` returns the model of one
        environment of the vector.

        If :meth:`low_level_space` has actions that are not in the action space, the vector's
        ``metadata["low_level_actions"]`` must be True, and the vector's ``step`` gets a list with one action for each
        environment.

        :returns: the vector of environments; None (the default) if the plugin has no batch simulator.
        """
        return None

    def defaults(self, task: Task) -> SpaceDefaults:
        """The default labels, primitives and view, derived from the spaces of ``task``. The default implementations of
        the plugin's other methods use the result.

        For each task with its settings, the method makes one environment, closes the environment, and stores the
        result. A plugin whose simulator is slow to start may override the method and return
        ``SpaceDefaults(action_space, observation_space)``.

        :raises ConfigError: the action space is not supported.
        """
        from rlgpt.plugin.defaults import SpaceDefaults

        cache: dict[tuple[str, str], SpaceDefaults] = self.__dict__.setdefault("_defaults_by_task", {})
        key = task.id, repr(sorted(task.settings.items()))
        if key not in cache:
            env = self.make_env(task, seed=0)
            try:
                cache[key] = SpaceDefaults.of(env)
            finally:
                env.close()
        return cache[key]

    def model(self, env: gymnasium.Env[Any, Any]) -> Any:
        """The model, which is the object through which primitives, views and reward terms read ``env``. Code in the
        sandbox never gets the model. Default: ``env.unwrapped``.
        """
        return env.unwrapped

    def lane_model(self, venv: gymnasium.vector.VectorEnv[Any, Any, Any], lane: int) -> Any:
        """The model (see :meth:`model`) of the environment ``lane`` in a vector of environments
        (:func:`rlgpt.extend_vector`).

        By default, the model is ``model(env)`` if the vector consists of separate environments, else
        ``venv.unwrapped``. With ``AutoresetMode.SAME_STEP``, the step that ends an episode also begins the next one. A
        batch simulator is then already in the next episode when the last view and the last reward terms of the old
        episode are computed. With ``SAME_STEP``, views and reward terms must therefore be computed from the observation
        and ``info``, not from the model.
        """
        envs = getattr(venv, "envs", None)
        return venv.unwrapped if envs is None else self.model(envs[lane])

    def primitives(self, task: Task) -> Sequence[Primitive]:
        """The primitives that coded actions may call.

        By default, a plugin has the primitives ``act``, ``repeat`` and, if the view has a number that it can watch,
        ``act_until``.
        """
        return self.defaults(task).primitives(self.labels(task).actions, self.view_keys(task), self.view_value)

    def low_level_space(self, env: gymnasium.Env[Any, Any]) -> gymnasium.Space[Any]:
        """The space of the low-level actions that primitives yield.

        Default: the action space. The space may also contain actions that ``env.step`` accepts and that a policy may
        not choose.
        """
        return env.action_space

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        """The documented keys of the results of :meth:`view` and :meth:`policy_view`. The keys of the result of
        :meth:`policy_view` have ``alone=True``.

        By default, the view has one or more keys for each part of the observation.
        """
        return self.defaults(task).view_keys

    def view(self, ctx: Context) -> dict[str, Plain]:
        """The view that coded actions observe. The view has a plain value for each key of :meth:`view_keys` that is not
        marked ``alone``.
        """
        return self.defaults(ctx.task).view(ctx)

    def views(self, contexts: Sequence[Context]) -> Sequence[Mapping[str, Plain]]:
        """The views of several environments at the same moment. All views in the result have the same keys in the same
        order, with the values that :meth:`view` returns.

        A plugin that can compute several views in one batch overrides this method. The plugin may compute the values of
        a key only when the key is first read (:class:`~rlgpt.plugin.columns.Columns`). A returned view must not change
        when its environment steps. By default, the method calls :meth:`view` once for each environment.
        """
        return [self.view(ctx) for ctx in contexts]

    def policy_view(self, ctx: Context) -> Mapping[str, Any]:
        """The values that only a policy observes, which are a number or an array for each key of :meth:`view_keys` that
        is marked ``alone``.

        Keys marked ``alone`` have numbers that would fill a prompt and that code cannot use, such as the one-hot cells
        of a map or a history of sensors. The method is called only if the RLSetup names such a key. The values may be
        arrays, and the sandbox's limits do not apply to them. Default: no keys.
        """
        return {}

    def policy_views(self, contexts: Sequence[Context]) -> Sequence[Mapping[str, Any]]:
        """The values of :meth:`policy_view` for several environments at the same moment. By default, the method calls
        :meth:`policy_view` once for each environment.
        """
        return [self.policy_view(ctx) for ctx in contexts]

    def view_value(self, ctx: Context, key: str) -> Plain:
        """The value of one key of :meth:`view`. If the plugin does not override ``view``, only the value of the given
        key is computed.
        """
        if type(self).view is EnvironmentPlugin.view:
            return self.defaults(ctx.task).view_value(ctx, key)
        return self.view(ctx)[key]

    def applicable(self, action: str, view: Mapping[str, Plain]) -> bool:
        """Whether the coded action ``action`` may start in the current state. The coded action starts only if its own
        ``can_start`` returns True as well.
        """
        return True

    def noop(self, action_space: gymnasium.Space[Any], ctx: Context) -> Any:
        """The idle action: the base action with the least effect. The environment takes the idle action in a decision
        whose coded action calls no primitive. Default: zeros.

        :returns: an element of ``action_space``.
        """
        from rlgpt.plugin.actions import zero_action

        return zero_action(action_space)

    def summarize(self, view: Mapping[str, Plain]) -> str:
        """A view as text for prompts, at most 1,500 characters."""
        from rlgpt.plugin.defaults import summarize

        return summarize(view)

    def labels(self, task: Task) -> Labels:
        """The labels: names of the base actions, or of the parts of the base action. By default, the labels are the
        names that the environment gives, else ``action_0``, ``action_1``, ...
        """
        return Labels(tuple(self.defaults(task).labels))

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        """The reward terms to which an RLSetup may give weights. By default, a plugin has only the environment's own
        reward, as the reward term ``env_reward``.
        """
        from rlgpt.plugin.defaults import ENV_REWARD

        return (ENV_REWARD,)

    def default_setup(self, task: Task) -> RLSetup:
        """The RLSetup that is used if no agent writes a setup, and for the pure RL baseline.

        The default setup observes every key that a policy can use (pictures and long arrays of the default view first).
        The reward of the default setup is the environment's own reward. If the plugin does not offer the environment's
        reward, the reward is the sum of all reward terms.
        """
        keys = [k.name for k in self.view_keys(task) if k.size]
        if type(self).view_keys is EnvironmentPlugin.view_keys:
            keys = [*self.defaults(task).alone, *keys]
        terms = [t.name for t in self.reward_terms(task)]
        weights = dict.fromkeys(["env_reward"] if "env_reward" in terms else terms, 1.0)
        return RLSetup(reward_weights=weights, observation_keys=tuple(keys))

    def reset_options(self, task: Task) -> Sequence[ResetOption]:
        """The reset options: start states in which an RLSetup may let training episodes begin. Default: none but the
        task's own reset."""
        return ()

    def states(self, task: Task) -> StateCodec | None:
        """The object that saves and restores the state of an episode, so that training episodes can begin where coded
        actions ended.

        The default None means that the state of an episode cannot be saved. For an environment in plain Python, a
        plugin may return :class:`~rlgpt.plugin.states.AttributeStates`; for an environment with methods ``save`` and
        ``load``, :class:`~rlgpt.plugin.states.OwnStates`. The plugin contract (:mod:`rlgpt.testing`) tests that a
        restored episode continues exactly as the saved episode.
        """
        return None

    def sub_task(self, task: Task) -> SubTask | None:
        """A description of the larger task of which ``task`` is a part; None (the default) if ``task`` is no part of
        another task. Only rlgpt's planner makes tasks that are parts of other tasks.
        """
        return None

    def knowledge(self, task: Task) -> str:
        """Expert knowledge about the environment, at most 10,000 characters. The text states facts and contains no
        solution of the task.
        """
        return ""

    def trainer_defaults(self, task: Task) -> Mapping[str, Any]:
        """Hyperparameters that suit the task, as a dict from names in :class:`rlgpt.rl.base.Hyperparameters` to
        values.
        """
        return {}

    def trainer_bounds(self, task: Task) -> Mapping[str, tuple[float, float]]:
        """The hyperparameters that an RLSetup may set, as a dict from name to the smallest and the largest valid value.

        By default, the bounds are :data:`rlgpt.plugin.defaults.TRAINER_BOUNDS`. The hyperparameters from
        :meth:`trainer_defaults` must be within these bounds.
        """
        from rlgpt.plugin.defaults import TRAINER_BOUNDS

        return TRAINER_BOUNDS

    def transcripts(self, task: Task) -> Sequence[Path]:
        """The recordings for the task, which are ``.jsonl`` files in the plugin's package with replies of a language
        model.
        """
        return ()

    def limits(self, task: Task) -> EnvLimits:
        """The limits of the environments, such as the number of environments that may exist at the same time."""
        return EnvLimits()

    def doctor(self) -> Sequence[Check]:
        """Check whether this machine has the hardware and software that the plugin needs."""
        return ()
