"""The interface of a plugin: the environment of a task, and what agents may know and use of it.

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
    ViewKey,
)

if TYPE_CHECKING:
    import gymnasium

    from rlgpt.plugin.defaults import SpaceDefaults
    from rlgpt.sandbox.library import Vectors


class EnvironmentPlugin(ABC):
    """A family of tasks. There is one instance in a process. It holds no environment and no state of an episode."""

    name: str
    """The prefix of its task ids, and its name in ``rlgpt doctor``."""

    vectors: Vectors = "all"
    """Which functions of ``vec`` prompts offer to coded actions: ``all``; ``plain``, without quaternions, where nothing
    turns in three dimensions; ``none``, in a world of cells or words."""

    @abstractmethod
    def tasks(self) -> Mapping[str, Task]:
        """Task id -> task. Cheap: imports no simulator."""

    @abstractmethod
    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        """The environment of the task, without the extension.

        It passes ``gymnasium.utils.env_checker.check_env`` and truncates at ``task.horizon`` primitive steps. Of a task
        with a success every step has a bool ``info["success"]``. The numbers of the task's metrics are in
        ``info["metrics"]``, at the steps that have them. :class:`rlgpt.plugin.Judged` does all but the first.

        :param seed: of everything that is drawn before the first reset.
        :param render_mode: of gymnasium; ``rgb_array`` for videos.
        """

    def defaults(self, task: Task) -> SpaceDefaults:
        """Labels, primitives and view that follow from the spaces of ``task``: every default below reads them.

        This makes an environment once for each task, closes it, and keeps what it learned of the spaces. A plugin
        whose simulator is slow to start may return ``SpaceDefaults(action_space, observation_space)`` instead.

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
        """A handle on ``env`` for primitives, views and reward terms, on the host. Default: ``env.unwrapped``."""
        return env.unwrapped

    def primitives(self, task: Task) -> Sequence[Primitive]:
        """Skills that coded actions may call.

        Default: ``act``, ``repeat`` and, if the view has numbers for a policy, ``act_until``.
        """
        return self.defaults(task).primitives(self.labels(task).actions, self.view_keys(task), self.view_value)

    def low_level_space(self, env: gymnasium.Env[Any, Any]) -> gymnasium.Space[Any]:
        """The space of the actions that primitives yield.

        Default: the action space. It may be wider, if ``step`` accepts more than a policy may choose.
        """
        return env.action_space

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        """The keys of :meth:`view`, documented, and those of :meth:`policy_view`, which are marked ``alone``.

        Default: one or more for each part of the observation.
        """
        return self.defaults(task).view_keys

    def view(self, ctx: Context) -> dict[str, Plain]:
        """What coded actions observe: plain values for the keys of :meth:`view_keys` not marked ``alone``."""
        return self.defaults(ctx.task).view(ctx)

    def policy_view(self, ctx: Context) -> Mapping[str, Any]:
        """What a policy alone observes: a number or an array for each key of :meth:`view_keys` with ``alone``.

        For numbers that would fill a prompt and help no code: the cells of a map, one-hot; a history of sensors. It is
        called only where the RLSetup names such a key. The arrays need not be plain, and no limit of the sandbox holds
        for them. Default: none.
        """
        return {}

    def view_value(self, ctx: Context, key: str) -> Plain:
        """The value of one key of :meth:`view`. The default view computes no other key for it."""
        if type(self).view is EnvironmentPlugin.view:
            return self.defaults(ctx.task).view_value(ctx, key)
        return self.view(ctx)[key]

    def applicable(self, action: str, view: Mapping[str, Plain]) -> bool:
        """Whether coded action ``action`` may start now. The action's own ``can_start`` must allow it as well."""
        return True

    def noop(self, action_space: gymnasium.Space[Any], ctx: Context) -> Any:
        """The base action with the least effect, for a coded action that calls nothing. Default: zeros.

        :returns: an element of ``action_space``.
        """
        from rlgpt.plugin.actions import zero_action

        return zero_action(action_space)

    def summarize(self, view: Mapping[str, Plain]) -> str:
        """A view in words, for prompts: at most 1,500 characters."""
        from rlgpt.plugin.defaults import summarize

        return summarize(view)

    def labels(self, task: Task) -> Labels:
        """Names of the parts of the base action. Default: those that the environment gives, else ``action_0``, ..."""
        return Labels(tuple(self.defaults(task).labels))

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        """Terms that an RLSetup may weigh. Default: the reward of the environment, as ``env_reward``."""
        from rlgpt.plugin.defaults import ENV_REWARD

        return (ENV_REWARD,)

    def default_setup(self, task: Task) -> RLSetup:
        """What the policy learns with if no agent decides it (and in the pure RL baseline).

        Default: every key that a policy can use (the pictures and long arrays of the default view first), and the
        reward of the environment, or all terms of a plugin that does not offer that.
        """
        keys = [k.name for k in self.view_keys(task) if k.size]
        if type(self).view_keys is EnvironmentPlugin.view_keys:
            keys = [*self.defaults(task).alone, *keys]
        terms = [t.name for t in self.reward_terms(task)]
        weights = dict.fromkeys(["env_reward"] if "env_reward" in terms else terms, 1.0)
        return RLSetup(reward_weights=weights, observation_keys=tuple(keys))

    def reset_options(self, task: Task) -> Sequence[ResetOption]:
        """Start states that an RLSetup may train from. Default: only the reset of the task."""
        return ()

    def states(self, task: Task) -> StateCodec | None:
        """How an episode's state is saved and restored, so that training can begin where coded actions led to.

        Default: None, it cannot be. An environment in plain Python may return
        :class:`~rlgpt.plugin.states.AttributeStates`, one that has ``save`` and ``load`` itself
        :class:`~rlgpt.plugin.states.OwnStates`. The contract tests the law that a codec keeps.
        """
        return None

    def knowledge(self, task: Task) -> str:
        """What an expert knows of this environment: facts, not a solution. At most 6,000 characters."""
        return ""

    def trainer_defaults(self, task: Task) -> Mapping[str, Any]:
        """Hyperparameters that suit the task, by the names of :class:`rlgpt.rl.base.Hyperparameters`."""
        return {}

    def trainer_bounds(self, task: Task) -> Mapping[str, tuple[float, float]]:
        """Hyperparameters that an RLSetup may set, and the range of each, inclusive.

        Default: :data:`rlgpt.plugin.defaults.TRAINER_BOUNDS`. The advice of :meth:`trainer_defaults` is within them.
        """
        from rlgpt.plugin.defaults import TRAINER_BOUNDS

        return TRAINER_BOUNDS

    def transcripts(self, task: Task) -> Sequence[Path]:
        """Recorded transcripts (``.jsonl``) of this task, shipped as package data."""
        return ()

    def limits(self, task: Task) -> EnvLimits:
        """How many environments may exist at once."""
        return EnvLimits()

    def doctor(self) -> Sequence[Check]:
        """Checks of what the plugin needs from this machine."""
        return ()
