"""One coded action in an instance of its own, for one episode."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakMethod

from rlgpt.domain import CodedAction, Plain, Verdict, VerdictKind
from rlgpt.errors import SandboxError, UnknownNameError
from rlgpt.sandbox import replies
from rlgpt.sandbox.checks import Checker, Refused
from rlgpt.sandbox.encode import encode
from rlgpt.sandbox.fuel import FuelMeter, Kind
from rlgpt.sandbox.limits import SandboxLimits
from rlgpt.sandbox.turns import Ask, Turn

if TYPE_CHECKING:
    from rlgpt.sandbox.runtime import Instance

T = TypeVar("T")

_FATAL: frozenset[VerdictKind] = frozenset({"memory", "reply"})
"""After a reply of these kinds the instance may be broken. The next call gets a new one, as after a trap."""

_NO_KEY = re.compile(r"KeyError: no key '([^']{1,100})'")
"""The guest's message on a missing key. The guest does not know whose key it is, so the host adds what a view has."""


@dataclass(frozen=True)
class GuestSetup:
    """The constants that all actions of one guest share.

    :ivar functions: the library's functions and their arguments, as JSON.
    :ivar view: the keys of the view.
    :ivar actions: how many actions share the episode.
    :ivar seed: of the guest; each action draws its own from it.
    :ivar on_turn: called before each crossing into an instance.
    """

    limits: SandboxLimits
    checker: Checker
    functions: str
    view: tuple[str, ...]
    actions: int
    seed: int
    on_turn: Callable[[], None] | None


