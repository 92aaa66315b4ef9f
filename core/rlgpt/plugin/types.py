"""The types that a plugin uses, such as primitives, view keys, reward terms, and the context that they read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rlgpt.domain import CodedPredicate, Parameter, Plain, Task
from rlgpt.errors import PluginError

if TYPE_CHECKING:
    import gymnasium
    import numpy as np

LowLevel = Generator[Any, None, Mapping[str, Plain] | None]
"""A running primitive: a generator that yields low-level actions and returns the outcome, a dict."""


@dataclass
class Context:
    """The state of an episode that primitives, views and reward terms read. The context gives no access to the ``step``
    of the environment.

    :ivar observation: the newest observation of the base environment.
    :ivar info: the newest ``info``.
    :ivar step: number of primitive steps since the episode began.
    :ivar rng: random generator of the episode, seeded from the environment's seed.
    :ivar model: the result of :meth:`EnvironmentPlugin.model`, for example for inverse kinematics.
    :ivar memory: values that last for one episode, for example the state of a gripper. A reset clears the memory. The
        values in the memory are saved with the episode, so they must be plain values or arrays. A memory value whose
        key begins with ``_`` is not saved; after a restore, the plugin must compute it again.
    :ivar previous: the observation of the previous primitive step; None at the start of an episode, and directly after
        a saved state was restored.
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
    """A primitive, which coded actions call by name. A primitive is trusted code of the plugin and runs outside the
    sandbox. A primitive must be general and have parameters, and must not solve a task by itself.

    :ivar doc: the effect of the primitive, its units and the content of its outcome; one to five lines for the prompt.
    :ivar run: a function ``run(ctx, **args)`` that returns a generator of low-level actions. After each yield, ``ctx``
        has the new state.
    :ivar outcome: a dict from a key of the primitive's outcome to the meaning of the value under this key.
    :ivar max_steps: number of primitive steps after which the host ends the primitive.
    """

    name: str
    doc: str
    run: Callable[..., LowLevel]
    parameters: tuple[Parameter, ...] = ()
    outcome: Mapping[str, str] = field(default_factory=dict)
    max_steps: int = 60

    def start(self, ctx: Context, args: Mapping[str, Plain]) -> LowLevel:
        """Call :attr:`run`.

        :raises PluginError: :attr:`run` did not return a generator.
        """
        actions: Any = self.run(ctx, **args)
        if isinstance(actions, Generator):
            return actions
        raise PluginError(
            f"the function of the primitive {self.name!r} returned {actions!r:.80}, a {type(actions).__name__}. A "
            "primitive must be a generator function, which yields actions (`yield ACTION`) and returns its outcome."
        )


