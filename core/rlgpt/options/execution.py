"""One call of a coded action. The code of the action runs in the sandbox and requests primitives. This module runs the
primitives that the code requests, until the coded action ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from rlgpt.domain import CodedAction, Ending, Plain, PrimitiveCall, Task, Verdict
from rlgpt.options.effects import Code, Effect, Effects, Step, look
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.types import Context, Primitive
from rlgpt.sandbox import Ask, Exhausted, Guest, Request, Turn
from rlgpt.sandbox.library import OBSERVE

Running = Effects["Call"]
"""A call of a coded action in progress. The effect :class:`~rlgpt.options.effects.Step` proposes the next low-level
action; the result of this effect is whether the episode ended with that action. The owner of the call steps the
environment, or ends the call by :func:`interrupt`.
"""


@dataclass
class Call:
    """The state of one call of a coded action.

    :ivar pieces: the number of primitives that have begun in the call of the coded action. When the first base action
        of a new primitive waits for its step, the previous primitive has ended and the new primitive has taken no step
        yet.
    :ivar verdict: the verdict on the call of the coded action, or on the action's ``finally`` blocks; None if there was
        no fault.
    :ivar calls: the calls of primitives, and the calls of ``observe`` in which the view had changed; empty if the
        episode is not traced.
    :ivar seen: the view that the code observed last; None if the episode is not traced.
    :ivar view: the view after the last primitive; None if the episode is not traced.
    """

    ended: Ending = "returned"
    pieces: int = 0
    verdict: Verdict | None = None
    calls: list[PrimitiveCall] = field(default_factory=list)
    seen: Mapping[str, Plain] | None = None
    view: Mapping[str, Plain] | None = None

    def look(self, view: Mapping[str, Plain]) -> None:
        """If keys of ``view`` have changed since the code's last observation, record a call of ``observe`` with these
        keys.

        If the code observes before it calls a primitive, ``look`` does not record the view, because the record of the
        decision already contains it.
        """
        known = self.seen if self.seen is not None else {} if self.calls else view
        changed = {key: value for key, value in view.items() if key not in known or known[key] != value}
        if changed:
            self.calls.append(PrimitiveCall(name=OBSERVE, args={}, steps=0, outcome=changed))
        self.seen = view

    def view_changes(self, view: Mapping[str, Plain]) -> dict[str, Plain]:
        """The keys of ``view`` that have changed since the last primitive of this call or, before the first primitive,
        since the start of the call.
        """
        known, self.view = self.view or {}, view
        return {key: value for key, value in view.items() if key not in known or known[key] != value}


See = Callable[[], Effects[Mapping[str, Plain]]]
_Answer = Effects[tuple[bool, dict[str, Plain]]]


class _Interrupted(Exception):
    """The exception that is thrown into the code of a running call to end the call."""


def interrupt(running: Running) -> Effects[Call]:
    """End a call of a coded action that waits for a primitive step. The proposed step of an interrupted call is not
    taken, and the code may clean up, as it may when a call reaches its step limit.

    :raises RuntimeError: no proposed step waits, because the call of the coded action has not begun or is over.
    """
    try:
        effect: Effect = running.throw(_Interrupted())
        while True:
            effect = running.send((yield effect))
    except StopIteration as end:
        call: Call = end.value
        return call
    except _Interrupted:
        pass
    raise RuntimeError(
        "no proposed step waits: interrupt a call only after its first proposed action and before its end"
    )


def settled(action: CodedAction, plugin: EnvironmentPlugin, task: Task) -> CodedAction:
    """Return ``action`` with the step limit that it has in ``task``. The step limit is the limit that the action
    states, or else the default of the task, and at most the plugin's maximum.
    """
    limits = plugin.limits(task)
    wanted = action.max_steps or limits.steps(task).default
    limit = min(wanted, limits.option_steps or wanted)
    return action if limit == action.max_steps else action.model_copy(update={"max_steps": limit})


class Execution:
    """Runs coded actions. The class has no environment. ``Execution`` proposes low-level actions, and its caller (the
    driver) takes the primitive steps.

    :param keep_calls: whether each call of a primitive is recorded in :attr:`Call.calls`.
    """

    def __init__(self, primitives: Mapping[str, Primitive], *, keep_calls: bool) -> None:
        self._primitives, self._keep_calls = primitives, keep_calls

    def run(
        self,
        guest: Guest,
        action: CodedAction,
        parameters: Mapping[str, float],
        ctx: Context,
        call: Call | None = None,
        see: See = look,
    ) -> Running:
        """Run ``action`` until it returns, violates a limit, reaches its step limit or its maximal number of yields, or
        is interrupted, or until the episode ends.

        :param action: a coded action with a step limit ``max_steps`` (:func:`settled`).
        :param ctx: the context, whose observation, ``info`` and step the driver updates after each primitive step.
        :param call: the record that is updated during the call, so that a driver can see the progress. If ``call`` is
            None, a new record is made.
        :param see: a function that returns the view for the code; it is called when the code observes and, if calls are
            recorded, after each primitive.
        """
        assert action.max_steps is not None
        call, start = call or Call(), ctx.step
        if self._keep_calls:
            call.view = dict((yield from see()))
        turn: Turn = yield Code(partial(guest.start, action.name, parameters))
        while isinstance(turn, Ask):
            replies: list[Plain] = []
            for request in turn.requests:
                finished, outcome = yield from self._answer(
                    request, guest, ctx, call, see, limit=start + action.max_steps
                )
                replies.append(outcome)
                if finished:
                    self._judge(call, (yield Code(guest.cancel)), ctx.step - start)
                    return call
            turn = yield Code(partial(guest.send, replies if turn.many else replies[0]))
        if isinstance(turn, Verdict):
            call.ended = "violation"
            self._judge(call, turn, ctx.step - start)
        elif isinstance(turn, Exhausted):
            call.ended = "yields"
            self._judge(call, turn.verdict, ctx.step - start)
        return call

    @staticmethod
    def _judge(call: Call, verdict: Verdict | None, step: int) -> None:
        if verdict is not None:
            call.verdict = verdict.model_copy(update={"step": step})

    def _answer(self, request: Request, guest: Guest, ctx: Context, call: Call, see: See, *, limit: int) -> _Answer:
        """Run one request of the code.

        :returns: whether the call is over (because the episode ended, the call's step count reached ``limit``, or the
            call was interrupted), and the outcome of the request.
        """
        if request.name == OBSERVE:
            view = yield from see()
            if not self._keep_calls:
                return False, guest.part(view)
            call.look(seen := dict(view))
            return False, seen
        primitive = self._primitives[request.name]
        before = ctx.step
        call.pieces += 1
        finished, outcome = yield from self._perform(primitive, request, ctx, call, limit)
        if request.clipped:
            outcome["clipped"] = list(request.clipped)
        if self._keep_calls and (call.ended != "interrupted" or ctx.step > before):
            changes = {} if finished else call.view_changes(dict((yield from see())))
            call.calls.append(
                PrimitiveCall(
                    name=request.name,
                    args=dict(request.args),
                    steps=ctx.step - before,
                    outcome=outcome,
                    view_changes=changes,
                )
            )
        return finished, outcome

    @staticmethod
    def _perform(primitive: Primitive, request: Request, ctx: Context, call: Call, limit: int) -> _Answer:
        actions = primitive.start(ctx, request.args)
        end_of_primitive = ctx.step + primitive.max_steps
        while ctx.step < end_of_primitive:
            try:
                low_level = next(actions)
            except StopIteration as end:
                return False, dict(end.value or {})
            try:
                episode_ended = yield Step(low_level)
            except _Interrupted:
                call.ended = "interrupted"
                return True, {"ended": "interrupted"}
            if episode_ended:
                call.ended = "episode"
                return True, {"ended": "episode"}
            if ctx.step >= limit:
                call.ended = "limit"
                return True, {"ended": "limit"}
        try:  # A primitive that has used all its steps may still return an outcome.
            next(actions)
        except StopIteration as end:
            return False, dict(end.value or {})
        actions.close()
        return False, {"ended": "primitive limit"}
