"""The sandbox as the rest sees it: opens guests, starts coded actions, sends outcomes, checks what comes back."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from rlgpt.domain import CodedAction, CodedFunction, Plain, Verdict
from rlgpt.errors import SandboxError, UnknownNameError
from rlgpt.sandbox.checks import Checker, Refused
from rlgpt.sandbox.code_runner import GuestSetup
from rlgpt.sandbox.encode import encode
from rlgpt.sandbox.functions import Functions
from rlgpt.sandbox.library import Library
from rlgpt.sandbox.limits import DEFAULT, SandboxLimits
from rlgpt.sandbox.runner import ActionRunner
from rlgpt.sandbox.turns import Turn


class Sandbox:
    """Opens guests under one set of limits. Cheap to make; the first guest of a process loads the compiled program.

    :param on_turn: called before each turn of a coded action, for the heartbeat of a training. An exception propagates.
    """

    def __init__(self, limits: SandboxLimits = DEFAULT, *, on_turn: Callable[[], None] | None = None) -> None:
        self.limits, self.on_turn = limits, on_turn

    def open(self, library: Library, actions: Sequence[CodedAction], *, seed: int) -> Guest:
        """A guest for one episode. Nothing runs before the first call.

        :param seed: of the ``random`` of each action; any integer.
        :raises SandboxError: two actions have the same name.
        """
        return Guest(self.limits, library, actions, seed, self.on_turn)

    def open_functions(
        self, library: Library, functions: Sequence[CodedFunction], *, seed: int, quarantined: Collection[str] = ()
    ) -> Functions:
        """Features, reward terms and predicates for one episode. Nothing runs before the first question.

        :param seed: of the ``random`` of each function; any integer.
        :param quarantined: names of functions that are not called; their answers are neutral.
        :raises SandboxError: names are equal, or there are too many functions.
        """
        return Functions(self.limits, library, functions, seed, self.on_turn, quarantined)


class Guest:
    """The coded actions of an episode, each in a WebAssembly instance of its own, made when it is needed.

    The same seed, sources and replies give the same requests. What one action does changes nothing in another: not its
    globals, its random numbers, its fuel, nor a verdict on it.

    :raises SandboxError: the guest program is missing (of every method that runs code).
    """

    def __init__(
        self,
        limits: SandboxLimits,
        library: Library,
        actions: Sequence[CodedAction],
        seed: int,
        on_turn: Callable[[], None] | None = None,
    ) -> None:
        self.limits = limits
        self.actions = {a.name: a for a in actions}
        if len(self.actions) != len(actions):
            raise SandboxError(f"names of coded actions must differ, got {[a.name for a in actions]}")
        setup = GuestSetup(
            limits=limits,
            checker=Checker(library),
            functions=json.dumps(library.functions),
            view=tuple(key.name for key in library.view),
            pieces=len(actions),
            seed=seed,
            on_turn=on_turn,
        )
        # Held weakly: in a cycle the instances, of megabytes each, would live until a collection of all of Python.
        make_room = weakref.WeakMethod(self._make_room)
        self._runners = {a.name: ActionRunner(a, setup, make_room) for a in actions}  # the newest is last
        self._newest: ActionRunner | None = None
        self._running: ActionRunner | None = None

    @property
    def fuel_used(self) -> int:
        """Fuel of the newest turn."""
        return self._newest.fuel_used if self._newest is not None else 0

    def start(self, action: str, parameters: Mapping[str, float] | None = None) -> Turn:
        """Call ``run`` of ``action`` and go to its first yield; a generator that still waits is closed first.

        Declared parameters that are not given take their defaults.

        :raises UnknownNameError: no such action, or no such parameter.
        """
        runner = self._runner(action)
        if self._running is not runner:
            self.cancel()
        self._running = runner
        return runner.start(parameters or {})

    def send(self, reply: Plain) -> Turn:
        """Send what the waiting ``yield`` returns: an outcome or a view, or a list of them where ``Ask.many`` was set.

        :raises SandboxError: no generator waits.
        :raises PluginError: ``reply`` is not plain.
        """
        if self._running is None or not self._running.waits:
            raise SandboxError("no coded action waits for a reply: start one first")
        self._newest = self._running
        return self._running.send(reply)

    def load(self, action: str) -> bool | Verdict:
        """Run the top level of ``action`` once in its instance. Returns whether it defines ``can_start``, or a
        verdict."""
        return self._runner(action).load()

    def can_start(self, action: str, view: Mapping[str, Plain]) -> bool | Verdict:
        """What the action's own ``can_start(view)`` says; True where it defines none.

        :raises PluginError: ``view`` is not plain.
        """
        return self.can_start_each((action,), view)[action]

    def can_start_each(self, actions: Iterable[str], view: Mapping[str, Plain]) -> dict[str, bool | Verdict]:
        """:meth:`can_start` of several actions at one moment: the view is encoded once for all of them."""
        text: str | None = None
        answers: dict[str, bool | Verdict] = {}
        for action in actions:
            runner = self._runner(action)
            ready = "can_start" in runner.action.source and self.load(action)
            if ready is not True:
                answers[action] = ready or True
                continue
            try:
                text = text or encode(view, action, self.limits.view_bytes)
            except Refused as refused:
                answers[action] = runner.verdict(refused)
                continue
            answers[action] = runner.can_start(text)
        return answers

    def cancel(self) -> Verdict | None:
        """Close the generator that waits: its ``finally`` blocks run, on the fuel of its call. Idle otherwise.

        :returns: the verdict on its action where the clean-up ran too long, or ended the instance.
        """
        running, self._running = self._running, None
        return running.cancel() if running is not None else None

    def _runner(self, action: str) -> ActionRunner:
        """:raises UnknownNameError: there is no such action."""
        if action not in self._runners:
            raise UnknownNameError("coded action", action, self.actions)
        self._newest = self._runners[action] = self._runners.pop(action)
        return self._newest

    def _make_room(self) -> None:
        """Where as many instances are alive as may be, drop the one that has been idle for longest."""
        live = [runner for runner in self._runners.values() if runner.live]
        idle = next((runner for runner in live if not runner.waits), None)
        if idle is not None and len(live) >= self.limits.instances:
            idle.drop()