@dataclass(frozen=True)
class ViewKey:
    """One key of the view, with its meaning, its unit, and whether a real robot could observe its value.

    :ivar size: how many numbers a policy gets for the view key; 0 if only code can use the key (text, lists of varying
        length).
    :ivar shape: the shape of an array that the view contains as nested lists; empty for a number or a flat list.
    :ivar alone: True for a key that only a policy gets. A key with ``alone`` is not in the view;
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
    """A named part of the reward, to which an RLSetup gives a weight. A term should be bounded; only the environment's
    own reward need not be.

    :ivar value: a function ``value(ctx)`` with results within ``[low, high]``.
    :ivar kind: what the term adds to the reward. A term of the kind ``potential`` adds ``value(now) - value(before)``
        at each step (Ng, Harada and Russell 1999, without the discount). A term of the kind ``step`` adds
        ``value(now)`` at each step. A term of the kind ``event`` adds ``value(now)`` only at the first step of an
        episode at which the value is above zero.
    """

    name: str
    doc: str
    value: Callable[[Context], float]
    kind: Literal["potential", "step", "event"] = "potential"
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class ResetOption:
    """A named choice of start states for the episodes of a training.

    :ivar options: the mapping that is passed to ``env.reset(options=...)``.
    """

    name: str
    doc: str
    options: Mapping[str, Any]


class StateCodec(ABC):
    """Saves and restores the state of an environment's episode, so that training episodes can begin late in a task.

    The state of an episode includes the simulator, the time in the episode, whether success was reached, counters of
    wrappers, and the random generators, also those of observation noise. The plugin contract tests the following law of
    a codec. After :meth:`restore`, in the same or another environment of the task, the same actions give the same
    observations, rewards, ends and ``info["success"]`` as after :meth:`save`, bit for bit.

    A codec need not save the newest observation, ``info`` and the content of the :class:`Context`, because rlgpt saves
    them. A state may come from an untrusted source, so it must not be a pickle, and a codec must check each value
    before the simulator gets the value. The module :mod:`rlgpt.plugin.state_data` has functions for these checks.
    """

    @abstractmethod
    def save(self, env: gymnasium.Env[Any, Any]) -> bytes:
        """Save the state of an environment.

        :param env: an environment that ``make_env`` made for a task with the id and the settings of the codec's task;
            an episode is in progress.
        :returns: the saved state, at most :data:`~rlgpt.plugin.state_data.MAX_STATE_BYTES` bytes.
        :raises StateError: the state cannot be saved.
        """

    @abstractmethod
    def restore(self, env: gymnasium.Env[Any, Any], state: bytes, *, seed: int | None = None) -> None:
        """Set an environment to a saved state.

        :param env: an environment as for :meth:`save`. If an episode is in progress in this environment, the restored
            state replaces its state.
        :param state: bytes that :meth:`save` returned; the bytes may be damaged or hostile.
        :param seed: seed of all random numbers from now on. With ``seed=None``, the saved random generators continue.
        :raises StateError: the bytes are not a saved state of such an environment. A codec need not detect a state of
            another task, because rlgpt compares the ids of the tasks before it calls :meth:`restore`.
        """


class SubTask(ABC):
    """A description of a task that is a part of another task, and is played in the environment of that task.

    :ivar whole: the task in whose environment the sub-goal is played. :attr:`Context.task` is this task.
    :ivar done: the predicate that decides the success of the sub-goal and ends its episodes. If ``done`` is None, the
        success of the whole task decides.
    """

    whole: Task
    done: CodedPredicate | None

    @abstractmethod
    def begin(self, env: Any, seed: int | None, options: dict[str, Any] | None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode of the sub-goal.

        :param env: the :class:`~rlgpt.options.ExtendedEnv`. The environment's method ``reset_whole`` begins an
            episode at the start of the whole task, ``restore_episode`` in a saved state, and ``take_over`` in the
            current state of the base environment.
        :param seed: seed of the episode. With ``seed=None``, the random generators continue.
        :param options: the options of the reset.
        :returns: the first observation and the first info of the episode.
        :raises StateError: the environment cannot reach a start state of the sub-goal.
        """


class OptionSteps(NamedTuple):
    """Limits on the primitive steps of one call of a coded action.

    :ivar default: the step limit for a coded action that states no limit.
    :ivar most: the largest step limit that a coded action may state.
    """

    default: int
    most: int


SHORT = 60
"""Number of primitive steps of a call of a coded action that counts as short for any horizon."""


@dataclass(frozen=True)
class EnvLimits:
    """Limits of the environment.

    :ivar max_envs: maximal number of environments that exist at the same time (1 for a real robot).
    :ivar option_steps: maximal number of primitive steps of one call of a coded action. None means the horizon of the
        task.
    """

    max_envs: int = 64
    option_steps: int | None = None

    def steps(self, task: Task) -> OptionSteps:
        """The step limits of one call of a coded action in ``task``.

        The default step limit is a quarter of the maximum, and at least :data:`SHORT` steps if the maximum allows it.
        With the default limit, a coded action that makes no progress uses only a part of a long episode.
        """
        most = self.option_steps or task.horizon
        return OptionSteps(min(most, max(SHORT, most // 4)), most)


@dataclass(frozen=True)
class Check:
    """One line in the output of ``rlgpt doctor``. If ``ok`` is False, ``advice`` says what the user must do."""

    name: str
    ok: bool
    detail: str = ""
    advice: str = ""


@dataclass(frozen=True)
class Labels:
    """The labels: names of the base actions, or of the parts of the base action.

    :ivar actions: one label for each value of a Discrete, each head of a MultiDiscrete or Tuple, each number of a Box.
    """

    actions: tuple[str, ...]
