"""The reward a policy learns from: a weighted sum of the plugin's terms, paid at every primitive step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rlgpt.errors import PluginError, UnknownNameError
from rlgpt.plugin.types import Context, RewardTerm


class Shaping:
    """Stores the previous values of its terms, for one environment.

    :param weights: term -> weight; terms that are not named are not paid.
    :raises UnknownNameError: a weight names no term of the plugin.
    """

    def __init__(self, terms: Sequence[RewardTerm], weights: Mapping[str, float]) -> None:
        by_name = {t.name: t for t in terms}
        for name in weights:
            if name not in by_name:
                raise UnknownNameError("reward term", name, by_name)
        self._terms = [(by_name[name], float(weight)) for name, weight in weights.items() if weight]
        self._before: dict[str, float] = {}
        self._paid: set[str] = set()

    def reset(self, ctx: Context) -> None:
        """Begin an episode at ``ctx``."""
        self._paid.clear()
        self._before = {t.name: self._value(t, ctx) for t, _ in self._terms if t.kind == "potential"}

    def restore(self, ctx: Context) -> None:
        """Continue an episode at ``ctx``. An event term that is above zero there counts as already paid."""
        self.reset(ctx)
        self._paid = {t.name for t, _ in self._terms if t.kind == "event" and self._value(t, ctx) > 0}

    def pay(self, ctx: Context) -> dict[str, float]:
        """What each term adds to the reward of the step that led to ``ctx``, weighted."""
        paid: dict[str, float] = {}
        for term, weight in self._terms:
            value = self._value(term, ctx)
            if term.kind == "potential":
                paid[term.name] = weight * (value - self._before[term.name])
                self._before[term.name] = value
            elif term.kind == "step":
                paid[term.name] = weight * value
            elif value > 0 and term.name not in self._paid:
                self._paid.add(term.name)
                paid[term.name] = weight * value
            else:
                paid[term.name] = 0.0
        return paid

    @staticmethod
    def _value(term: RewardTerm, ctx: Context) -> float:
        value = float(term.value(ctx))
        if not math.isfinite(value):
            raise PluginError(
                f"reward term {term.name!r} is {value} at step {ctx.step} of {ctx.task.id}; correct its value()."
            )
        return min(max(value, term.low), term.high)
