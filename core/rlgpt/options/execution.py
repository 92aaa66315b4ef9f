"""One call of a coded action: the guest asks for primitives, and the host runs them until the call ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rlgpt.domain import CodedAction, Ending, Plain, PrimitiveCall, Verdict
from rlgpt.plugin.types import Context, Primitive
from rlgpt.sandbox import Ask, Guest, Request

Step = Callable[[Any], bool]
"""Steps the base environment by one low-level action. Returns whether the episode ended."""


@dataclass
class Call:
    """The progress of a call.

    :ivar steps: primitive steps so far.
    :ivar verdict: on the call, or on its clean-up; None where nothing was wrong.
    :ivar calls: of primitives; only where the trace is kept.
    """

    ended: Ending = "returned"
    verdict: Verdict | None = None
    calls: list[PrimitiveCall] = field(default_factory=list)


class Execution:
    """Runs coded actions. It has no environment: every low-level action goes through ``step``.

    :param view: builds the plugin's view; called only when the code asks for it.
    :param keep_calls: record each call of a primitive in :attr:`Call.calls`.
    """

    def __init__(
        self, primitives: Mapping[str, Primitive], view: Callable[[], dict[str, Plain]], step: Step, *, keep_calls: bool
    ) -> None:
        self._primitives, self._view, self._step, self._keep_calls = primitives, view, step, keep_calls

    def run(self, guest: Guest, action: CodedAction, parameters: Mapping[str, float], ctx: Context) -> Call:
        """Run ``action`` until it returns, violates a limit, reaches its step limit, or the episode ends."""
        call, start = Call(), ctx.step
        turn = guest.start(action.name, parameters)
        while isinstance(turn, Ask):
            replies: list[Plain] = []
            for request in turn.requests:
                finished, outcome = self._answer(request, ctx, call, limit=start + action.max_steps)
                replies.append(outcome)
                if finished:
                    self._judge(call, guest.cancel(), ctx.step - start)
                    return call
            turn = guest.send(replies if turn.many else replies[0])
        if isinstance(turn, Verdict):
            call.ended = "violation"
            self._judge(call, turn, ctx.step - start)
        return call

    @staticmethod
    def _judge(call: Call, verdict: Verdict | None, step: int) -> None:
        if verdict is not None:
            call.verdict = verdict.model_copy(update={"step": step})

    def _answer(self, request: Request, ctx: Context, call: Call, *, limit: int) -> tuple[bool, dict[str, Plain]]:
        """Run one request. Returns whether the call is over (the episode ended, or its step count reached ``limit``),
        and the outcome."""
        if request.name == "observe":
            return False, self._view()
        primitive = self._primitives[request.name]
        before = ctx.step
        finished, outcome = self._drive(primitive, request, ctx, call, limit)
        if request.clipped:
            outcome["clipped"] = list(request.clipped)
        if self._keep_calls:
            call.calls.append(
                PrimitiveCall(name=request.name, args=dict(request.args), steps=ctx.step - before, outcome=outcome)
            )
        return finished, outcome

    def _drive(
        self, primitive: Primitive, request: Request, ctx: Context, call: Call, limit: int
    ) -> tuple[bool, dict[str, Plain]]:
        actions = primitive.run(ctx, **request.args)
        end_of_primitive = ctx.step + primitive.max_steps
        while ctx.step < end_of_primitive:
            try:
                low_level = next(actions)
            except StopIteration as end:
                return False, dict(end.value or {})
            if self._step(low_level):
                call.ended = "episode"
                return True, {"ended": "episode"}
            if ctx.step >= limit:
                call.ended = "limit"
                return True, {"ended": "limit"}
        try:  # the generator may still return an outcome
            next(actions)
        except StopIteration as end:
            return False, dict(end.value or {})
        actions.close()
        return False, {**dict.fromkeys(primitive.outcome), "ended": "primitive limit"}
