"""Costs beside each other on machines that are noisy: work in short blocks, taken in turn, compared block by block.

Whoever else uses the machine slows neighbouring blocks alike, so the ratio of two neighbours says more than two
totals. A figure is the median of the ratios, with a percentile-bootstrap interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

REPETITIONS = 5_000


def median(values: Sequence[float], *, seed: int = 0) -> tuple[float, float, float]:
    """The median of ``values`` and its 95 % interval (percentile bootstrap)."""
    data = np.asarray(values, np.float64)
    rng = np.random.default_rng(seed)
    medians = np.median(data[rng.integers(len(data), size=(REPETITIONS, len(data)))], axis=1)
    low, high = np.percentile(medians, [2.5, 97.5])
    return float(np.median(data)), float(low), float(high)


def turns(names: Sequence[str], number: int) -> list[str]:
    """The order of block ``number``: each name is first, second, ... equally often, and after each other one."""
    shift = number % len(names)
    order = [*names[shift:], *names[:shift]]
    return order if (number // len(names)) % 2 == 0 else order[::-1]


def figures(repeats: Sequence[Sequence[float]], commit: str, digits: int = 4) -> dict[str, Any]:
    """``value``, ``interval`` and ``rows`` for :func:`cells.emit`: ratios of each repeat, taken together."""
    point, low, high = median([ratio for ratios in repeats for ratio in ratios])
    return {
        "value": round(point, digits),
        "interval": [round(low, digits), round(high, digits)],
        "rows": [
            {"repeat": i, "value": round(median(r)[0], digits), "blocks": len(r), "commit": commit}
            for i, r in enumerate(repeats)
        ],
    }
