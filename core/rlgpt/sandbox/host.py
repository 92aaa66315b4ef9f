"""The sandbox as the rest sees it: opens guests, starts coded actions, sends outcomes, checks what comes back."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rlgpt.domain import CodedAction, Plain, Verdict, VerdictKind
from rlgpt.errors import PluginError, SandboxError, UnknownNameError
from rlgpt.sandbox import replies
from rlgpt.sandbox.checks import Checker, Refused
from rlgpt.sandbox.library import Library
from rlgpt.sandbox.limits import DEFAULT, SandboxLimits
from rlgpt.sandbox.turns import Ask, Turn

if TYPE_CHECKING:
    from rlgpt.sandbox.runtime import Instance

T = TypeVar("T")

_TURNS = ("start-action", "send-reply")

_FATAL: frozenset[VerdictKind] = frozenset({"memory", "reply"})
"""Replies of these kinds mean that the instance may be broken: the next call gets a fresh one, as after a trap."""


class Sandbox:
    """Opens guests under one set of budgets. Cheap to make; the first guest of a process loads the compiled program."""

    def __init__(self, budgets: SandboxLimits = DEFAULT) -> None:
        self.budgets = budgets

    def open(self, library: Library, actions: Sequence[CodedAction], *, seed: int) -> Guest:
        """A guest for one episode. Nothing runs before the first call.

        :param seed: of the guest's ``random``; any integer.
        :raises SandboxError: the guest program is missing.
        """
        return Guest(self.budgets, library, actions, seed)


class Guest:
    """One WebAssembly instance that holds all coded actions of an episode, each in a namespace of its own.

    The same seed, sources and replies give the same requests.
    """

    def __init__(self, budgets: SandboxLimits, library: Library, actions: Sequence[CodedAction], seed: int) -> None:
        self.budgets = budgets
        self.actions = {a.name: a for a in actions}
        if len(self.actions) != len(actions):
            raise SandboxError(f"names of coded actions must differ, got {[a.name for a in actions]}")
        self.fuel_used = 0
        """Fuel of the newest turn."""
        self._checker = Checker(library)
        self._functions = json.dumps(library.functions)
        self._view = tuple(key.name for key in library.view)
        self._seed = seed
        self._instances = 0
        self._instance: Instance | None = None
        self._loaded: dict[str, bool] = {}
        self._broken: dict[str, Verdict] = {}
        self._running: str | None = None
        self._yields = 0
        self._waits_for = 1

    def start(self, action: str, parameters: Mapping[str, float] | None = None) -> Turn:
        """Call ``run`` of ``action`` and go to its first yield; a generator that still waits is closed first.

        Declared parameters that are not given take their defaults.

        :raises UnknownNameError: no such action, or no such parameter.
        """
        coded = self._action(action)
        given = dict(parameters or {})
        declared = {p.name: p.default for p in coded.parameters}
        for name in given:
            if name not in declared:
                raise UnknownNameError(f"parameter of {action!r}", name, declared)
        self.cancel()
        ready = self.load(action)
        if isinstance(ready, Verdict):
            return ready
        self._running, self._yields = action, 0
        arguments = json.dumps({k: float(given.get(k, v)) for k, v in declared.items()})
        return self._turn(action, "start-action", action, arguments)

    def send(self, reply: Plain) -> Turn:
        """Send what the waiting ``yield`` returns: an outcome or a view, or a list of them where ``Ask.many`` was set.

        :raises SandboxError: no generator waits.
        :raises PluginError: ``reply`` is not plain.
        """
        if self._running is None:
            raise SandboxError("no coded action waits for a reply: start one first")
        action = self._running
        try:
            text = _encode(reply, action, self.budgets.view_bytes * self._waits_for)
        except Refused as refused:
            self.cancel()
            return self._verdict(action, refused)
        return self._turn(action, "send-reply", text)

    def load(self, action: str) -> bool | Verdict:
        """Run the top level of ``action`` once in this instance. Whether it defines ``can_start``, or what is wrong."""
        coded = self._action(action)
        if action in self._broken:
            return self._broken[action]
        size = len(coded.source.encode("utf-8", "replace"))
        if size > self.budgets.source_bytes:
            self.fuel_used = 0
            text = f"the source has {size} bytes; at most {self.budgets.source_bytes} are taken"
            return self._verdict(action, Refused("load", text))
        self._ready()
        if action not in self._loaded:
            state = self._call(action, "load-action", action, coded.source, read=replies.loaded)
            if isinstance(state, Verdict):
                if state.kind == "error":
                    state = state.model_copy(update={"kind": "load"})
                if state.kind != "wall":  # that may be the machine's fault: it is tried again
                    self._broken[action] = state
                return state
            self._loaded[action] = state
        return self._loaded[action]

    def can_start(self, action: str, view: Mapping[str, Plain]) -> bool | Verdict:
        """What the action's own ``can_start(view)`` says; True where it defines none.

        :raises PluginError: ``view`` is not plain.
        """
        return self.can_start_each((action,), view)[action]

    def can_start_each(self, actions: Iterable[str], view: Mapping[str, Plain]) -> dict[str, bool | Verdict]:
        """:meth:`can_start` of several actions at one moment: the view is put into words once for all of them."""
        text: str | None = None
        answers: dict[str, bool | Verdict] = {}
        for action in actions:
            ready = "can_start" in self._action(action).source and self.load(action)
            if ready is not True:
                answers[action] = ready or True
                continue
            try:
                text = text or _encode(view, action, self.budgets.view_bytes)
            except Refused as refused:
                answers[action] = self._verdict(action, refused)
                continue
            answer = self._call(action, "ask-can-start", action, text, read=replies.answer)
            if isinstance(answer, Verdict):
                answer = answer.model_copy(update={"message": f"in can_start(view): {answer.message}"[:500]})
            answers[action] = answer
        return answers

    def cancel(self) -> None:
        """Close the generator that waits (its ``finally`` blocks run, under the budget of a turn); idle otherwise."""
        if self._running is None:
            return
        self._running = None
        if self._instance is not None:
            try:
                self._instance.call("cancel-action", fuel=self.budgets.turn_fuel)
            except Refused:
                self._drop()

    def _action(self, name: str) -> CodedAction:
        if name not in self.actions:
            raise UnknownNameError("coded action", name, self.actions)
        return self.actions[name]

    def _turn(self, action: str, export: str, *arguments: str) -> Turn:
        turn = self._call(
            action, export, *arguments, read=lambda reply, budgets: replies.turn(reply, self._checker, budgets)
        )
        if not isinstance(turn, Ask):
            self._running = None
            return turn
        self._yields += 1
        if self._yields > self.budgets.yields:
            self.cancel()
            line = turn.requests[0].line
            text = f"one call may yield {self.budgets.yields} times: Budgets(yields=...)"
            return self._verdict(action, Refused("yields", text, line))
        self._waits_for = len(turn.requests)
        return turn

    def _call(self, action: str, export: str, *arguments: str, read: Callable[[str, SandboxLimits], T]) -> T | Verdict:
        """Call an export and read its reply; whatever the guest does wrong is a verdict on ``action``."""
        fuel = self.budgets.load_fuel if export == "load-action" else self.budgets.turn_fuel
        instance = self._ready()
        try:
            reply = instance.call(export, *arguments, fuel=fuel)
        except Refused as refused:
            self.fuel_used = instance.fuel_used
            self._drop()
            return self._verdict(action, refused)
        self.fuel_used = instance.fuel_used
        try:
            return read(reply, self.budgets)
        except Refused as refused:
            verdict = self._verdict(action, refused)
            if refused.kind in _FATAL:
                self._drop()
            elif export in _TURNS:
                self.cancel()
            return verdict

    def _ready(self) -> Instance:
        """The instance; a fresh one where there is none, or where the last one trapped."""
        if self._instance is None:
            from rlgpt.sandbox.runtime import Instance

            instance = Instance(self.budgets)
            mixed = hashlib.sha256(f"{self._seed}/{self._instances}".encode()).digest()
            seed = int.from_bytes(mixed[:8], "big")
            try:
                instance.call("prepare-library", self._functions, seed, fuel=self.budgets.load_fuel)
            except Refused as refused:
                raise SandboxError(f"the guest cannot be prepared within {self.budgets}: {refused.message}") from None
            self._instance = instance
            self._instances += 1
            self._loaded = {}
        return self._instance

    def _drop(self) -> None:
        self._instance = None
        self._running = None

    def _verdict(self, action: str, refused: Refused) -> Verdict:
        message = refused.message
        missing = _NO_KEY.fullmatch(message)
        if missing and missing[1] not in self._view:
            message += f"; of the view there are: {', '.join(self._view) or '(none)'}"
        message = message if len(message) <= 500 else f"{message[:497]}..."
        return Verdict(kind=refused.kind, action=action, message=message, line=refused.line, fuel=self.fuel_used)


_NO_KEY = re.compile(r"KeyError: no key '([^']{1,100})'")
"""How the guest tells of a key that is not there; it does not know of what, so the host says what a view has."""

_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def _encode(value: Any, action: str, limit: int) -> str:
    """``value`` as JSON.

    :raises Refused: ``view``, where it is longer than ``limit`` or holds a number that is not finite.
    :raises PluginError: it is not plain: a fault of who made it, not of the coded action.
    """
    try:
        text = _ENCODER.encode(value)
    except ValueError as error:
        raise Refused("view", f"what {action!r} should be given is not finite or not a tree: {error}") from None
    except (TypeError, RecursionError) as error:
        raise PluginError(
            f"views and outcomes hold None, bool, int, float, str, list and dict alone: {error}"
        ) from None
    if len(text) > limit:
        raise Refused("view", f"what {action!r} asked for has {len(text)} bytes; at most {limit} are handed over")
    return text
