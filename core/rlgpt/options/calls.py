"""The calls of coded actions in one lane. The policy's choice starts a call, or continues or
interrupts the call in progress.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from gymnasium import spaces

from rlgpt.domain import CodedAction, Plain, PrimitiveCall, Verdict
from rlgpt.options.effects import Effects
from rlgpt.options.execution import Call
from rlgpt.options.progress import InProgress, PlanOrder
from rlgpt.options.space import Choice
from rlgpt.plugin.types import Context

if TYPE_CHECKING:
    from rlgpt.options.lane_setup import LaneSetup
    from rlgpt.sandbox import Guest


class Stepper(Protocol):
    """The parts of a :class:`~rlgpt.options.lane.Lane` that a coded action needs to take primitive steps."""

    context: Context
    verdicts: list[Verdict]
    along: np.ndarray | None
    interrupts: Callable[[], bool] | None

    @property
    def duration(self) -> int: ...

    @property
    def correction_unit(self) -> float: ...

    def open_guest(self) -> Guest: ...

    def see(self) -> Effects[Mapping[str, Plain]]: ...

    def advance(self, low_level: Any) -> Effects[bool]: ...


class Calls:
    """Carries out the choices of coded actions in one lane, one after another.

    :ivar order: an object that decides which coded action is the plan's choice.
    :ivar current: the call of a coded action in progress; None if no coded action is in progress.
    """

    def __init__(self, setup: LaneSetup) -> None:
        self._setup = setup
        self._names = [a.name for a in setup.actions]
        self.order = PlanOrder(len(self._names))
        self.current: InProgress | None = None

    def reset(self) -> None:
        """Begin an episode."""
        self.order.reset()
        self.current = None

    def following(self, allowed: np.ndarray) -> int:
        """The index of the plan's choice among the coded actions. The plan's choice is the coded action in progress, or
        else the next action in the order of the plan.

        :param allowed: int8, shape (actions,): 1 if the coded action may start.
        """
        return self._names.index(self.current.name) if self.current is not None else self.order.next(allowed)

    def play(self, choice: Choice, lane: Stepper) -> Effects[Call]:
        """Start or continue the chosen coded action. If another coded action is in progress, ``play`` interrupts this
        other action.
        """
        assert choice.coded is not None
        here, every = self.current, 1 if lane.along is not None else self._setup.interrupt_every
        if here is None or here.name != choice.coded.name:
            if here is not None:
                yield from here.interrupt()
                self._after(here, lane)
            here = yield from self._begin(choice.coded, choice.parameters, lane)
        while not here.is_over and (every is None or lane.duration < every):
            pieces = here.pieces
            over = yield from lane.advance(self._corrected(here.proposal, choice.residual, lane.correction_unit))
            yield from here.go_on(over)
            if lane.interrupts is not None and here.pieces > pieces and not here.is_over and lane.interrupts():
                yield from here.interrupt()
        return self._after(here, lane)

    def keep_running(self, allowed: np.ndarray, lane: Stepper) -> Effects[list[PrimitiveCall]]:
        """If no coded action is in progress, begin the plan's choice with the parameters ``lane.along``, without a
        primitive step. An action that ends without a step is followed by the next one; no action begins twice.

        :param allowed: int8, shape (actions,): 1 if the coded action may start.
        :returns: the calls of primitives of the actions that ended.
        """
        left, calls, extension = allowed.copy(), list[PrimitiveCall](), self._setup.extension
        while self.current is None and left.any():
            index = self.order.next(left)
            left[index] = 0
            self.order.chose(index)
            here = yield from self._begin(extension.actions[index], extension.values(index, lane.along), lane)
            if here.is_over:
                calls += self._after(here, lane).calls
        return calls

    def stand_aside(self, episode_ended: bool, lane: Stepper) -> Effects[Call]:
        """Tell the coded action in progress that a base action, or an idle step, was taken instead of its proposed
        action.
        """
        assert self.current is not None
        yield from self.current.go_on(episode_ended)
        return self._after(self.current, lane)

    def _begin(self, action: CodedAction, parameters: Mapping[str, float], lane: Stepper) -> Effects[InProgress]:
        call = Call()
        running = self._setup.execution.run(lane.open_guest(), action, parameters, lane.context, call, lane.see)
        here = self.current = InProgress(action.name, call, running)
        yield from here.begin()
        return here

    def _after(self, here: InProgress, lane: Stepper) -> Call:
        """Return the :class:`Call` of the coded action in progress, with the primitives that ended in this decision."""
        call = here.report()
        if here.is_over:
            self.current = None
            if call.verdict is not None:
                lane.verdicts.append(call.verdict)
        return call

    def _corrected(self, proposal: Any, residual: np.ndarray | None, unit: float) -> Any:
        """Return ``proposal`` plus the policy's correction, clipped to the bounds of the Box. A proposal in another
        space (:meth:`~rlgpt.plugin.base.EnvironmentPlugin.low_level_space`) stays as it is.

        :param unit: the largest correction, as a share of half the range of each number.
        """
        box = self._setup.action_space
        if residual is None or not isinstance(box, spaces.Box) or not has_shape(proposal, box.shape):
            return proposal
        low, high = box.low.astype(np.float64), box.high.astype(np.float64)
        moved = np.asarray(proposal, np.float64) + unit * residual * (high - low) / 2
        return np.clip(moved, low, high).astype(box.dtype)


def has_shape(proposal: Any, shape: tuple[int, ...] | None) -> bool:
    """Whether a low-level action that code proposes is an array of the shape ``shape``."""
    try:
        return tuple(np.shape(proposal)) == shape
    except ValueError:  # The parts of the proposal have different shapes.
        return False
