"""One call of a coded action: the guest asks, the host runs primitives, until one of them has had enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rlgpt.domain import CodedAction, Ending, Plain, PrimitiveCall, Verdict
from rlgpt.plugin.types import Context, Primitive
from rlgpt.sandbox import Ask, Guest, Request

Step = Callable[[Any], bool]
"""Steps the base environment by one low-level action; True where the episode ended."""


@dataclass
class Call:
    """What a call has done so far."""

    steps: int = 0
    ended: Ending = "returned"
    verdict: Verdict | None = None
    calls: list[PrimitiveCall] = field(default_factory=list)


class Execution:
    """Runs coded actions. Owns no environment: every low-level action goes through ``step``.

    :param view: builds the plugin's view, only when the code asks for it.
    """

    def __init__(
        self, primitives: Mapping[str, Primitive], view: Callable[[], dict[str, Plain]], step: Step, *, keep_calls: bool
    ) -> None:
        self._primitives, self._view, self._step, self._keep_calls = primitives, view, step, keep_calls

    def run(self, guest: Guest, action: CodedAction, parameters: Mapping[str, float], ctx: Context) -> Call:
        """Run ``action`` until it returns, the episode ends, its step limit, or a violation."""
        call = Call()
        turn = guest.start(action.name, parameters)
        while isinstance(turn, Ask):
            replies: list[Plain] = []
            for request in turn.requests:
                finished, outcome = self._answer(request, ctx, call, limit=action.max_steps)
                replies.append(outcome)
                if finished:
                    self._judge(call, guest.cancel())
                    return call
            turn = guest.send(replies if turn.many else replies[0])
        if isinstance(turn, Verdict):
            call.ended = "violation"
            self._judge(call, turn)
        return call

    @staticmethod
    def _judge(call: Call, verdict: Verdict | None) -> None:
        if verdict is not None:
            call.verdict = verdict.model_copy(update={"step": call.steps})

    def _answer(self, request: Request, ctx: Context, call: Call, *, limit: int) -> tuple[bool, dict[str, Plain]]:
        """Run one request. The bool says that the call is over: the episode ended, or the step limit is reached."""
        if request.name == "observe":
            return False, self._view()
        primitive = self._primitives[request.name]
        before = call.steps
        finished, outcome = self._drive(primitive, request, ctx, call, limit)
        if request.clipped:
            outcome["clipped"] = list(request.clipped)
        if self._keep_calls:
            call.calls.append(
                PrimitiveCall(name=request.name, args=dict(request.args), steps=call.steps - before, outcome=outcome)
            )
        return finished, outcome

    def _drive(
        self, primitive: Primitive, request: Request, ctx: Context, call: Call, limit: int
    ) -> tuple[bool, dict[str, Plain]]:
        actions = primitive.run(ctx, **request.args)
        steps = 0
        while steps < primitive.max_steps:
            try:
                low_level = next(actions)
            except StopIteration as end:
                return False, dict(end.value or {})
            steps += 1
            call.steps += 1
            if self._step(low_level):
                call.ended = "episode"
                return True, {"ended": "episode"}
            if call.steps >= limit:
                call.ended = "limit"
                return True, {"ended": "limit"}
        try:  # its last action has been carried out: it may still want to say how that went
            next(actions)
        except StopIteration as end:
            return False, dict(end.value or {})
        actions.close()
        return False, {**dict.fromkeys(primitive.outcome), "ended": "primitive limit"}
