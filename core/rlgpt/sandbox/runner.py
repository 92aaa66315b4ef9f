"""One coded action for one episode: its generator, turn by turn."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rlgpt.domain import CodedAction, Plain, Verdict
from rlgpt.errors import UnknownNameError
from rlgpt.sandbox import replies
from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.code_runner import CodeRunner, GuestSetup, MakeRoom
from rlgpt.sandbox.encode import encode
from rlgpt.sandbox.turns import Ask, Turn


class ActionRunner(CodeRunner):
    """Runs one coded action."""

    def __init__(self, action: CodedAction, setup: GuestSetup, make_room: MakeRoom) -> None:
        super().__init__(action.name, action.source, "run", setup, make_room)
        self.action = action
        self._waits = False
        self._yields = 0
        self._replies = 1

    @property
    def waits(self) -> bool:
        """Whether a generator waits for a reply."""
        return self._waits

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
        super().drop()
        self._waits = False

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
