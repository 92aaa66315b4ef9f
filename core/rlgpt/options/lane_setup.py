"""The objects that all lanes of an environment share, such as the extended action space, the coded actions, and the
sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Required, TypedDict

import numpy as np
from gymnasium import spaces

from rlgpt.domain import CodedAction, CodedFunction, Task, Verdict
from rlgpt.errors import UnknownNameError
from rlgpt.options.execution import Execution, settled
from rlgpt.options.functions import StepFunctions, Taken
from rlgpt.options.guards import Guards
from rlgpt.options.space import ExtendedSpace
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.types import Context, ViewKey

if TYPE_CHECKING:
    from rlgpt.sandbox import Guest, Library, Sandbox
    from rlgpt.sandbox.constant_guards import ConstantGuards


class Settings(TypedDict, total=False):
    """The arguments of :func:`rlgpt.extend` after they have been read and checked. ``library`` contains the plugin's
    primitives and view keys for the task; it is None if there is no code.
    """

    plugin: Required[EnvironmentPlugin]
    task: Required[Task]
    gamma: Required[float]
    base_actions: Sequence[str] | None
    reward_weights: Mapping[str, float] | None
    sandbox: Sandbox | None
    quarantined: Iterable[str] | None
    horizon: int | None
    trace: bool
    library: Library | None
    functions: Sequence[CodedFunction]
    interrupt_every: int | None
    residual: float


class LaneSetup:
    """Makes the objects that all lanes share, from the arguments of :func:`rlgpt.extend`.

    :param action_space: the action space of the base environment.
    :param observation_space: the observation space of the base environment.
    :param model: the model of one base environment (:meth:`~rlgpt.plugin.base.EnvironmentPlugin.model`).
    :ivar actions: the coded actions with their step limits.
    :ivar sub_task: how the task is a part of another task; None if the task is not a part of another task.
    :ivar whole: the task in whose environment the episodes are played. For a sub-goal, ``whole`` is the whole task that
        contains the sub-goal.
    :ivar idle: the idle action.
    :ivar offset: index of the branch of the first coded action.
    :ivar names: the names of all coded actions and functions.
    :ivar execution: the object that runs coded actions. All lanes share the ``Execution`` object, because it has no
        state.
    :ivar load_verdicts: for each coded action whose source cannot be loaded, the verdict on the source.
    """

    def __init__(
        self,
        action_space: spaces.Space[Any],
        observation_space: spaces.Space[Any],
        model: Any,
        actions: Sequence[CodedAction],
        settings: Settings,
    ) -> None:
        self.plugin, self.task, self.gamma = settings["plugin"], settings["task"], settings["gamma"]
        self.trace = settings.get("trace", False)
        self.sub_task = self.plugin.sub_task(self.task)
        self.whole = self.task if self.sub_task is None else self.sub_task.whole
        self.horizon = settings.get("horizon")
        if self.sub_task is not None:
            self.horizon = min(self.task.horizon, self.horizon or self.task.horizon)
        self.reward_weights = settings.get("reward_weights")
        self.interrupt_every, self.residual = settings.get("interrupt_every"), settings.get("residual", 0.0)
        self.action_space = action_space
        ctx = Context(self.whole, None, {}, 0, np.random.default_rng(), model)
        self.idle = self.plugin.noop(action_space, ctx)
        self.extension = ExtendedSpace(
            action_space,
            [settled(action, self.plugin, self.task) for action in actions],
            self.plugin.labels(self.task).actions,
            settings.get("base_actions"),
            self.idle,
            self.residual,
        )
        self.actions, self.layout = self.extension.actions, self.extension.layout
        self.offset = len(self.layout.branches) - len(self.actions)
        self._library, self._sandbox = settings.get("library"), settings.get("sandbox")
        self._constant: ConstantGuards | None = None
        self._open_functions = self._functions_maker(tuple(settings.get("functions", ())), observation_space)
        functions = self.functions()
        if functions is not None:
            self._library, self._sandbox = functions.library, functions.sandbox
        self.view_keys: tuple[ViewKey, ...] = (
            *self.plugin.view_keys(self.task),
            *(functions.view_keys if functions else ()),
        )
        self.names = (*(a.name for a in self.actions), *(functions.names if functions else ()))
        self.load_verdicts: Mapping[str, Verdict] = {}
        conditional = self._load() if self.actions else ()
        applicable = self.plugin.applicable if self.plugin.overrides("applicable") else None
        self.guards = Guards(tuple(a.name for a in self.actions), conditional, applicable)
        primitives = {p.name: p for p in self.plugin.primitives(self.task)} if self.actions else {}
        self.execution = Execution(primitives, keep_calls=self.trace)

    def functions(self) -> StepFunctions | None:
        """Make the coded functions for one lane; None if there are no coded functions."""
        return self._open_functions() if self._open_functions is not None else None

    def done(self) -> StepFunctions | None:
        """Make the predicate of a sub-goal for one lane; None if the environment's own success counts."""
        if self.sub_task is None or self.sub_task.done is None:
            return None
        from rlgpt.plugin.library import library_of

        return StepFunctions((self.sub_task.done,), library_of(self.plugin, self.task), self._open_sandbox())

    def open_guest(self, *, seed: int) -> Guest:
        """Make a guest with the coded actions, for one episode of one lane."""
        assert self._library is not None
        sandbox = self._open_sandbox()
        if self._constant is None:
            self._constant = sandbox.open_guards(self._library, self.actions)
        return sandbox.open(self._library, self.actions, seed=seed, guards=self._constant)

    def check_names(self, names: Iterable[str]) -> None:
        """:raises UnknownNameError: no coded action and no coded function has one of the names."""
        for name in names:
            if name not in self.names:
                raise UnknownNameError("coded action", name, self.names)

    def _functions_maker(
        self, functions: tuple[CodedFunction, ...], observation_space: spaces.Space[Any]
    ) -> Callable[[], StepFunctions] | None:
        if not functions:
            return None
        assert self._library is not None, "functions need the task's library"
        taken = Taken.of(self.plugin, self.task, observation_space, [a.name for a in self.actions])
        return partial(StepFunctions, functions, self._library, self._open_sandbox(), taken)

    def _load(self) -> tuple[str, ...]:
        """Load the source of each coded action once, and return the names of the actions that define ``can_start``."""
        guest = self.open_guest(seed=0)
        states = {a.name: guest.load(a.name) for a in self.actions}
        self.load_verdicts = {n: s for n, s in states.items() if isinstance(s, Verdict) and s.kind != "wall"}
        # After a wall-clock timeout it is unknown whether the source defines ``can_start``. It is checked again in
        # later episodes.
        return tuple(n for n, state in states.items() if state is not False and n not in self.load_verdicts)

    def _open_sandbox(self) -> Sandbox:
        from rlgpt.sandbox import Sandbox

        self._sandbox = self._sandbox or Sandbox()
        return self._sandbox
