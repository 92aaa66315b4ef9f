"""The size of a change of the view, by which traces choose the decisions that they contain or show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rlgpt.domain.events import Decision
from rlgpt.domain.values import Plain


def numbers(value: Plain) -> list[float]:
    """The numbers in a value, as a flat list. Numbers in texts and dicts are ignored."""
    if isinstance(value, list):
        return [n for item in value for n in numbers(item)]
    return [float(value)] if isinstance(value, bool | int | float) and math.isfinite(value) else []


def by_weight(parts: Sequence[tuple[Decision, Decision]]) -> list[int]:
    """Indices of the parts of an episode by priority. The last part comes first, then the first part, then parts that
    end with an error. All other parts follow, sorted by the size of their change.

    The change of a key of the view is divided by the range of this key in the episode. For a key of the view without
    numbers, the size of a change is 1.

    :param parts: the first and the last decision of each part, in the order of the episode.
    """
    views = [v for first, last in parts for v in (first.before, last.after) if v]
    spans: dict[str, float] = {}
    for key in dict.fromkeys(k for v in views for k in v):
        flat = [numbers(v[key]) for v in views if key in v]
        if flat and all(len(f) == len(flat[0]) for f in flat):
            spans[key] = max((max(column) - min(column) for column in zip(*flat, strict=True)), default=0.0)

    def weight(i: int) -> tuple[bool, bool, bool, float]:
        first, last = parts[i]
        return i == len(parts) - 1, i == 0, last.verdict is not None, _size(first.before, last.after, spans)

    return sorted(range(len(parts)), key=weight, reverse=True)


def _size(before: Mapping[str, Plain], after: Mapping[str, Plain], spans: Mapping[str, float]) -> float:
    return sum(_change(before.get(key), after[key], spans.get(key, 0.0)) for key in after)


def _change(old: Plain, new: Plain, span: float) -> float:
    if old == new:
        return 0.0
    ours, theirs = numbers(old), numbers(new)
    if span <= 0 or not ours or len(ours) != len(theirs):
        return 1.0
    return max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / span
