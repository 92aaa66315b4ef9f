"""Which checkpoint of a training is the best one: policies may get worse late in training.

The score comes from the episodes of training itself, so it costs no step and is the same for every trainer.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.domain import CurvePoint

WINDOW = 20
"""Episodes of a score, counted back from the newest point of the curve."""

FEWEST = 10
"""With fewer episodes there is no score."""

Score = tuple[float, float]
"""Success and mean total reward over the window."""


def recent_score(curve: Sequence[CurvePoint]) -> Score | None:
    """Success and reward over the newest points with :data:`WINDOW` episodes in total, or over all points if there are
    fewer.

    :returns: None with fewer than :data:`FEWEST` episodes.
    """
    episodes, wins, reward = 0, 0.0, 0.0
    for point in reversed(curve):
        episodes += point.episodes
        wins += point.success * point.episodes
        reward += point.total_reward * point.episodes
        if episodes >= WINDOW:
            break
    return (wins / episodes, reward / episodes) if episodes >= FEWEST else None


def is_best(score: Score | None, best: Score | None) -> bool:
    """Whether ``score`` is at least as good as ``best``. Of equal scores the later one wins."""
    return score is not None and (best is None or score >= best)
