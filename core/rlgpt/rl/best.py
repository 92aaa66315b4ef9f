"""Decides which checkpoint of a training is the best, because a policy may get worse late in training. The
*performance* of a checkpoint is its success rate and mean score.

The performance of a checkpoint is computed from training episodes, so that no further primitive steps are needed. All
trainers compute the performance in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.domain import CurvePoint, Score, rank

WINDOW = 20
"""Number of episodes from which the performance is computed. The newest episodes of the learning curve are used."""

FEWEST = 10
"""Minimal number of episodes from which the performance is computed."""

Performance = tuple[float, float]
"""The performance of a checkpoint: success rate and mean score over the newest :data:`WINDOW` episodes. A higher number
is better, so a score that is minimised is negated. If the task has no score, the second number is the mean total
reward.
"""


def recent_performance(curve: Sequence[CurvePoint], score: Score | None = None) -> Performance | None:
    """Compute the performance over the newest points of the learning curve that together contain :data:`WINDOW`
    episodes. If all points of the learning curve together contain fewer than :data:`WINDOW` episodes, the performance
    is computed over all points.

    :param score: the score that the task defines; None if the task has no score.
    :returns: the performance of the newest checkpoint; None if the learning curve contains fewer than :data:`FEWEST`
        episodes.
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
    """Whether ``performance`` is at least as good as ``best``. Of two checkpoints with equal performance, the later
    checkpoint is therefore kept.
    """
    return performance is not None and (best is None or performance >= best)
