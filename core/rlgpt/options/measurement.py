"""Computes the metrics and the score of an episode from the numbers that the environment reports at each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgpt.domain import RETURN, Metric, Task
from rlgpt.errors import PluginError
from rlgpt.plugin.rules import number_of


class Measurement:
    """Reduces the numbers that all steps of an episode report to one number for each metric.

    Metrics in ``info["metrics"]`` that the task does not declare are ignored.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._metrics: dict[str, Metric] = {m.name: m for m in task.metrics}
        self._values: dict[str, float] = {}
        self._counts: dict[str, int] = {}
        self._env_return = 0.0

    def reset(self, info: Mapping[str, Any]) -> None:
        """Begin an episode with the info dict of its reset."""
        self._values, self._counts, self._env_return = {}, {}, 0.0
        self._add(info)

    def add(self, info: Mapping[str, Any], env_reward: float) -> None:
        """Add the values of the metrics that one primitive step reports.

        :raises PluginError: a metric is not a finite number.
        """
        self._env_return += env_reward
        self._add(info)

    def report(self, info: dict[str, Any]) -> None:
        """Write the metrics of the episode so far into ``info["metrics"]``, and the score, if it has a value yet, into
        ``info["score"]``.
        """
        if self._metrics:
            info["metrics"] = dict(self._values)
        if (score := self._task.score) is not None:
            value = self._env_return if score.metric == RETURN else self._values.get(score.metric)
            if value is not None:
                info["score"] = value

    def _add(self, info: Mapping[str, Any]) -> None:
        if not self._metrics:
            return
        reported = info.get("metrics", {})
        if not isinstance(reported, Mapping):
            raise PluginError(
                f"{self._task.id}: info['metrics'] is {reported!r:.60}; it must be a mapping, name -> number."
            )
        for name, given in reported.items():
            if (metric := self._metrics.get(name)) is not None:
                value = self._number(name, given)
                count = self._counts[name] = self._counts.get(name, 0) + 1
                before = self._values.get(name, value)
                self._values[name] = _reduced(metric, before, value, count)

    def _number(self, name: str, given: Any) -> float:
        value = number_of(given)
        if value is None:
            raise PluginError(
                f"{self._task.id}: info['metrics'][{name!r}] is {given!r:.60}; it must be a finite number. Leave "
                "the key out at a step that has none."
            )
        return value


def _reduced(metric: Metric, before: float, value: float, count: int) -> float:
    """The value of the episode's metric after one more number has been reported.

    :param before: the value of the metric before ``value`` was reported; equal to ``value`` for the first reported
        number.
    :param value: the newly reported number.
    :param count: how many numbers of the metric have been reported so far, including ``value``.
    """
    if metric.reduce == "sum":
        return before + value if count > 1 else value
    if metric.reduce == "mean":
        return before + (value - before) / count
    if metric.reduce == "max":
        return max(before, value)
    return min(before, value) if metric.reduce == "min" else value
