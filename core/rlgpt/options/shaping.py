"""Computes the training reward, which is a weighted sum of reward terms, at every primitive step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rlgpt.errors import PluginError, UnknownNameError
from rlgpt.plugin.types import Context, RewardTerm


class Shaping:
    """Computes the training reward of one environment. ``Shaping`` stores the previous value of each reward term.

    :param weights: reward term -> weight. A reward term that is not a key of ``weights`` is neither added nor recorded.
    :raises UnknownNameError: ``terms`` has no reward term with a name in ``weights``.
    """

    def __init__(self, terms: Sequence[RewardTerm], weights: Mapping[str, float]) -> None:
        by_name = {t.name: t for t in terms}
        for name in weights:
            if name not in by_name:
                raise UnknownNameError("reward term", name, by_name)
        self._terms = [(by_name[name], float(weight)) for name, weight in weights.items()]
        self._before: dict[str, float] = {}
        self._paid: set[str] = set()

    @property
    def unpaid(self) -> tuple[str, ...]:
        """The names of the reward terms with the weight 0."""
        return tuple(term.name for term, weight in self._terms if not weight)

    def reset(self, ctx: Context) -> None:
        """Begin an episode whose first state is ``ctx``."""
        self._paid.clear()
        self._before = {t.name: self._value(t, ctx) for t, _ in self._terms if t.kind == "potential"}

    def restore(self, ctx: Context) -> None:
        """Continue a saved episode from the state ``ctx``. A reward term of kind ``event`` that is already above zero
        in ``ctx`` adds nothing in this episode.
        """
        self.reset(ctx)
        self._paid = {t.name for t, _ in self._terms if t.kind == "event" and self._value(t, ctx) > 0}

    def pay(self, ctx: Context) -> tuple[float, dict[str, float]]:
        """The reward of the primitive step that led to ``ctx``, and the weighted contribution of each reward term to
        this reward.

        A term of weight 0 contributes nothing. For a reward term of weight 0, the recorded contribution is the value
        without the weight, so that the record shows the values of the term.
        """
        reward, paid = 0.0, dict[str, float]()
        for term, weight in self._terms:
            amount = self._amount(term, ctx)
            reward += weight * amount
            paid[term.name] = (weight or 1.0) * amount
        return reward, paid

    def _amount(self, term: RewardTerm, ctx: Context) -> float:
        value = self._value(term, ctx)
        if term.kind == "potential":
            before, self._before[term.name] = self._before[term.name], value
            return value - before
        if term.kind == "step":
            return value
        if value > 0 and term.name not in self._paid:
            self._paid.add(term.name)
            return value
        return 0.0

    @staticmethod
    def _value(term: RewardTerm, ctx: Context) -> float:
        value = float(term.value(ctx))
        if not math.isfinite(value):
            raise PluginError(
                f"reward term {term.name!r} is {value} at step {ctx.step} of {ctx.task.id}, "
                "which is not finite; correct its value()."
            )
        return min(max(value, term.low), term.high)