class ActionRunner:
    """Runs one coded action in a WebAssembly instance that holds no other, so no other action can cause its verdicts.

    A trap (fuel, memory, time) or an invalid message ends the instance. The next call makes a new one, in which the
    globals of the source start again. The fuel of the episode is counted across instances.

    :param make_room: the guest's, called before an instance is made.
    :ivar fuel_used: fuel of the newest turn.
    """

    def __init__(self, action: CodedAction, setup: GuestSetup, make_room: WeakMethod[Callable[[], None]]) -> None:
        self.action, self.fuel_used, self._make_room = action, 0, make_room
        self._setup, self._limits = setup, setup.limits
        self._meter = FuelMeter(setup.limits, setup.actions)
        self._instance: Instance | None = None
        self._instances = 0
        self._conditional: bool | None = None
        self._unloadable: Verdict | None = None
        self._waits = False
        self._yields = 0
        self._replies = 1

    @property
    def live(self) -> bool:
        """Whether it holds an instance, and so memory."""
        return self._instance is not None

    @property
    def waits(self) -> bool:
        """Whether a generator waits for a reply."""
        return self._waits

    def load(self) -> bool | Verdict:
        """Run the top level of the source, once in each instance.

        :returns: whether the source defines ``can_start``, or what is wrong with it.
        """
        if self._unloadable is not None:
            return self._unloadable
        size = len(self.action.source.encode("utf-8", "replace"))
        if size > self._limits.source_bytes:
            self.fuel_used = 0
            return self.verdict(
                Refused("load", f"the source has {size} bytes; at most {self._limits.source_bytes} are taken")
            )
        if self._conditional is None:
            state = self._call("load-action", self.action.name, self.action.source, kind="load", read=replies.loaded)
            if isinstance(state, Verdict):
                if state.kind == "error":
                    state = state.model_copy(update={"kind": "load"})
                if state.kind != "wall":  # that may be the machine's fault: it is tried again
                    self._unloadable = state
                return state
            self._conditional = state
        return self._conditional

    def start(self, parameters: Mapping[str, float]) -> Turn:
        """Call ``run`` and go to its first yield; a generator that still waits is closed first.

        :raises UnknownNameError: the action declares no such parameter.
        """
        declared = {p.name: p.default for p in self.action.parameters}
        for name in parameters:
            if name not in declared:
                raise UnknownNameError(f"parameter of {self.action.name!r}", name, declared)
        self.cancel()
        ready = self.load()
        if isinstance(ready, Verdict):
            return ready
        self._waits, self._yields = True, 0
        self._meter.begin_call()
        arguments = json.dumps({k: float(parameters.get(k, v)) for k, v in declared.items()})
        return self._turn("start-action", self.action.name, arguments)

    def send(self, reply: Plain) -> Turn:
        """Send what the waiting ``yield`` returns.

        :raises PluginError: ``reply`` is not plain.
        """
        try:
            text = encode(reply, self.action.name, self._limits.view_bytes * self._replies)
        except Refused as refused:
            self.cancel()
            return self.verdict(refused)
        return self._turn("send-reply", text)

    def can_start(self, view: str) -> bool | Verdict:
        """The answer of the loaded ``can_start``, given the view as JSON."""
        answer = self._call("ask-can-start", self.action.name, view, kind="answer", read=replies.answer)
        if isinstance(answer, Verdict):
            answer = answer.model_copy(update={"message": f"in can_start(view): {answer.message}"[:500]})
        return answer

    def cancel(self) -> Verdict | None:
        """Close the generator that waits; its ``finally`` blocks run on the call's fuel.

        :returns: the verdict where the clean-up had to be stopped; what it raises is dropped.
        """
        if not self._waits:
            return None
        self._waits, turn = False, self.fuel_used
        verdict = self._call("cancel-action", kind="turn", read=lambda reply, limits: None)
        self.fuel_used = turn
        return verdict

    def drop(self) -> None:
        """Give the instance back, and with it the source's globals."""
        self._instance, self._conditional, self._waits = None, None, False

    def verdict(self, refused: Refused) -> Verdict:
        """The verdict on this action that ``refused`` stands for."""
        message = refused.message
        missing = _NO_KEY.fullmatch(message)
        if missing and missing[1] not in self._setup.view:
            message += f"; of the view there are: {', '.join(self._setup.view) or '(none)'}"
        message = message if len(message) <= 500 else f"{message[:497]}..."
        return Verdict(
            kind=refused.kind, action=self.action.name, message=message, line=refused.line, fuel=self.fuel_used
        )

    def _turn(self, export: str, *arguments: str) -> Turn:
        checker = self._setup.checker
        turn = self._call(
            export, *arguments, kind="turn", read=lambda reply, limits: replies.turn(reply, checker, limits)
        )
        if not isinstance(turn, Ask):
            # a message that was refused leaves a generator behind
            if isinstance(turn, Verdict):
                self.cancel()
            self._waits = False
            return turn
        self._yields += 1
        if self._yields > self._limits.yields:
            self.cancel()
            text = f"one call may yield {self._limits.yields} times: Budgets(yields=...)"
            return self.verdict(Refused("yields", text, turn.requests[0].line))
        self._replies = len(turn.requests)
        return turn

    def _call(self, export: str, *arguments: str, kind: Kind, read: Callable[[str, SandboxLimits], T]) -> T | Verdict:
        """Call an export and read its reply; whatever the guest does wrong is a verdict."""
        try:
            reply = self._cross(export, *arguments, kind=kind)
            return read(reply, self._limits)
        except Refused as refused:
            if refused.kind in _FATAL:
                self.drop()
            return self.verdict(refused)

    def _cross(self, export: str, *arguments: str, kind: Kind) -> str:
        """:raises Refused: the fuel is used up, or the instance trapped; it is dropped then."""
        self.fuel_used = 0
        instance = self._ready()
        allowed = self._meter.allowance(kind)
        if not allowed.fuel:
            self.drop()
            raise Refused("fuel", allowed.exceeded or "")
        if self._setup.on_turn is not None:
            self._setup.on_turn()
        try:
            return instance.call(export, *arguments, fuel=allowed.fuel, exceeded=allowed.exceeded)
        except Refused:
            self.drop()
            raise
        finally:
            self.fuel_used = instance.fuel_used
            self._meter.spend(instance.fuel_used, kind)

    def _ready(self) -> Instance:
        """The instance; a fresh one where there is none, or where the last one trapped."""
        if self._instance is None:
            from rlgpt.sandbox.runtime import Instance

            if (make_room := self._make_room()) is not None:
                make_room()
            instance = Instance(self._limits)
            mixed = hashlib.sha256(f"{self._setup.seed}/{self.action.name}/{self._instances}".encode()).digest()
            seed = int.from_bytes(mixed[:8], "big")
            try:
                instance.call("prepare-library", self._setup.functions, seed, fuel=self._limits.load_fuel)
            except Refused as refused:
                raise SandboxError(f"the guest cannot be prepared within {self._limits}: {refused.message}") from None
            self._meter.spend(instance.fuel_used, "load")
            self._instance, self._conditional = instance, None
            self._instances += 1
        return self._instance
