"""Describes the reward terms of an iteration by the sum of each term over an episode of the training, and by the
correlation of this sum with success.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from rlgpt.domain import CodedReward, Iteration
from rlgpt.rl.terms import term_curves

WIDTH, HEIGHT = 160, 28
"""Size of a drawn curve, in pixels."""


class TermRow(NamedTuple):
    """One reward term in a table.

    :ivar coded: whether an agent wrote the reward term; False for a reward term of the plugin.
    :ivar line: the curve of the reward term as points of an SVG ``polyline``; empty if the term has no curve.
    :ivar ends: the sum of the reward term over an episode at the beginning and at the end of the training, as text.
    :ivar correlation: the correlation of the reward term's sum with success, as text.
    """

    name: str
    coded: bool
    line: str
    ends: str
    correlation: str
    without_success: bool


def term_rows(iteration: Iteration) -> list[TermRow]:
    """The rows of the table of reward terms, one row for each recorded term."""
    coded = {f.name for f in iteration.functions if isinstance(f, CodedReward)}
    return [
        TermRow(
            name=curve.name,
            coded=curve.name in coded,
            line=_line([y for _, y in curve.points]),
            ends=f"{curve.points[0][1]:.3g} to {curve.points[-1][1]:.3g}" if curve.points else "",
            correlation="" if curve.correlation is None else f"{curve.correlation:+.2f}",
            without_success=curve.without_success,
        )
        for curve in term_curves(iteration.training, iteration.evaluation)
    ]


def _line(values: list[float]) -> str:
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    span = high - low
    if not math.isfinite(span):
        return ""
    step = WIDTH / (len(values) - 1)
    heights = [HEIGHT / 2 if not span else HEIGHT - 2 - (y - low) / span * (HEIGHT - 4) for y in values]
    return " ".join(f"{i * step:.1f},{y:.1f}" for i, y in enumerate(heights))
