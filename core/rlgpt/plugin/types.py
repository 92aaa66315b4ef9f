"""The types that a plugin uses: primitives, view keys, reward terms, and the context that these read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rlgpt.domain import CodedPredicate, Parameter, Plain, Task

if TYPE_CHECKING:
    import gymnasium
    import numpy as np

LowLevel = Generator[Any, None, Mapping[str, Plain] | None]
"""A running primitive: a generator that yields actions of the base environment and returns the outcome, a dict."""


@dataclass
class Context:
    """The state that primitives, views and reward terms read. The context gives no access to the environment's
    ``step``.

    :ivar observation: the newest observation of the base environment.
    :ivar info: the newest ``info``.
    :ivar step: number of primitive steps since the episode began.
    :ivar rng: random generator of the episode, seeded from the environment's seed.
    :ivar model: the result of :meth:`EnvironmentPlugin.model`, for example for inverse kinematics.
    :ivar memory: values that last for one episode, for example the state of a gripper; a reset clears it. The values
        are saved with the episode, so they must be JSON-like data or arrays. A key that begins with ``_`` is a cache:
        it is not saved and must be computed again.
    :ivar previous: the observation of the primitive step before; None at the start of an episode, and at the first step
        after a saved state was restored.
    """

    task: Task
    observation: Any
    info: Mapping[str, Any]
    step: int
    rng: np.random.Generator
    model: Any
    memory: dict[str, Any] = field(default_factory=dict)
    previous: Any = None


@dataclass(frozen=True)
class Primitive:
    """A skill that coded actions call by name. A primitive is trusted plugin code outside the sandbox. A primitive must
    be general and parameterised, and must not solve a task by itself.

    :ivar doc: effect, units and content of the outcome; one to five lines for the prompt.
    :ivar run: ``run(ctx, **args)``, a generator of actions of the base environment. After each yield it reads ``ctx``
        again.
    :ivar outcome: key of the returned dict -> meaning of its value.
    :ivar max_steps: number of primitive steps after which the host ends the primitive.
    """

    name: str
    doc: str
    run: Callable[..., LowLevel]
    parameters: tuple[Parameter, ...] = ()
    outcome: Mapping[str, str] = field(default_factory=dict)
    max_steps: int = 60


@dataclass(frozen=True)
class ViewKey:
    """One key of the view: its meaning, its unit, and whether a real robot could observe it.

    :ivar size: how many numbers a policy gets for the key; 0 if only code can use the key (text, lists of varying
        length).
    :ivar shape: the shape of an array that the view holds as nested lists; empty for a number or a flat list.
    :ivar alone: True for a key that only a policy gets. Such a key is not in the view;
        ``EnvironmentPlugin.policy_view`` returns its numbers.
    """

    name: str
    doc: str
    unit: str = ""
    source: Literal["observed", "privileged"] = "observed"
    size: int = 0
    alone: bool = False
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class RewardTerm:
    """A named, bounded, smooth part of the reward. The RLSetup gives its weight.

    :ivar value: a function ``value(ctx)`` with results within ``[low, high]``.
    :ivar kind: ``potential``: each step adds ``value(now) - value(before)`` to the reward (Ng, Harada and Russell 1999,
        without the discount); ``step``: each step adds ``value(now)``; ``event``: the first step at which
        ``value(now)`` is above zero adds it, once in an episode.
    """

    name: str
    doc: str
    value: Callable[[Context], float]
    kind: Literal["potential", "step", "event"] = "potential"
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class ResetOption:
    """A named choice of start states for training; ``options`` is passed to ``env.reset(options=...)``."""

    name: str
    doc: str
    options: Mapping[str, Any]


class StateCodec(ABC):
    """Saves the state of an environment's episode and restores it, so that training episodes can begin late in a task.

    The state is everything that decides what the environment does next: the simulator, the time in the episode, whether
    success was reached, counters of wrappers, and the random generators, including those of observation noise. The
    plugin contract tests this law: after :meth:`restore`, in this environment or another one of the task, the same
    actions give, bit for bit, the same observations, rewards, ends and ``info["success"]`` as after :meth:`save`.

    A codec need not save the newest observation and ``info``, nor the content of the :class:`Context`: rlgpt saves
    them. States may come from an untrusted source, so a state must not be a pickle, and a codec must check each value
    before it reaches a simulator. :mod:`rlgpt.plugin.state_data` has functions for this.
    """

    @abstractmethod
    def save(self, env: gymnasium.Env[Any, Any]) -> bytes:
        """The state as bytes, at most :data:`~rlgpt.plugin.state_data.MAX_STATE_BYTES` of them.

        :param env: an environment that ``make_env`` made for a task of the same id and settings, within an episode.
        :raises StateError: the state cannot be saved.
        """

    @abstractmethod
    def restore(self, env: gymnasium.Env[Any, Any], state: bytes, *, seed: int | None = None) -> None:
        """Return to a saved state.

        :param env: an environment as for :meth:`save`. The current episode of this environment, if there is one, is
            lost.
        :param seed: seeds all randomness from here on. None: the saved random generators continue.
        :raises StateError: the bytes are not a saved state of this task.
        """


class SubTask(ABC):
    """A task that is a part of another task, and is played in the environment of that task.

    :ivar whole: the task in whose environment the part is played. :attr:`Context.task` is this task.
    :ivar done: the predicate that decides the success of the sub-goal and ends its episodes; None: the success of the
        whole task decides.
    """

    whole: Task
    done: CodedPredicate | None

    @abstractmethod
    def begin(self, env: Any, seed: int | None, options: dict[str, Any] | None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode of the sub-goal.

        :param env: the :class:`~rlgpt.options.ExtendedEnv`. Three of its methods begin an episode: ``reset_whole`` at
            the start of the whole task, ``restore_episode`` in a saved state, and ``take_over`` in the current state of
            the base environment.
        :returns: observation and info of the start.
        """


class OptionSteps(NamedTuple):
    """Primitive steps of one call of a coded action: at most ``most``, and ``default`` if the action sets no limit."""

    default: int
    most: int


SHORT = 60
"""Number of primitive steps that is a short call for any horizon."""


@dataclass(frozen=True)
class EnvLimits:
    """Limits of the environment.

    :ivar max_envs: maximal number of environments at the same time (1 for a real robot).
    :ivar option_steps: maximal primitive steps of one call of a coded action; None: the steps of an episode.
    """

    max_envs: int = 64
    option_steps: int | None = None

    def steps(self, task: Task) -> OptionSteps:
        """The step limits of a coded action in ``task``.

        The default is a quarter of the maximum, and at least :data:`SHORT` if the maximum allows it. So a stuck call
        uses only a part of a long episode.
        """
        most = self.option_steps or task.horizon
        return OptionSteps(min(most, max(SHORT, most // 4)), most)


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
