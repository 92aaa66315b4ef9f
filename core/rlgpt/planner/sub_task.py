"""Sub-goals as tasks for both loops: in the task's environment, with a success, horizon and starts of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rlgpt.domain import CodedPredicate, GoalGraph, Plain, RLSetup, SubGoal, Task
from rlgpt.options import ExtendedEnv
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
    """Plays the way to the start of a sub-goal, for environments that cannot be restored."""

    def __call__(self, env: ExtendedEnv, seed: int) -> tuple[Any, dict[str, Any]]:
        """Begin an episode of ``env`` where the way ended. Its steps are counted by ``env.on_step``."""


@dataclass(frozen=True)
class Part(SubTask):
    """A sub-goal as a part of its task.

    :ivar own: number of starts, among all, that are the start of the task itself.
    :ivar states: the other starts, which were reached by the sub-goals before.
    :ivar way: None unless the environment cannot be restored and the sub-goal does not begin at the task's start.
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
        drawn = int(rng.integers(self.own + len(self.states))) - self.own
        if drawn < 0:
            return env.reset_whole(seed, options)
        return env.restore_episode(self.states[drawn], seed=seed)


@dataclass(frozen=True)
class PartFactory:
    """A picklable function that makes the plugin of a sub-goal, for :class:`~rlgpt.rl.base.EnvSpec`.

    :ivar base: the factory of the whole task's plugin.
    """

    base: str | Callable[[Task], Any]
    part: Part

    def __call__(self, task: Task) -> PartPlugin:
        from rlgpt.plugin.manager import PluginManager

        named = PluginManager().plugin(self.base) if isinstance(self.base, str) else self.base(self.part.whole)
        return PartPlugin(named, self.part)


def part_id(whole: str, node: SubGoal) -> str:
    """The id of the task of a sub-goal; ``whole``: that of the whole task."""
    plugin, _, name = whole.partition("/")
    return f"{plugin}/{name[:36]}.{node.label}"


def task_of(whole: Task, graph: GoalGraph, node: SubGoal) -> Task:
    """The task of one sub-goal. The agents read its goal and its success."""
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
    """The plugin of a task, which answers for the task of a sub-goal as for the whole task.

    :ivar base: the plugin of the whole task.
    """

    base: EnvironmentPlugin

    def __init__(self, base: EnvironmentPlugin, part: Part) -> None:
        self.base, self._part, self._whole = base, part, part.whole
        self.name, self.vectors = base.name, base.vectors

    def sub_task(self, task: Task) -> SubTask:
        return self._part

    def default_setup(self, task: Task) -> RLSetup:
        """The setup of the whole task, which also rewards the sub-goal, at least as much as anything else."""
        setup = self.base.default_setup(self._whole)
        most = max((abs(w) for w in setup.reward_weights.values()), default=1.0)
        return setup.model_copy(update={"reward_weights": {**setup.reward_weights, SUCCESS.name: max(1.0, most)}})

    def reset_options(self, task: Task) -> Sequence[ResetOption]:
        """None: they would begin at the start of the whole task."""
        return ()

    def transcripts(self, task: Task) -> Sequence[Path]:
        return self.base.transcripts(self._whole)

    # -- as the plugin of the whole task -------------------------------------------------------------------------------

    def overrides(self, method: str) -> bool:
        return self.base.overrides(method)

    def tasks(self) -> Mapping[str, Task]:
        return self.base.tasks()

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
