"""The state of a coded action in progress, and the next choice of the plan's code."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgpt.options.effects import Effect, Effects, Step
from rlgpt.options.execution import Call, Running, interrupt


class InProgress:
    """One call of a coded action that advances a primitive step at a time.

    :param call: the object that ``running`` updates.
    :ivar name: name of the coded action.
    :ivar proposal: the low-level action that the code proposes for the next primitive step; None once the call is over.
    :ivar is_over: whether the call has ended.
    """

    def __init__(self, name: str, call: Call, running: Running) -> None:
        self.name, self._call, self._running = name, call, running
        self.proposal: Any = None
        self.is_over, self._reported = False, 0

    def begin(self) -> Effects[None]:
        """Run the code until its first proposed action."""
        return self._resume(None)

    def go_on(self, episode_ended: bool) -> Effects[None]:
        """Run the code until its next proposed action, after a primitive step with the proposed action, with a
        corrected one, or with a base action instead.
        """
        return self._resume(episode_ended)

    def interrupt(self) -> Effects[None]:
        """End the call of the coded action before its next primitive step."""
        yield from interrupt(self._running)
        self.is_over, self.proposal = True, None

    def report(self) -> Call:
        """The call of the coded action, with the primitives that have ended since the last report. Until the call is
        over, its ending is ``running``.
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
    """The next choice of the plan's code: the first action after the last chosen one, in the plan's order, that may
    start. After the last action of the plan, the first one follows.

    :param count: number of coded actions, at least one.
    """

    def __init__(self, count: int) -> None:
        self._count, self._last = count, -1

    def reset(self) -> None:
        self._last = -1

    def chose(self, index: int) -> None:
        """Record that coded action ``index`` was chosen, by the policy or by code."""
        self._last = index

    def next(self, allowed: np.ndarray) -> int:
        """The index of the action.

        :param allowed: shape (count,), nonzero for each action that may start. If no action may start, all count as
            allowed.
        """
        order = [(self._last + 1 + i) % self._count for i in range(self._count)]
        return next((i for i in order if allowed[i]), order[0])
