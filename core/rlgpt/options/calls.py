"""The calls of coded actions in one lane. The policy's choice starts a call, or continues or
interrupts the call in progress.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from gymnasium import spaces

from rlgpt.domain import Plain, Verdict
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
    interrupts: Callable[[], bool] | None

    @property
    def duration(self) -> int: ...

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
        here, every = self.current, self._setup.interrupt_every
        if here is None or here.name != choice.coded.name:
            if here is not None:
                yield from here.interrupt()
                self._after(here, lane)
            call = Call()
            running = self._setup.execution.run(
                lane.open_guest(), choice.coded, choice.parameters, lane.context, call, lane.see
            )
            here = self.current = InProgress(choice.coded.name, call, running)
            yield from here.begin()
        while not here.is_over and (every is None or lane.duration < every):
            pieces = here.pieces
            over = yield from lane.advance(self._corrected(here.proposal, choice.residual))
            yield from here.go_on(over)
            if lane.interrupts is not None and here.pieces > pieces and not here.is_over and lane.interrupts():
                yield from here.interrupt()
        return self._after(here, lane)

    def stand_aside(self, episode_ended: bool, lane: Stepper) -> Effects[Call]:
        """Tell the coded action in progress that a base action, or an idle step, was taken instead of its proposed
        action.
        """
        assert self.current is not None
        yield from self.current.go_on(episode_ended)
        return self._after(self.current, lane)

    def _after(self, here: InProgress, lane: Stepper) -> Call:
        """Return the :class:`Call` of the coded action in progress, with the primitives that ended in this decision."""
        call = here.report()
        if here.is_over:
            self.current = None
            if call.verdict is not None:
                lane.verdicts.append(call.verdict)
        return call

    def _corrected(self, proposal: Any, residual: np.ndarray | None) -> Any:
        """Return ``proposal`` plus the policy's correction, clipped to the bounds of the Box. A proposal in another
        space (:meth:`~rlgpt.plugin.base.EnvironmentPlugin.low_level_space`) stays as it is.
        """
        box = self._setup.action_space
        if residual is None or not isinstance(box, spaces.Box) or not has_shape(proposal, box.shape):
            return proposal
        low, high = box.low.astype(np.float64), box.high.astype(np.float64)
        moved = np.asarray(proposal, np.float64) + self._setup.residual * residual * (high - low) / 2
        return np.clip(moved, low, high).astype(box.dtype)


def has_shape(proposal: Any, shape: tuple[int, ...] | None) -> bool:
    """Whether a low-level action that code proposes is an array of the shape ``shape``."""
    try:
        return tuple(np.shape(proposal)) == shape
    except ValueError:  # The parts of the proposal have different shapes.
        return False
