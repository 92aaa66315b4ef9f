"""Computes, for a report, score and metrics of an evaluation, with confidence intervals over its episodes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rlgpt.domain import RETURN, Evaluation, score_interval
from rlgpt.report.stats import Interval, Scores, interval


def success_range(evaluation: Evaluation) -> tuple[float, float]:
    """The 95 % confidence interval of the success rate of one policy over its episodes (Wilson 1927)."""
    n = len(evaluation.episodes)
    return score_interval(evaluation.success_rate, n, 1.96) if n else (0.0, 1.0)


def score_name(evaluation: Evaluation) -> str:
    """The name of the score in a report, with the unit if the score has a unit, such as ``score (coins, more is
    better)``.
    """
    score = evaluation.score
    assert score is not None
    unit = f", {score.unit}" if score.unit else ""
    name = "episode return" if score.metric == RETURN else score.metric.replace("_", " ")
    return f"score ({name}{unit}, {'more' if score.maximize else 'less'} is better)"


def mean_score(evaluation: Evaluation) -> Interval | None:
    """The mean score with its 95 % confidence interval over the episodes; None if no episode has a score or the sum of
    the scores is not finite.
    """
    return _mean([e.score for e in evaluation.episodes if e.score is not None])


def metric_figures(evaluation: Evaluation) -> Iterator[tuple[str, Interval, int]]:
    """The figures of each reported metric, which are its name, its mean with the 95 % confidence interval, and the
    number of episodes that report it.

    A metric is left out of the figures if the sum of its numbers is not finite.
    """
    names = dict.fromkeys(name for e in evaluation.episodes for name in e.metrics)
    for name in names:
        values = [e.metrics[name] for e in evaluation.episodes if name in e.metrics]
        if (mean := _mean(values)) is not None:
            yield name, mean, len(values)


def round_result(evaluation: Evaluation) -> str:
    """The result of a plan in a round of the halving, which is the number of successes, and the mean score if the task
    has a score.
    """
    played, score = len(evaluation.episodes), evaluation.mean_score
    wins = [f"{sum(e.success for e in evaluation.episodes)} of {played}"] if evaluation.has_success else []
    return ", ".join([*wins, *([] if score is None else [f"{score:.4g}"])]) or f"no result in {played}"


def _mean(values: Sequence[float]) -> Interval | None:
    def mean(drawn: Scores) -> Scores:
        found: Scores = drawn.mean(axis=-1)
        return found

    known = bool(values) and math.isfinite(sum(map(abs, values)))
    return interval(values, statistic=mean, repetitions=2_000) if known else None
