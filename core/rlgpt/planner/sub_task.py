"""Makes a task from a sub-goal, so that both loops can work on the sub-goal as on any task. Its environment is that of
the whole task; its success, its horizon and its start states are those of the sub-goal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rlgpt.domain import CodedPredicate, GoalGraph, Plain, RLSetup, SubGoal, Task
from rlgpt.options import ExtendedEnv
from rlgpt.planner.stored import part_id
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.defaults import SUCCESS, SpaceDefaults
from rlgpt.plugin.states import EpisodeState
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
    from pathlib import Path

    import gymnasium


class Way(Protocol):
    """Plays from the start of the task to the start of a sub-goal, in an environment that cannot restore states."""

    def __call__(self, env: ExtendedEnv, seed: int) -> tuple[Any, dict[str, Any]]:
        """Play to the start of the sub-goal, and begin an episode of the sub-goal in the state that was reached.
        ``env.on_step`` counts the primitive steps that are played before the start of the sub-goal.

        :returns: observation and info, as ``env.reset()`` returns them.
        """


@dataclass(frozen=True)
class Part(SubTask):
    """Defines where an episode of a sub-goal begins and when this episode succeeds.

    An episode begins at the start of the whole task or in one of ``states``. The start is drawn, with equal
    probabilities, from ``own`` copies of the task's start and all ``states``. If ``way`` is given, every episode begins
    in the state that ``way`` reaches instead.

    :ivar whole: the whole task.
    :ivar done: the predicate that decides whether an episode of the sub-goal succeeds. If ``done`` is None, the success
        of the whole task decides.
    :ivar own: weight of the start of the whole task among the starts; each of ``states`` has the weight 1.
    :ivar states: the states of the environment in which earlier episodes called the sub-goal for the first time.
    :ivar way: an object that plays from the start of the whole task to the start of the sub-goal. ``way`` is given only
        if the environment cannot restore states and the sub-goal begins later than the task.
    """

    whole: Task
    done: CodedPredicate | None
    own: int = 1
    states: tuple[EpisodeState, ...] = ()
    way: Way | None = None

    def begin(self, env: ExtendedEnv, seed: int | None, options: dict[str, Any] | None) -> tuple[Any, dict[str, Any]]:
        rng = np.random.default_rng(None if seed is None else [seed, 0x9A27])
        if self.way is not None:
            return self.way(env, int(rng.integers(2**31)) if seed is None else seed)
        state = self._drawn(rng)
        return env.reset_whole(seed, options) if state is None else env.restore_episode(state, seed=seed)

    def start_of(self, seed: int) -> EpisodeState | None:
        """The state in which the episode with the seed ``seed`` begins; None for the start of the whole task."""
        return self._drawn(np.random.default_rng([seed, 0x9A27]))

    def _drawn(self, rng: np.random.Generator) -> EpisodeState | None:
        drawn = int(rng.integers(self.own + len(self.states))) - self.own
        return None if drawn < 0 else self.states[drawn]


@dataclass(frozen=True)
class PartFactory:
    """Makes the plugin of a sub-goal. ``PartFactory`` can be pickled, as :class:`~rlgpt.rl.base.EnvSpec` requires of a
    factory.

    :ivar base: a function that makes the plugin of the whole task.
    """

    base: str | Callable[[Task], Any]
    part: Part

    def __call__(self, task: Task) -> PartPlugin:
        from rlgpt.plugin.manager import PluginManager

        named = PluginManager().plugin(self.base) if isinstance(self.base, str) else self.base(self.part.whole)
        return PartPlugin(named, self.part)


def task_of(whole: Task, graph: GoalGraph, node: SubGoal) -> Task:
    """The task of one sub-goal. The fields ``goal`` and ``success`` of the sub-goal's task are parts of prompts."""
    last = node.name == graph.last.name
    needs = f" It begins where {', '.join(node.needs)} hold{'s' * (len(node.needs) == 1)}." if node.needs else ""
    code = f"`{node.name}` is True, which is this code:\n```python\n{node.done.strip()}\n```"
    return Task(
        id=part_id(whole.id, node),
        goal=f"{node.goal.rstrip('.')}. This is the sub-goal `{node.name}` of a longer task: {whole.goal}{needs}",
        horizon=min(node.horizon, whole.horizon),
        success=whole.success if last else code,
        settings=whole.settings,
        metrics=whole.metrics,
    )


