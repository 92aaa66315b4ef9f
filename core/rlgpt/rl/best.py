"""Which moment of a training is kept: policies degrade late, and the last one need not be the best.

Judged by what training itself saw, so that it costs no step and is the same for every method.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.domain import CurvePoint

WINDOW = 20
"""Episodes that a judgement pools, going back from the newest point of the curve."""

FEWEST = 10
"""Episodes without which there is no judgement."""

Score = tuple[float, float]
"""Success and mean total reward over the window."""


def recent_score(curve: Sequence[CurvePoint]) -> Score | None:
    """Success and reward over the newest points that hold :data:`WINDOW` episodes together, or all where fewer.

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
    """Whether a judgement is at least as good as the best before: of equals, the later has learnt from more."""
    return score is not None and (best is None or score >= best)
