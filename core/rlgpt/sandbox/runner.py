"""Runs the generator of one coded action, turn by turn, for one episode."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlgpt.domain import CodedAction, Plain, Verdict
from rlgpt.errors import UnknownNameError
from rlgpt.sandbox import replies
from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.code_runner import CodeRunner, GuestSetup, MakeRoom
from rlgpt.sandbox.encode import encode
from rlgpt.sandbox.guest.floats import Packed
from rlgpt.sandbox.guest.packing import unpack
from rlgpt.sandbox.library import OBSERVE
from rlgpt.sandbox.reads import Reads, reads_of
from rlgpt.sandbox.turns import Ask, Exhausted, Turn


@dataclass
class SharedMemory:
    """The memory of one episode. All coded actions with an argument ``memory`` share this memory.

    The memory is passed between WebAssembly instances as text. ``run`` gets a copy; at the end of the call, the host
    reads this copy and stores it as the new memory. ``can_start`` also gets a copy, but its changes are lost.

    :ivar text: the shared memory in packed form, as JSON.
    """

    text: str = "{}"

    @property
    def plain(self) -> dict[str, Plain]:
        """The shared memory as plain values, in which tuples and sets are lists, and keys are text. Integers that
        need more than 64 bits are hexadecimal text, and lone surrogates are question marks, because records contain
        neither.
        """
        return {_text(key): _plain(value) for key, value in unpack(json.loads(self.text)).items()}


def _plain(value: Any) -> Plain:
    match value:
        case dict():
            return {_text(key): _plain(item) for key, item in value.items()}
        case str():
            return _text(value)
        case int() if value.bit_length() > 63:
            return hex(value)
        case set() | frozenset():
            return sorted((_plain(item) for item in value), key=repr)
        case list() | tuple():
            return [_plain(item) for item in value]
    plain: Plain = value if value is None or isinstance(value, bool | int | float) else repr(value)
    return plain


def _text(value: Any) -> str:
    return str(value).encode(errors="replace").decode()


class ActionRunner(CodeRunner):
    """Runs one coded action.

    :param memory: the shared memory of the episode.
    """

    def __init__(self, action: CodedAction, setup: GuestSetup, make_room: MakeRoom, memory: SharedMemory) -> None:
        super().__init__(action.name, action.source, "run", setup, make_room, action.shared)
        self.action, self._memory = action, memory
        self._own_memory = any(p.name == "memory" for p in action.parameters)
        self._waits = False
        self._asked: tuple[Packed | str, str, int] | None = None
        self._answer = False
        self._yields = self._looks = 0
        self._most_yields = max(setup.limits.yields, action.max_steps or 0)
        self._views: tuple[bool, ...] = (False,)
        self._many = False

    @property
    def waits(self) -> bool:
        """Whether a generator waits for a reply."""
        return self._waits

    def start(self, parameters: Mapping[str, float]) -> Turn:
        """Call the action's function ``run`` and execute it until its first yield. If a generator of the action waits
        for a reply, this generator is closed before the new call.

        :raises UnknownNameError: the action does not declare one of the given parameters.
        """
        declared = {p.name: p.default for p in self.action.parameters}
        for name in parameters:
            if name not in declared:
                raise UnknownNameError(f"parameter of {self.action.name!r}", name, declared)
        self.cancel()
        ready = self.load()
        if isinstance(ready, Verdict):
            return ready
        self._waits, self._yields, self._looks = True, 0, 0
        self._meter.begin_call()
        arguments = json.dumps({k: float(parameters.get(k, v)) for k, v in declared.items()})
        return self._turn("start-action", self.action.name, arguments, self._lent)

    def send(self, reply: Plain) -> Turn:
        """Continue the waiting generator with ``reply`` as the value of its ``yield``.

        :raises PluginError: ``reply`` contains something other than None, bool, int, float, str, list and dict.
        """
        if True in self._views:
            reply = self._shown(reply)
        try:
            text = encode(reply, self.action.name, self._limits.view_bytes * len(self._views))
        except Refused as refused:
            self.cancel(keep=False)
            return self.verdict(refused)
        return self._turn("send-reply", text)

    @property
    def reads(self) -> Reads:
        """The inputs on which the answer of the action's ``can_start`` depends."""
        return reads_of(self.source, self._shared)

    def can_start(self, view: Packed | str) -> bool | Verdict:
        """The answer of the action's ``can_start``.

        ``can_start`` is not called again if its answer depends only on the view, the memory and the globals
        (:attr:`reads`), and if these three are unchanged.

        :param view: the view, packed or as JSON (:func:`~rlgpt.sandbox.encode.encode`).
        """
        asked = (view, self._lent, self.calls)
        if asked == self._asked:
            self.fuel_used = 0
            return self._answer
        answer = self._can_start(view)
        if isinstance(answer, bool) and self.reads.steady:
            self._asked, self._answer = asked, answer
        return answer

    def _can_start(self, view: Packed | str) -> bool | Verdict:
        asked = f"{self.action.name}\n{self._lent}"
        answer = self._call("ask-can-start", asked, view, kind="answer", read=replies.answer)
        if isinstance(answer, Verdict):
            answer = answer.model_copy(update={"message": f"in can_start(view): {answer.message}"[:500]})
        return answer

    def cancel(self, *, keep: bool = True) -> Verdict | None:
        """Close the generator that waits for a reply. When a generator is closed, its ``finally`` blocks run and use
        the fuel of the call.

        :param keep: whether the memory of the closed call is stored; False if the call failed.
        :returns: the verdict if the ``finally`` blocks had to be stopped or the memory is not valid, else None.
            Exceptions in the ``finally`` blocks are ignored.
        """
        if not self._waits:
            return None
        self._waits, turn = False, self.fuel_used
        verdict = self._call("cancel-action", kind="turn", read=lambda reply, limits: None)
        if verdict is None and keep:
            verdict = self._remember()
        self.fuel_used = turn
        return verdict

    @property
    def _lent(self) -> str:
        """The shared memory as text for the loaded code; empty if the code has no argument ``memory``."""
        return self._memory.text if self._takes_memory else ""

    @property
    def _takes_memory(self) -> bool:
        return self._loaded is not None and self._loaded.takes_memory and not self._own_memory

    def _remember(self) -> Verdict | None:
        """Read the shared memory from the WebAssembly instance and store it.

        :returns: the verdict if the memory from the instance is not valid, else None.
        """
        if not self._takes_memory:
            return None
        text = self._call("read-memory", self.action.name, kind="turn", read=replies.memory)
        if isinstance(text, Verdict):
            return text
        self._memory.text = text
        return None

    def drop(self) -> None:
        super().drop()
        self._waits = False

    def _turn(self, export: str, *arguments: Packed | str) -> Turn:
        checker = self._setup.checker
        turn = self._call(
            export, *arguments, kind="turn", read=lambda reply, limits: replies.turn(reply, checker, limits)
        )
        if not isinstance(turn, Ask):
            if isinstance(turn, Verdict):
                self.cancel(keep=False)  # After a refused message, the generator still waits for a reply.
                return turn
            self._waits, fuel = False, self.fuel_used
            verdict = self._remember()
            self.fuel_used = fuel
            return verdict or turn
        looks = [request.name for request in turn.requests].count(OBSERVE)
        self._looks += looks
        self._yields += looks < len(turn.requests)
        if self._yields > self._most_yields:
            return Exhausted(self.cancel())
        if self._looks > (most := max(self._limits.looks, 2 * self._most_yields)):
            self.cancel(keep=False)
            text = f"one call may yield observe() {most} times: the view changes only when a primitive takes steps"
            return self.verdict(Refused("yields", text, turn.requests[0].line))
        self._views, self._many = tuple([request.name == OBSERVE for request in turn.requests]), turn.many
        return turn

    def _shown(self, reply: Plain) -> Plain:
        """``reply`` without the keys of views that the code cannot read."""
        if isinstance(reply, dict) and not self._many:
            return self.part(reply)
        if isinstance(reply, list) and len(reply) == len(self._views):
            return [
                self.part(item) if view and isinstance(item, dict) else item
                for item, view in zip(reply, self._views, strict=True)
            ]
        return reply