class PartPlugin(EnvironmentPlugin):
    """The plugin for the task of a sub-goal. Except for the default setup, the reset options and :meth:`sub_task`, each
    method returns what the plugin of the whole task returns for the whole task.

    :ivar base: the plugin of the whole task.
    """

    base: EnvironmentPlugin

    def __init__(self, base: EnvironmentPlugin, part: Part) -> None:
        self.base, self._part, self._whole = base, part, part.whole
        self.name, self.vectors = base.name, base.vectors

    def sub_task(self, task: Task) -> SubTask:
        return self._part

    def default_setup(self, task: Task) -> RLSetup:
        """The default setup of the whole task, with an additional reward for reaching the sub-goal. No other reward has
        a larger weight than the reward for reaching the sub-goal.
        """
        setup = self.base.default_setup(self._whole)
        most = max((abs(w) for w in setup.reward_weights.values()), default=1.0)
        return setup.model_copy(update={"reward_weights": {**setup.reward_weights, SUCCESS.name: max(1.0, most)}})

    def reset_options(self, task: Task) -> Sequence[ResetOption]:
        """An empty sequence, because the reset options of the whole task would ignore the start states of the
        sub-goal.
        """
        return ()

    def transcripts(self, task: Task) -> Sequence[Path]:
        return self.base.transcripts(self._whole)

    # -- methods that ask the plugin of the whole task -----------------------------------------------------------------

    def overrides(self, method: str) -> bool:
        return self.base.overrides(method)

    def tasks(self) -> Mapping[str, Task]:
        return self.base.tasks()

    def unlisted_tasks(self) -> Mapping[str, Task]:
        return self.base.unlisted_tasks()

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        return self.base.make_env(self._whole, seed=seed, render_mode=render_mode)

    def defaults(self, task: Task) -> SpaceDefaults:
        return self.base.defaults(self._whole)

    def model(self, env: gymnasium.Env[Any, Any]) -> Any:
        return self.base.model(env)

    def primitives(self, task: Task) -> Sequence[Primitive]:
        return self.base.primitives(self._whole)

    def low_level_space(self, env: gymnasium.Env[Any, Any]) -> gymnasium.Space[Any]:
        return self.base.low_level_space(env)

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        return self.base.view_keys(self._whole)

    def view(self, ctx: Context) -> dict[str, Plain]:
        return self.base.view(ctx)

    def views(self, contexts: Sequence[Context]) -> Sequence[Mapping[str, Plain]]:
        return self.base.views(contexts)

    def policy_view(self, ctx: Context) -> Mapping[str, Any]:
        return self.base.policy_view(ctx)

    def policy_views(self, contexts: Sequence[Context]) -> Sequence[Mapping[str, Any]]:
        return self.base.policy_views(contexts)

    def view_value(self, ctx: Context, key: str) -> Plain:
        return self.base.view_value(ctx, key)

    def applicable(self, action: str, view: Mapping[str, Plain]) -> bool:
        return self.base.applicable(action, view)

    def noop(self, action_space: gymnasium.Space[Any], ctx: Context) -> Any:
        return self.base.noop(action_space, ctx)

    def summarize(self, view: Mapping[str, Plain]) -> str:
        return self.base.summarize(view)

    def labels(self, task: Task) -> Labels:
        return self.base.labels(self._whole)

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        return self.base.reward_terms(self._whole)

    def states(self, task: Task) -> StateCodec | None:
        return self.base.states(self._whole)

    def knowledge(self, task: Task) -> str:
        return self.base.knowledge(self._whole)

    def trainer_defaults(self, task: Task) -> Mapping[str, Any]:
        return self.base.trainer_defaults(self._whole)

    def trainer_bounds(self, task: Task) -> Mapping[str, tuple[float, float]]:
        return self.base.trainer_bounds(self._whole)

    def limits(self, task: Task) -> EnvLimits:
        return self.base.limits(self._whole)

    def doctor(self) -> Sequence[Check]:
        return self.base.doctor()
