"""Computes the curve of each reward term over a training, and compares the curve with the success of the policy. If a
reward term rises while success does not rise, the policy may exploit the term. The reward reflection of Eureka (Ma et
al., 2024, section 3.3) also reads the curve of each reward term.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rlgpt.domain import CurvePoint, Episode, Evaluation, TrainingRecord

RISES = 1.645
"""The value of :func:`trend` above which a series counts as rising. One of twenty series without a trend exceeds this
value by chance.
"""

FEWEST = 5
"""Minimal number of points for a trend."""


MOST = 40
"""Maximal number of points of a curve."""


class TermCurve(NamedTuple):
    """The curve of one reward term.

    :ivar points: pairs of a number of primitive steps of the training, and the mean over episodes of the weighted,
        undiscounted sum of the reward term in an episode.
    :ivar rises: whether the reward term's sum rises during the training.
    :ivar without_success: whether the reward term's sum rises while success (or the score, if the task has no success)
        does not rise.
    :ivar correlation: correlation of the reward term's sum with success (or with the score) over the evaluated
        episodes, -1 to 1. If the sum or the success is the same in all episodes, ``correlation`` is None.
    """

    name: str
    points: tuple[tuple[int, float], ...]
    rises: bool
    without_success: bool
    correlation: float | None


def term_curves(training: TrainingRecord | None, evaluation: Evaluation) -> tuple[TermCurve, ...]:
    """The curve of each reward term that training or evaluation recorded, in the order of the records."""
    curve = training.curve if training is not None else ()
    results = _series([(p, _result(p, evaluation)) for p in curve])
    succeeds = trend([y for _, y in results]) > RISES
    paid = [*(p.reward_terms for p in curve), *(e.reward_terms for e in evaluation.episodes)]
    names = dict.fromkeys(name for terms in paid for name in terms)
    found = []
    for name in names:
        points = _series([(p, p.reward_terms.get(name)) for p in curve])
        rises = trend([y for _, y in points]) > RISES
        found.append(TermCurve(name, points, rises, rises and not succeeds, _correlation(name, evaluation)))
    return tuple(found)


def _series(values: Sequence[tuple[CurvePoint, float | None]]) -> tuple[tuple[int, float], ...]:
    """At most :data:`MOST` pairs of a number of primitive steps and the mean over the episodes since the previous
    pair.
    """
    known = [(p, value) for p, value in values if p.episodes and value is not None and math.isfinite(value)]
    size = -(-len(known) // MOST) or 1
    points = []
    for start in range(0, len(known), size):
        group = known[start : start + size]
        episodes = sum(p.episodes for p, _ in group)
        points.append((group[-1][0].primitive_steps, math.fsum(p.episodes / episodes * y for p, y in group)))
    return tuple(points)


def trend(values: Sequence[float]) -> float:
    """The Mann-Kendall statistic of a series (Mann 1945; with ties Kendall 1975), which is positive if the values rise.
    The unit of the trend is the standard deviation of the statistic for a series without a trend. The trend is 0 if the
    series has fewer than :data:`FEWEST` values, or if all values are equal.
    """
    n = len(values)
    if n < FEWEST or not all(map(math.isfinite, values)):
        return 0.0
    score = sum((b > a) - (b < a) for i, a in enumerate(values) for b in values[i + 1 :])
    ties = sum(t * (t - 1) * (2 * t + 5) for t in Counter(values).values())
    variance = (n * (n - 1) * (2 * n + 5) - ties) / 18
    return (score - math.copysign(1, score)) / math.sqrt(variance) if score and variance else 0.0


def _result(of: CurvePoint | Episode, evaluation: Evaluation) -> float | None:
    """The success of the point or episode ``of``, or its score if the task has no success. A higher result is better,
    so a score that is minimised is negated.
    """
    if evaluation.has_success or evaluation.score is None:
        return float(of.success)
    if of.score is None:
        return None
    return of.score if evaluation.score.maximize else -of.score


def _correlation(name: str, evaluation: Evaluation) -> float | None:
    results = [(e, _result(e, evaluation)) for e in evaluation.episodes if name in e.reward_terms]
    pairs = [(e.reward_terms[name], result) for e, result in results if result is not None]
    if len(pairs) < 2 or not all(math.isfinite(x) for pair in pairs for x in pair):
        return None
    # Values are divided by the largest, because the squares of very large numbers are not finite.
    scaled = [[x / (max(map(abs, values)) or 1.0) for x in values] for values in zip(*pairs, strict=True)]
    try:
        return min(max(statistics.correlation(*scaled), -1.0), 1.0)
    except statistics.StatisticsError:  # All values are equal.
        return None
