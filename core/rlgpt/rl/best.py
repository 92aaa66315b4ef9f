"""Decides which checkpoint of a training is the best, because a policy may get worse late in training. The *merit* of a
checkpoint is its success rate and mean score.

The merit is computed from training episodes, so it needs no further steps, and every trainer computes it in the same
way.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.domain import CurvePoint, Score, rank

WINDOW = 20
"""Number of episodes in a merit, counted back from the newest point of the learning curve."""

FEWEST = 10
"""Least number of episodes in a merit."""

Merit = tuple[float, float]
"""Success rate and mean score of the window. Higher is better, so a score that is minimised is negated. If the task has
no score, the second number is the mean total reward.
"""


def recent_merit(curve: Sequence[CurvePoint], score: Score | None = None) -> Merit | None:
    """The merit of the newest points that contain :data:`WINDOW` episodes together, or of all points if there are
    fewer.

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


def is_best(merit: Merit | None, best: Merit | None) -> bool:
    """Whether ``merit`` is at least as good as ``best``, so that the later of two equal checkpoints is kept."""
    return merit is not None and (best is None or merit >= best)
