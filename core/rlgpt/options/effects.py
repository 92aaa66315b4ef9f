"""The *effects* of a decision. An effect is a request for a primitive step, a view or a run of code. A generator yields
effects. The caller of a generator of effects (the *driver*) carries the effects out and sends their results back. The
driver of a single environment carries out each effect immediately. The driver of a vector collects the effects of all
its lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from rlgpt.domain import Plain

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """The effect that asks for one primitive step with ``action``, an action of the base environment."""

    action: Any


@dataclass(frozen=True, slots=True)
class Reset:
    """The effect that asks for the next episode of the base environment, without a seed. The result of the effect
    ``Reset`` is the pair of observation and info. Only the driver of a vector of lanes carries out the effect
    ``Reset``.
    """


@dataclass(frozen=True, slots=True)
class Look:
    """The effect that asks for the plugin's view. The result of the effect ``Look`` is a mapping, which may compute
    each value only when the value is read.
    """


@dataclass(frozen=True, slots=True)
class Code:
    """The effect that asks for a run of code in the sandbox. The driver of the effects may call ``work`` in any thread.
    No other code uses the lane while ``work`` runs.
    """

    work: Callable[[], Any]


Effect = Step | Reset | Look | Code
LOOK = Look()

Effects = Generator[Effect, Any, T]
"""A computation that yields effects, takes their results, and returns a value."""


def look() -> Effects[Mapping[str, Plain]]:
    """Return the plugin's view, as an effect that asks the driver for it."""
    view: Mapping[str, Plain] = yield LOOK
    return view


def perform(effects: Effects[T], *, look: Callable[[], Mapping[str, Plain]], step: Callable[[Any], Any]) -> T:
    """Carry out each effect of ``effects`` immediately, and return the value of the computation. An exception while an
    effect is carried out propagates to the caller.
    """
    result: Any = None
    while True:
        try:
            effect = effects.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
        if type(effect) is Step:
            result = step(effect.action)
        elif type(effect) is Look:
            result = look()
        else:
            assert type(effect) is Code, "a lane does not reset its environment"
            result = effect.work()
