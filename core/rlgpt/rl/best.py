"""Which checkpoint of a training is the best one: policies may get worse late in training.

The merit comes from the episodes of training itself, so it costs no step and is the same for every trainer.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.domain import CurvePoint, Score, rank

WINDOW = 20
"""Episodes of a merit, counted back from the newest point of the curve."""

FEWEST = 10
"""With fewer episodes there is no merit."""

Merit = tuple[float, float]
"""Over the window: success, and mean score in the direction of the task (mean total reward where it has no score)."""


def recent_merit(curve: Sequence[CurvePoint], score: Score | None = None) -> Merit | None:
    """The merit of the newest points with :data:`WINDOW` episodes in total, or of all points if there are fewer.

    :param score: of the task.
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
    """Whether ``merit`` is at least as good as ``best``. Of equal merits the later one wins."""
    return merit is not None and (best is None or merit >= best)
