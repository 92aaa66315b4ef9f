"""Values that a plugin hands out: primitives, view keys, reward terms, and the context that they read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from rlgpt.domain import Parameter, Plain, Task

if TYPE_CHECKING:
    import gymnasium
    import numpy as np

LowLevel = Generator[Any, None, Mapping[str, Plain] | None]
"""A running primitive: it yields low-level actions of the base environment and returns its outcome."""


@dataclass
class Context:
    """The state that primitives, views and reward terms read. It gives no access to the environment's ``step``.

    :ivar observation: the newest observation of the base environment.
    :ivar info: the newest ``info``.
    :ivar step: primitive steps since the episode began: the one count of the extended environment.
    :ivar rng: the episode's own generator, seeded from the environment's seed.
    :ivar model: what :meth:`EnvironmentPlugin.model` returned (for inverse kinematics and the like).
    :ivar memory: values that last for one episode, for example the state of a gripper; emptied at reset. They are
        saved with the episode, so they are plain data or arrays. A key that begins with ``_`` is a cache: it is not
        saved, and has to be computed again.
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
    """A trusted skill on the host: general, parameterised, and never the solution of a task.

    :ivar doc: what it does, with units, and what its outcome holds; one to five lines for the prompt.
    :ivar run: ``run(ctx, **args)``, a generator of low-level actions that reads ``ctx`` again after each yield.
    :ivar outcome: key -> meaning, for each plain value it returns.
    :ivar max_steps: primitive steps after which the host ends it.
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
    :ivar alone: for a policy alone: no part of the view, code never sees it. ``EnvironmentPlugin.policy_view`` gives
        its numbers.
    """

    name: str
    doc: str
    unit: str = ""
    source: Literal["observed", "privileged"] = "observed"
    size: int = 0
    alone: bool = False


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


class StateCodec(ABC):
    """Saves the state of an environment's episode and restores it: how a plugin lets training begin late in a task.

    The state is everything that decides what the environment does next: the simulator, time in the episode, latches of
    success, counters of wrappers, and the random generators, those of observation noise too. Law (tested by the
    contract): after :meth:`restore`, in this environment or another one of the task, the same actions give the same
    observations, rewards, ends and ``info["success"]``, bit for bit, as they gave after :meth:`save`.

    The newest observation and ``info``, and what the :class:`Context` holds, are saved with the state and are not the
    codec's part. States may come from a stranger: bytes are data, never a pickle, and each value is checked before it
    reaches a simulator. :mod:`rlgpt.plugin.state_data` has what a codec needs for that.
    """

    @abstractmethod
    def save(self, env: gymnasium.Env[Any, Any]) -> bytes:
        """The state, at most :data:`~rlgpt.plugin.state_data.MAX_STATE_BYTES` long.

        :param env: made by ``make_env`` for a task of the same id and settings, within an episode.
        :raises StateError: it cannot be saved.
        """

    @abstractmethod
    def restore(self, env: gymnasium.Env[Any, Any], state: bytes, *, seed: int | None = None) -> None:
        """Return to a saved state.

        :param env: as for :meth:`save`; its own episode, if there is one, is lost.
        :param seed: seeds all randomness from here on. None: the saved random generators continue.
        :raises StateError: the bytes are no saved state of this task.
        """


@dataclass(frozen=True)
class EnvLimits:
    """Limits of the environment: at most ``max_envs`` instances at once (a real robot: 1)."""

    max_envs: int = 64


@dataclass(frozen=True)
class Check:
    """One line of ``rlgpt doctor``. ``advice`` says what to do if ``ok`` is false."""

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
