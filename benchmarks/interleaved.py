"""Statistics for the measurement of costs on a machine with other load. The compared kinds of work alternate in short
blocks, and neighbouring blocks are compared.

Other load slows neighbouring blocks equally, so the ratio of two neighbouring blocks varies less than the ratio of two
total times. A printed figure is the median over blocks with its percentile-bootstrap interval.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

REPETITIONS = 5_000


def bootstrap_median(values: Sequence[float], *, seed: int = 0) -> tuple[float, float, float]:
    """Return the median of ``values``, and the lower and upper end of its 95 % interval (percentile bootstrap)."""
    data = np.asarray(values, np.float64)
    rng = np.random.default_rng(seed)
    medians = np.median(data[rng.integers(len(data), size=(REPETITIONS, len(data)))], axis=1)
    low, high = np.percentile(medians, [2.5, 97.5])
    return float(np.median(data)), float(low), float(high)


def block_order(names: Sequence[str], number: int) -> list[str]:
    """Return the order in which the named kinds of work run in block ``number``. Over all blocks, each kind of work is
    equally often at each position and equally often after each other kind.
    """
    shift = number % len(names)
    order = [*names[shift:], *names[:shift]]
    return order if (number // len(names)) % 2 == 0 else order[::-1]


def block_figures(repeats: Sequence[Sequence[float]], commit: str, digits: int = 4) -> dict[str, Any]:
    """Return the arguments ``value``, ``interval`` and ``rows`` of :func:`reporting.emit`, computed over the blocks of
    all repeats.
    """
    point, low, high = bootstrap_median([value for values in repeats for value in values])
    return {
        "value": round(point, digits),
        "interval": [round(low, digits), round(high, digits)],
        "rows": [
            {"repeat": i, "value": round(bootstrap_median(r)[0], digits), "blocks": len(r), "commit": commit}
            for i, r in enumerate(repeats)
        ],
    }


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of another process in seconds, with nanosecond resolution. The id of the other process's CPU
    clock follows Linux's rule (clock_getcpuclockid(3)).
    """
    return time.clock_gettime((~pid << 3) | 2)
