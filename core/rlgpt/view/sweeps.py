"""Summarises the folders in the page's list of runs that contain several runs, such as the folders of sweeps and
studies.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from rlgpt.report.stats import Interval, spread


def sweeps(lines: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """A dict from the name of a folder to the number of its runs, their statuses and steps, and their success and
    score.

    Success and score of a folder are interquartile means over the finished runs, with confidence intervals. Success and
    score are None if the runs have different tasks or methods, because a mean over different tasks or methods has no
    meaning.

    :param lines: entries of the page's list of runs (:meth:`rlgpt.view.catalogue.Catalogue.lines`).
    """
    folders: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        folders.setdefault(line["group"], []).append(line)
    return {name: _sweep(members) for name, members in folders.items() if name and len(members) > 1}


def _sweep(members: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    tasks, methods = (list(dict.fromkeys(m[key] for m in members if m.get(key))) for key in ("task", "method"))
    alike = len(tasks) <= 1 and len(methods) <= 1
    success, score = (_spread(members, key) if alike else None for key in ("success", "score"))
    return {
        "runs": len(members),
        "statuses": dict(Counter(m["status"] for m in members)),
        "tasks": tasks,
        "methods": methods,
        "success": None if success is None else {**success.model_dump(), "runs": len(_known(members, "success"))},
        "score": None if score is None else str(score),
        "steps": sum(m.get("steps") or 0 for m in members),
    }


def _known(members: Sequence[Mapping[str, Any]], key: str) -> tuple[float, ...]:
    values = (m.get(key) for m in members)
    return tuple(float(v) for v in values if isinstance(v, int | float) and math.isfinite(v))


def _spread(members: Sequence[Mapping[str, Any]], key: str) -> Interval | None:
    known = _known(members, key)
    return _interval(known) if known and math.isfinite(sum(map(abs, known))) else None


@lru_cache(maxsize=1024)
def _interval(values: tuple[float, ...]) -> Interval:
    """The interquartile mean of values with its confidence interval. The interval is stored, because the bootstrap
    takes a few milliseconds and the list of runs is computed again at each change.
    """
    return spread(values)
