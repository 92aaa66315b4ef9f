"""Parses the user's score and metrics for an environment without a plugin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlgpt.domain import RETURN, Metric, Score
from rlgpt.domain.validated import validated
from rlgpt.errors import ConfigError
from rlgpt.plugin.actions import FreeNames, slug

_FORMS = (
    "Give 'return', a key of info ('-KEY' if less is better), or the fields of a score: "
    "{'metric': 'return', 'unit': 'points', 'maximize': True, 'target': 200}."
)
_METRICS = (
    "Give a list of keys of info, or a meaning for each key, or the fields of a Metric for each key "
    "({'unit': 'm', 'doc': 'distance to the goal', 'reduce': 'min'})."
)


def read_measures(score: Any, metrics: Any) -> tuple[Score | None, dict[str, Metric]]:
    """Parse ``score`` and ``metrics``. The function returns the score, and a dict from keys of ``info`` to metrics.

    :param score: the text ``return``, or a key of info (``-KEY`` if less is better), or the fields of a
        :class:`~rlgpt.domain.Score`. The metric of the score is a key in ``metrics``, the name of a metric in
        ``metrics``, or another key of info.
    :param metrics: a list of keys of info, or a mapping from each key to a :class:`~rlgpt.domain.Metric`, to the fields
        of a metric, or to the meaning of the key.
    :raises ConfigError: the form of ``score`` or ``metrics`` is not one of the forms above.
    """
    found = _metrics({} if metrics is None else metrics)
    if score is None or isinstance(score, Score):
        return score, found
    if isinstance(score, str):
        key = score.strip()
        score = {"metric": key.removeprefix("-"), "maximize": not key.startswith("-")}
    if not isinstance(score, Mapping):
        raise ConfigError(f"score is {score!r:.80}, a {type(score).__name__}. {_FORMS}")
    key = str(score.get("metric", RETURN))
    if not key:
        raise ConfigError(f"score has no metric. {_FORMS}")
    names = [metric.name for metric in found.values()]
    if key == RETURN or (key in names and key not in found):
        return validated(Score, {**score, "metric": key}, "score"), found
    if key not in found:
        found = _metrics({**found, key: {}})
    return validated(Score, {**score, "metric": found[key].name}, "score"), found


def _metrics(metrics: Any) -> dict[str, Metric]:
    if isinstance(metrics, str) or not isinstance(metrics, Mapping | Sequence):
        raise ConfigError(f"metrics is {metrics!r:.80}. {_METRICS}")
    given = dict(metrics) if isinstance(metrics, Mapping) else dict.fromkeys(map(str, metrics))
    if not all(given):
        raise ConfigError(f"metrics has the empty key ''. {_METRICS}")
    taken: set[str] = {RETURN}
    free = FreeNames(taken)
    found: dict[str, Metric] = {}
    for key, value in given.items():
        if isinstance(value, Metric):
            found[key] = value
        elif value is not None and not isinstance(value, str | Mapping):
            raise ConfigError(f"metrics: {key!r} has {value!r:.80}, a {type(value).__name__}. {_METRICS}")
        else:
            fields = {"doc": value} if isinstance(value, str) else dict(value or {})
            name = fields.pop("name", None) or free.next(slug(key))
            found[key] = validated(Metric, {"name": name, **fields}, f"metrics.{key}")
        taken.add(found[key].name)
    return found
