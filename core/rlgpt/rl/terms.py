"""What each reward term paid over a training, beside success: a term that pays more and more while success does not
rise is worth another look (Ma et al. 2024, *Eureka*, section 3.3: the reward reflection reads the curve of each term).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rlgpt.domain import CurvePoint, Episode, Evaluation, TrainingRecord

RISES = 1.645
"""A trend above it is unlikely to be chance: one of twenty series without a trend exceeds it."""

FEWEST = 5
"""Points of a curve, at least, that a trend needs."""


MOST = 40
"""Points of a curve, at most."""


class TermCurve(NamedTuple):
    """One reward term.

    :ivar points: primitive steps of the training, and the mean undiscounted sum over an episode; weighted.
    :ivar rises: whether it pays more as the training goes on.
    :ivar without_success: whether it does so while success, or the score of a task without one, does not rise.
    :ivar correlation: of its sum with success, or with the score, over the evaluated episodes, -1 to 1; None where
        either is the same in all of them.
    """

    name: str
    points: tuple[tuple[int, float], ...]
    rises: bool
    without_success: bool
    correlation: float | None


def term_curves(training: TrainingRecord | None, evaluation: Evaluation) -> tuple[TermCurve, ...]:
    """The curve of each reward term that was recorded, of training and evaluation, in their order."""
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
    """At most :data:`MOST` points: (primitive steps, mean over the episodes since the point before)."""
    known = [(p, value) for p, value in values if p.episodes and value is not None and math.isfinite(value)]
    size = -(-len(known) // MOST) or 1
    points = []
    for start in range(0, len(known), size):
        group = known[start : start + size]
        episodes = sum(p.episodes for p, _ in group)
        points.append((group[-1][0].primitive_steps, math.fsum(p.episodes / episodes * y for p, y in group)))
    return tuple(points)


def trend(values: Sequence[float]) -> float:
    """The Mann-Kendall statistic (Mann 1945; with ties Kendall 1975): positive where ``values`` rise.

    In standard deviations of a series without a trend. 0 for fewer than :data:`FEWEST` values, or if all are equal.
    """
    n = len(values)
    if n < FEWEST or not all(map(math.isfinite, values)):
        return 0.0
    score = sum((b > a) - (b < a) for i, a in enumerate(values) for b in values[i + 1 :])
    ties = sum(t * (t - 1) * (2 * t + 5) for t in Counter(values).values())
    variance = (n * (n - 1) * (2 * n + 5) - ties) / 18
    return (score - math.copysign(1, score)) / math.sqrt(variance) if score and variance else 0.0


def _result(of: CurvePoint | Episode, evaluation: Evaluation) -> float | None:
    """Success, or of a task without one the score, more is better."""
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
    means = [math.fsum(values) / len(pairs) for values in zip(*pairs, strict=True)]
    away = [(x - means[0], y - means[1]) for x, y in pairs]
    spread = [math.sqrt(math.fsum(d * d for d in values)) for values in zip(*away, strict=True)]
    if not all(spread) or not all(map(math.isfinite, spread)):
        return None
    together = math.fsum(x / spread[0] * (y / spread[1]) for x, y in away)
    return min(max(together, -1.0), 1.0)
