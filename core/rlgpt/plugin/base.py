"""What a plugin is: the environment of a task, and what agents may know and use of it.

Only :meth:`EnvironmentPlugin.tasks` and :meth:`EnvironmentPlugin.make_env` are required. Everything else has a
default that is derived from the environment's spaces (see :class:`rlgpt.plugin.generic.GenericPlugin`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rlgpt.domain import Parameter, Plain, RLSetup, Task

if TYPE_CHECKING:
    import gymnasium
    import numpy as np

LowLevel = Generator[Any, None, Mapping[str, Plain] | None]
"""What a primitive is when it runs: yields low-level actions of the base environment, returns its outcome."""


@dataclass
class Context:
    """What primitives, views and reward terms are given. They never hold the environment's ``step``.

    :ivar observation: the newest observation of the base environment.
    :ivar info: the newest ``info``.
    :ivar step: primitive steps since the episode began.
    :ivar rng: the episode's own generator, seeded from the environment's seed.
    :ivar model: what :meth:`EnvironmentPlugin.model` returned (for inverse kinematics and the like).
    :ivar memory: scratch of the episode, emptied at reset (the state of a gripper, say).
    """

    task: Task
    observation: Any
    info: Mapping[str, Any]
    step: int
    rng: np.random.Generator
    model: Any
    memory: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Primitive:
    """A trusted skill on the host: general, parameterised, and no task's solution.

    :ivar doc: what it does, with units, and what its outcome holds; one to five lines for the prompt.
    :ivar run: ``run(ctx, **args)``; a generator of low-level actions that reads ``ctx`` anew after each yield.
    :ivar outcome: key -> meaning, of the plain values it returns.
    :ivar max_steps: primitive steps after which the host ends it, whatever it does.
    """

    name: str
    doc: str
    run: Callable[..., LowLevel]
    parameters: tuple[Parameter, ...] = ()
    outcome: Mapping[str, str] = field(default_factory=dict)
    max_steps: int = 60


@dataclass(frozen=True)
class ViewKey:
    """One key of the view: what it means, in which unit, and whether a real robot could observe it.

    :ivar size: how many numbers it is for a policy; 0 where it is for code alone (text, ragged lists).
    """

    name: str
    doc: str
    unit: str = ""
    source: Literal["observed", "privileged"] = "observed"
    size: int = 0


@dataclass(frozen=True)
class RewardTerm:
    """A named, bounded, smooth part of the reward. Weights are the RLSetup's.

    :ivar value: ``value(ctx)`` within ``[low, high]``.
    :ivar kind: ``potential``: each step pays ``value(now) - value(before)`` (Ng, Harada and Russell 1999, without
        the discount); ``step``: each step pays ``value(now)``; ``event``: pays ``value(now)`` on the first step where
        it is above zero, once an episode.
    """

    name: str
    doc: str
    value: Callable[[Context], float]
    kind: Literal["potential", "step", "event"] = "potential"
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class ResetOption:
    """A choice of start states for training: ``options`` go to ``env.reset(options=...)``."""

    name: str
    doc: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class EnvLimits:
    """What the environment bears: at most ``max_envs`` of it at once (a real robot: one)."""

    max_envs: int = 64


@dataclass(frozen=True)
class Check:
    """One line of ``rlgpt doctor``. ``advice`` says what to do where ``ok`` is false."""

    name: str
    ok: bool
    detail: str = ""
    advice: str = ""


@dataclass(frozen=True)
class Labels:
    """Names of the base action's parts.

    :ivar actions: one label for each value of a Discrete, each head of a MultiDiscrete or Tuple, each number of a Box.
    """

    actions: tuple[str, ...]


class EnvironmentPlugin(ABC):
    """A family of tasks. One instance a process; holds no environment and no state of an episode."""

    name: str
    """The prefix of its task ids, and its name in ``rlgpt doctor``."""

    @abstractmethod
    def tasks(self) -> Mapping[str, Task]:
        """Task id -> task. Cheap: imports no simulator."""

    @abstractmethod
    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        """The task's environment, unextended.

        It passes ``gymnasium.utils.env_checker.check_env``, truncates at ``task.horizon``, and puts a bool
        ``info["success"]`` into every step's info. ``seed`` seeds whatever is drawn before the first reset.
        """

    def model(self, env: gymnasium.Env[Any, Any]) -> Any:
        """A handle on ``env`` for primitives, views and reward terms, on the host. Default: ``env.unwrapped``."""
        return env.unwrapped

    def primitives(self, task: Task) -> Sequence[Primitive]:
        """Skills that coded actions may ask for. Default: those of the GenericPlugin for the task's spaces."""
        return self._generic(task).primitives(task)

    def low_level_space(self, env: gymnasium.Env[Any, Any]) -> gymnasium.Space[Any]:
        """What primitives yield. Default: the action space; wider where ``step`` takes more than policies choose."""
        return env.action_space

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        """The keys of :meth:`view`, documented."""
        return self._generic(task).view_keys(task)

    def view(self, ctx: Context) -> dict[str, Plain]:
        """What coded actions see when they ask: plain values, exactly the keys of :meth:`view_keys`."""
        return self._generic(ctx.task).view(ctx)

    def applicable(self, action: str, view: Mapping[str, Plain]) -> bool:
        """Whether coded action ``action`` may start now, beside its own ``can_start``."""
        return True

    def noop(self, action_space: gymnasium.Space[Any], ctx: Context) -> Any:
        """The base action that does least, for a coded action that asks for nothing. Default: zeros."""
        from rlgpt.plugin.generic import zero_action

        return zero_action(action_space)

    def summarize(self, view: Mapping[str, Plain]) -> str:
        """A view in words, for prompts: at most 1,500 characters."""
        return self._generic(None).summarize(view)

    def labels(self, task: Task) -> Labels:
        """Names of the parts of the base action."""
        return self._generic(task).labels(task)

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        """Terms the RLSetup may weigh. Default: the environment's own reward, as ``env_reward``."""
        return self._generic(task).reward_terms(task)

    def default_setup(self, task: Task) -> RLSetup:
        """What the policy learns with where no agent says otherwise (and in the pure RL baseline)."""
        return self._generic(task).default_setup(task)

    def reset_options(self, task: Task) -> Sequence[ResetOption]:
        """Start states an RLSetup may train from. Default: none but the task's own."""
        return ()

    def knowledge(self, task: Task) -> str:
        """What an expert would tell the agents of this world: facts, no solution. At most 6,000 characters."""
        return ""

    def trainer_defaults(self, task: Task) -> Mapping[str, Any]:
        """Hyperparameters that suit the task, by the names of :class:`rlgpt.rl.base.Hyperparameters`."""
        return {}

    def transcripts(self, task: Task) -> Sequence[Path]:
        """Recorded transcripts (``.jsonl``) of this task, shipped as package data."""
        return ()

    def limits(self, task: Task) -> EnvLimits:
        return EnvLimits()

    def doctor(self) -> Sequence[Check]:
        """What of its world is missing on this machine."""
        return ()

    def _generic(self, task: Task | None) -> EnvironmentPlugin:
        """The defaults, derived from the spaces of ``task``'s environment (made once, kept)."""
        from rlgpt.plugin.generic import GenericPlugin

        cache: dict[str, EnvironmentPlugin] = self.__dict__.setdefault("_generic_by_task", {})
        key = task.id if task is not None else ""
        if key not in cache:
            if task is None:
                cache[key] = GenericPlugin()
            else:
                env = self.make_env(task, seed=0)
                cache[key] = GenericPlugin.of(env, task=task, owner=self)
                env.close()
        return cache[key]
