"""The state of a coded action in progress, and the order in which code alone chooses coded actions."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgpt.options.effects import Effect, Effects, Step
from rlgpt.options.execution import Call, Running, interrupt


class InProgress:
    """One call of a coded action, which advances by one primitive step at a time.

    :param call: the record of the call.
    :param running: the computation that runs the code of the call and updates ``call``.
    :ivar name: name of the coded action.
    :ivar proposal: the low-level action that the code proposes for the next primitive step; None after the end of the
        call.
    :ivar is_over: whether the call of the coded action has ended.
    """

    def __init__(self, name: str, call: Call, running: Running) -> None:
        self.name, self._call, self._running = name, call, running
        self.proposal: Any = None
        self.is_over, self._reported = False, 0

    @property
    def pieces(self) -> int:
        """The number of primitives that have begun in this call."""
        return self._call.pieces

    def begin(self) -> Effects[None]:
        """Run the code until its first proposed low-level action."""
        return self._resume(None)

    def go_on(self, episode_ended: bool) -> Effects[None]:
        """Run the code until its next proposed low-level action. Before ``go_on``, the caller has taken one primitive
        step with the last proposed action, with its corrected form, or with a base action in its place.
        """
        return self._resume(episode_ended)

    def interrupt(self) -> Effects[None]:
        """End the call of the coded action before its next primitive step."""
        yield from interrupt(self._running)
        self.is_over, self.proposal = True, None

    def report(self) -> Call:
        """The record of the call, with the primitives that have ended since the last report. While the call is in
        progress, the field ``ended`` of its record is ``running``.
        """
        new = self._call.calls[self._reported :]
        self._reported += len(new)
        return Call("running" if not self.is_over else self._call.ended, self._call.pieces, self._call.verdict, new)

    def _resume(self, result: Any) -> Effects[None]:
        try:
            effect: Effect = self._running.send(result)
            while type(effect) is not Step:
                effect = self._running.send((yield effect))
            self.proposal = effect.action
        except StopIteration:
            self.is_over, self.proposal = True, None


class PlanOrder:
    """Computes what code alone chooses when no coded action is in progress: the next action that may start, in the
    plan's order after the last chosen action. After the last action of the plan, the order begins again with the first.

    :param count: number of coded actions, at least 1.
    """

    def __init__(self, count: int) -> None:
        self._count, self._last = count, -1

    def reset(self) -> None:
        self._last = -1

    def chose(self, index: int) -> None:
        """Record that coded action ``index`` was chosen, by the policy or by code."""
        self._last = index

    def next(self, allowed: np.ndarray) -> int:
        """The index of the coded action that code alone chooses now.

        :param allowed: array of shape (count,), nonzero for each coded action that may start. If all values of
            ``allowed`` are zero, every coded action counts as allowed.
        """
        order = [(self._last + 1 + i) % self._count for i in range(self._count)]
        return next((i for i in order if allowed[i]), order[0])
