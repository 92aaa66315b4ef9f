"""Successive halving, which finds the best of several plans with few episodes.

In each round of successive halving (Karnin, Koren and Somekh 2013, "Almost optimal exploration in multi-armed bandits",
Sequential Halving; Jamieson and Talwalkar 2016, "Non-stochastic best arm identification and hyperparameter
optimization"), all remaining plans play the same number of episodes, and the worse half is dropped. The number of
episodes of each plan doubles from round to round, so all rounds have about the same cost, and most episodes compare the
best plans.

All plans play the same seeds, so their results are paired. Plans are compared by their episodes of all rounds so far,
because the episodes of earlier rounds are evidence too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


def field_sizes(plans: int) -> tuple[int, ...]:
    """Number of plans in each round. Each round keeps half of its plans, rounded up. With one plan, there is no round.

    :param plans: number of plans, at least 0.
    """
    sizes = []
    while plans > 1:
        sizes.append(plans)
        plans = _half(plans)
    return tuple(sizes)


def episodes(plans: int, most: int) -> int:
    """Number of episodes of all plans in all rounds together, if there are enough steps.

    :param most: maximal number of episodes of one plan. Each plan plays at least one episode in the first round.
    """
    return _first(plans, most) * _weight(plans)


class Schedule(NamedTuple):
    """The episodes of a successive halving.

    :ivar first: number of episodes of each plan in the first round, at least 1.
    :ivar limit: maximal number of primitive steps of an episode, at least 1.
    """

    first: int
    limit: int

    @classmethod
    def fitting(cls, plans: int, *, most: int, steps: int, limit: int) -> Schedule:
        """The schedule with the largest number of episodes that fits ``most`` and ``steps``. Even the smallest schedule
        has one episode of one step for each plan in the first round.

        :param plans: number of plans, at least 2.
        :param most: maximal number of episodes of one plan in all rounds together.
        :param steps: maximal number of primitive steps of all episodes together. If ``steps`` does not allow an episode
            of ``limit`` steps for each plan in the first round, the episodes are shorter.
        :param limit: maximal number of primitive steps of an episode.
        """
        limit = max(1, min(limit, steps // _weight(plans)))
        return cls(max(1, min(_first(plans, most), steps // (_weight(plans) * limit))), limit)

    def of_round(self, number: int) -> range:
        """The numbers of the episodes that each remaining plan plays in a round.

        :param number: number of the round, from 0.
        """
        return range(self.first * ((1 << number) - 1), self.first * ((2 << number) - 1))


def better_half(results: Mapping[int, Any]) -> tuple[int, ...]:
    """The numbers of the better half of the plans, rounded up, in ascending order. Of two plans with equal results, the
    plan with the lower number is better.

    :param results: for the number of each plan, a value that can be compared; greater values are better.
    """
    ranked = sorted(sorted(results), key=lambda number: results[number], reverse=True)
    return tuple(sorted(ranked[: _half(len(ranked))]))


def _first(plans: int, most: int) -> int:
    """Number of episodes of each plan in the first round, with which a plan plays about ``most`` episodes in all."""
    return max(1, most // max(1, (1 << len(field_sizes(plans))) - 1))


def _weight(plans: int) -> int:
    """Number of episodes of all plans in all rounds together, if each plan plays one episode in the first round."""
    return sum(size << number for number, size in enumerate(field_sizes(plans)))


def _half(plans: int) -> int:
    return -(-plans // 2)
