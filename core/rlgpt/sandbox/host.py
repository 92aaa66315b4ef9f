"""The interface of the sandbox. This module opens guests, starts coded actions, sends outcomes to the actions, and
checks their messages.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from rlgpt.domain import CodedAction, CodedFunction, Plain, Verdict
from rlgpt.errors import SandboxError, UnknownNameError
from rlgpt.sandbox.checks import Checker, Refused
from rlgpt.sandbox.code_runner import GuestSetup
from rlgpt.sandbox.constant_guards import ConstantGuards
from rlgpt.sandbox.encode import ViewParts
from rlgpt.sandbox.functions import Functions
from rlgpt.sandbox.instances import Instances
from rlgpt.sandbox.library import Library
from rlgpt.sandbox.limits import DEFAULT, SandboxLimits
from rlgpt.sandbox.runner import ActionRunner, SharedMemory
from rlgpt.sandbox.turns import Turn


class Sandbox:
    """A sandbox opens guests that all have the same limits. The first guest of a process loads the compiled program and
    therefore takes more time than later guests.

    :param on_turn: a function that is called before each call into a guest, for example to record that a training is
        alive. If ``on_turn`` raises an exception, the exception propagates to the caller of the sandbox.
    """

    def __init__(self, limits: SandboxLimits = DEFAULT, *, on_turn: Callable[[], None] | None = None) -> None:
        self.limits, self.on_turn = limits, on_turn
        self._checker: tuple[Library, Checker] | None = None
        self._instances = Instances()

    def open(
        self, library: Library, actions: Sequence[CodedAction], *, seed: int, guards: ConstantGuards | None = None
    ) -> Guest:
        """Return a guest for one episode. The code of the coded actions runs only when a method of the guest is called.

        :param seed: seed of Python's module ``random`` in each action; any integer.
        :param guards: an object that answers ``can_start`` for several guests with the same actions
            (:meth:`open_guards`).
        :raises SandboxError: two coded actions have the same name.
        """
        if self._checker is None or self._checker[0] is not library:
            self._checker = library, Checker(library)  # It keeps forms of requests, which later episodes use again.
        return Guest(self.limits, library, actions, seed, self.on_turn, guards, self._checker[1], self._instances)

    def open_guards(self, library: Library, actions: Sequence[CodedAction]) -> ConstantGuards:
        """Return an object that answers ``can_start`` for all guests with the same actions. ``open_guards`` runs no
        code of the actions.
        """
        return ConstantGuards(self.limits, library, actions, self.on_turn)

    def open_functions(
        self, library: Library, functions: Sequence[CodedFunction], *, seed: int, quarantined: Collection[str] = ()
    ) -> Functions:
        """Return the coded features, reward terms and predicates of one episode. The code of the functions runs only
        when :meth:`Functions.evaluate` is called.

        :param seed: seed of Python's module ``random`` in each function; any integer.
        :param quarantined: names of quarantined functions, which are not called; their answers are zero or False.
        :raises SandboxError: two functions or outputs have the same name, or there are too many functions.
        """
        return Functions(self.limits, library, functions, seed, self.on_turn, quarantined, self._instances)


class Guest:
    """The coded actions of an episode, each in a separate WebAssembly instance. The instance of a coded action is made
    when the action is used for the first time.

    Guests with the same seed, sources and replies make the same requests. An action cannot change the globals, the
    random numbers or the fuel of another action, and cannot cause a verdict on another action. Actions whose ``run`` or
    ``can_start`` has an argument ``memory`` share one memory for the episode; each of these actions gets a copy of the
    memory. Except for the shared memory, nothing is passed from one action to another.

    :raises SandboxError: the guest program is missing. Every method of a guest that runs code may raise a SandboxError.
    """

    def __init__(
        self,
        limits: SandboxLimits,
        library: Library,
        actions: Sequence[CodedAction],
        seed: int,
        on_turn: Callable[[], None] | None = None,
        guards: ConstantGuards | None = None,
        checker: Checker | None = None,
        instances: Instances | None = None,
    ) -> None:
        self.limits, self._guards = limits, guards
        self.actions = {a.name: a for a in actions}
        if len(self.actions) != len(actions):
            raise SandboxError(f"names of coded actions must differ, got {[a.name for a in actions]}")
        setup = GuestSetup(
            limits=limits,
            checker=checker or Checker(library),
            functions=json.dumps(library.functions),
            view=tuple(key.name for key in library.view),
            pieces=len(actions),
            seed=seed,
            on_turn=on_turn,
            instances=instances or Instances(),
        )
        # A weak reference avoids a reference cycle, which would keep instances of several megabytes until the garbage
        # collector runs.
        make_room = weakref.WeakMethod(self._make_room)
        memory = SharedMemory()
        self._memory = memory
        # The least recently used runner is the first one.
        self._runners = {a.name: ActionRunner(a, setup, make_room, memory) for a in actions}
        self._newest: ActionRunner | None = None
        self._running: ActionRunner | None = None

    @property
    def fuel_used(self) -> int:
        """Units of fuel that the newest turn used."""
        return self._newest.fuel_used if self._newest is not None else 0

    @property
    def exhausted(self) -> frozenset[str]:
        """The names of the coded actions that have used up their fuel of the episode. They do not run again in this
        episode.
        """
        return frozenset(name for name, runner in self._runners.items() if runner.exhausted)

    def add_step(self) -> None:
        """Add the fuel of one primitive step to each action's fuel. Call ``add_step`` after each primitive step of the
        environment.
        """
        for runner in self._runners.values():
            runner.add_step()

    @property
    def memory(self) -> dict[str, Plain]:
        """A copy of the actions' shared memory after the newest call. In the copy, tuples and sets are lists, and keys
        are text.
        """
        return self._memory.plain

    def start(self, action: str, parameters: Mapping[str, float] | None = None) -> Turn:
        """Start a call of the coded action ``action``. Its function ``run`` executes until the first ``yield``. If a
        generator of the guest waits for a reply, this generator is closed first. A parameter without a given value gets
        its default.

        :raises UnknownNameError: the guest has no action with this name, or the action does not declare a given
            parameter.
        """
        runner = self._runner(action)
        if self._running is not runner:
            self.cancel()
        self._running = runner
        return runner.start(parameters or {})

    def send(self, reply: Plain) -> Turn:
        """Continue the waiting generator with ``reply`` as the value of its ``yield``.

        :param reply: an outcome or a view; if ``Ask.many`` was True, a list of outcomes and views.
        :raises SandboxError: no generator of the guest waits for a reply.
        :raises PluginError: ``reply`` contains something other than None, bool, int, float, str, list and dict.
        """
        if self._running is None or not self._running.waits:
            raise SandboxError("no coded action waits for a reply: start one first")
        self._newest = self._running
        return self._running.send(reply)

    def part(self, view: Mapping[str, Plain]) -> dict[str, Plain]:
        """The part of ``view`` that the running action can read (:mod:`rlgpt.sandbox.reads.views`). ``send`` sends no
        other keys of a view, so a view that computes each value only when the value is read need not compute them.
        """
        return dict(view) if self._running is None else self._running.part(view)

    def load(self, action: str) -> bool | Verdict:
        """Execute the source of ``action`` once in its WebAssembly instance.

        :returns: whether the source defines ``can_start``, or the verdict on the source if it failed.
        """
        return self._runner(action).load()

    def can_start(self, action: str, view: Mapping[str, Plain]) -> bool | Verdict:
        """The answer of the action's own ``can_start(view)``. The answer is True if the action does not define
        ``can_start``. If ``can_start`` failed, the result is the verdict on it.

        :raises PluginError: ``view`` contains something other than None, bool, int, float, str, list and dict.
        """
        return self.can_start_each((action,), view)[action]

    def can_start_each(self, actions: Iterable[str], view: Mapping[str, Plain]) -> dict[str, bool | Verdict]:
        """The results of :meth:`can_start` for several actions with the same view. Each part of the view is encoded
        only once. ``can_start`` of an action is not called if its answer cannot have changed
        (:mod:`rlgpt.sandbox.reads`).
        """
        parts, actions = ViewParts(view), list(actions)
        answers: dict[str, bool | Verdict] = {}
        if self._guards is not None:
            answers.update(self._guards.answers(actions, parts))
        for action in actions:
            if action in answers:
                continue
            runner = self._runner(action)
            ready = "can_start" in runner.action.source and self.load(action)
            if ready is not True:
                answers[action] = ready or True
                continue
            try:
                part = parts.of(runner.reads.keys, action, self.limits.view_bytes)
            except Refused as refused:
                answers[action] = runner.verdict(refused)
                continue
            answers[action] = runner.can_start(part)
        return answers

    def cancel(self) -> Verdict | None:
        """Close the generator that waits for a reply. When a generator is closed, its ``finally`` blocks run and use
        the fuel of its call. If no generator waits for a reply, ``cancel`` does nothing.

        :returns: the verdict on the action if its ``finally`` blocks ran too long or ended the instance; else None.
        """
        running, self._running = self._running, None
        return running.cancel() if running is not None else None

    def _runner(self, action: str) -> ActionRunner:
        """:raises UnknownNameError: the guest has no action with this name."""
        if action not in self._runners:
            raise UnknownNameError("coded action", action, self.actions)
        self._newest = self._runners[action] = self._runners.pop(action)
        return self._newest

    def _make_room(self) -> None:
        """If the maximal number of WebAssembly instances exists, delete the least recently used instance."""
        live = [runner for runner in self._runners.values() if runner.live]
        idle = next((runner for runner in live if not runner.waits), None)
        if idle is not None and len(live) >= self.limits.instances:
            idle.drop()
