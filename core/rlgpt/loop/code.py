"""The code of an iteration, and the attempts at this code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rlgpt.domain import CodedAction, CodedFunction, FunctionRehearsal, Rehearsal, Steps


class Code(NamedTuple):
    """The code of an iteration.

    :ivar actions: the coded actions that the policy of the iteration may choose.
    :ivar functions: the coded functions of the iteration, which run at every primitive step.
    """

    actions: tuple[CodedAction, ...] = ()
    functions: tuple[CodedFunction, ...] = ()


class Tried(NamedTuple):
    """All attempts of an iteration at the code of its plan.

    :ivar actions: for each coded sub-action of the plan, the attempts at its code, in order.
    :ivar functions: for each function of the plan, the attempts at its code, in order.
    :ivar others: primitive steps of the other plans of the iteration, and of the halving between all its plans.
    """

    actions: Mapping[str, tuple[Rehearsal, ...]] = {}
    functions: Mapping[str, tuple[FunctionRehearsal, ...]] = {}
    others: Steps = Steps()

    @property
    def remarks(self) -> dict[str, tuple[str, ...]]:
        """For each coded function, the remarks on the last attempt at its code."""
        return {name: tried[-1].remarks for name, tried in self.functions.items() if tried and tried[-1].remarks}

    @property
    def steps(self) -> int:
        """Number of primitive steps of all attempts together."""
        actions = sum(attempt.steps for tried in self.actions.values() for attempt in tried)
        return actions + sum(attempt.steps for tried in self.functions.values() for attempt in tried)
