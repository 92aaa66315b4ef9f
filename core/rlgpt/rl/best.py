"""Decides which checkpoint of a training is the best, because a policy may get worse late in training. The
*performance* of a checkpoint is its success rate and mean score.

The performance is computed from training episodes, so no further steps are needed. All trainers use the same
computation.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.domain import CurvePoint, Score, rank

WINDOW = 20
"""Number of episodes from which the performance is computed, counted back from the newest point of the learning
curve.
"""

FEWEST = 10
"""Minimal number of episodes from which the performance is computed."""

Performance = tuple[float, float]
"""Success rate and mean score of the window. Higher is better, so a score that is minimised is negated. If the task has
no score, the second number is the mean total reward.
"""


def recent_performance(curve: Sequence[CurvePoint], score: Score | None = None) -> Performance | None:
    """The performance over the newest points of the learning curve that together contain :data:`WINDOW` episodes, or
    over all points if they contain fewer.

    :param score: the task's score, or None.
    :returns: None with fewer than :data:`FEWEST` episodes.
    """
    episodes, wins, total = 0, 0.0, 0.0
    for point in reversed(curve):
        episodes += point.episodes
        wins += point.success * point.episodes
        _, worth = rank(0.0, point.score, score) if score is not None else (0.0, point.total_reward)
        total += worth * point.episodes
        if episodes >= WINDOW:
            break
    return (wins / episodes, total / episodes) if episodes >= FEWEST else None


def is_best(performance: Performance | None, best: Performance | None) -> bool:
    """Whether ``performance`` is at least as good as ``best``, so that the later of two equal checkpoints is kept."""
    return performance is not None and (best is None or performance >= best)
