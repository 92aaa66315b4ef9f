"""Computes means over episodes with their 95 % confidence intervals, and compares two means."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import Field

from rlgpt.domain import Value, score_interval

_Z = 1.96
"""Quantile of the normal distribution for 95 % intervals."""


class Measure(Value):
    """A mean over episodes with its 95 % confidence interval.

    :ivar point: the mean.
    :ivar low: the lower end of the interval.
    :ivar high: the upper end of the interval.
    """

    point: float = Field(allow_inf_nan=False)
    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)
    episodes: int = Field(ge=1)

    def __str__(self) -> str:
        return f"{self.point:.4g} [{self.low:.4g}, {self.high:.4g}]"


def success_of(successes: Sequence[bool]) -> Measure:
    """The success rate with its score interval (a confidence interval; Wilson 1927).

    :param successes: whether each episode succeeded; at least one episode.
    """
    n = len(successes)
    rate = sum(successes) / n
    low, high = score_interval(rate, n, _Z)
    return Measure(point=rate, low=min(low, rate), high=max(high, rate), episodes=n)


def mean_of(scores: Sequence[float]) -> Measure:
    """The mean of scores with the confidence interval of the normal distribution. For few episodes, the confidence
    interval is a little too narrow.

    :param scores: the scores of the episodes; at least one score, and all scores are finite.
    """
    n = len(scores)
    mean = sum(scores) / n
    deviation = math.sqrt(sum((s - mean) ** 2 for s in scores) / (n - 1)) if n > 1 else 0.0
    half = _Z * deviation / math.sqrt(n)
    return Measure(point=mean, low=mean - half, high=mean + half, episodes=n)


def is_worse(new: Measure, old: Measure, *, maximize: bool = True) -> bool:
    """Whether the mean ``new`` is worse than the mean ``old`` and the two confidence intervals do not overlap.

    :param maximize: whether larger values are better.
    """
    return new.high < old.low if maximize else new.low > old.high
