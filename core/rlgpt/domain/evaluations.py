"""Evaluations of code and of policies, and the rank by which they are compared."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from statistics import fmean, stdev

from pydantic import Field

from rlgpt.domain.events import Episode, Mode, Trace, Verdict
from rlgpt.domain.values import Score, Value

Rank = tuple[float, float]
"""The success rate and the mean score of an evaluation, in a form for comparisons; see :func:`rank`."""


def rank(success_rate: float, mean_score: float | None, score: Score | None) -> Rank:
    """Return a tuple that orders the evaluations of one task, first by success rate and then by mean score. A score
    that is minimised is negated.

    A task without a success has a success rate of 0 in every evaluation. A mean score that is None or not
    finite ranks last.
    """
    if score is None:
        return success_rate, 0.0
    if mean_score is None or not math.isfinite(mean_score):
        return success_rate, -math.inf
    return success_rate, mean_score if score.maximize else -mean_score


def score_interval(rate: float, n: int, z: float) -> tuple[float, float]:
    """The score interval of a success rate (Wilson 1927), within 0 to 1.

    :param n: number of episodes, at least 1.
    :param z: half the width of the interval in standard errors; 1.96 for a 95 % confidence interval.
    """
    spread = z * z / n
    middle, half = rate + spread / 2, z * math.sqrt(rate * (1 - rate) / n + spread / (4 * n))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


class Evaluation(Value):
    """The evaluation of a policy, or of coded actions alone, on a set of episodes with the task's own horizon, reset
    and success.

    :ivar sharpness: the power to which the probabilities of the policy were raised; 1 except in mode ``sharpened``.
    :ivar traces: traces of a few of the episodes.
    :ivar has_success: whether the task has a success.
    :ivar score: the definition of the task's score; None if the task has no score.
    """

    mode: Mode
    sharpness: float = Field(default=1.0, gt=0)
    episodes: tuple[Episode, ...]
    usage: Mapping[str, float] = Field(default_factory=dict, description="for each action, its share of the decisions")
    traces: tuple[Trace, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    has_success: bool = True
    score: Score | None = None

    @property
    def is_code(self) -> bool:
        """Whether coded actions played without a policy, with their own defaults or with tuned values of their
        parameters.
        """
        return self.mode in ("code", "tuned")

    def on(self, seeds: Collection[int]) -> Evaluation:
        """Copy the evaluation with only those episodes that have one of ``seeds``."""
        return self.model_copy(update={"episodes": tuple(e for e in self.episodes if e.seed in seeds)})

    @property
    def success_rate(self) -> float:
        """Share of successful episodes, 0 to 1; 0 without episodes."""
        return sum(e.success for e in self.episodes) / max(1, len(self.episodes))

    @property
    def mean_score(self) -> float | None:
        """Mean score of the evaluated episodes that have a score; None if no episode has a score."""
        scores = [e.score for e in self.episodes if e.score is not None]
        return sum(scores) / len(scores) if scores else None

    @property
    def objective(self) -> float | None:
        """One number for which higher is better: the success rate, or, for a task without a success, the mean score
        (negated if the task minimises the score). None without episodes, or if the mean score is not finite.
        """
        value = self.success_rate if self.has_success else self.rank[1]
        return value if self.episodes and math.isfinite(value) else None

    @property
    def rank(self) -> Rank:
        """The rank of this evaluation. Of two evaluations of a task, the better one has the greater rank."""
        return rank(self.success_rate, self.mean_score, self.score) if self.episodes else (0.0, -math.inf)

    @property
    def cautious_rank(self) -> Rank:
        """The rank of this evaluation with its success rate and its mean score taken one standard error lower (worse).
        It compares evaluations with different numbers of episodes: one success in one episode is less than 14 in 16.

        For the success rate, it is the lower end of the score interval (Wilson 1927) with z = 1. A mean score of fewer
        than two episodes ranks last.
        """
        n, score = len(self.episodes), self.score
        if not n:
            return self.rank
        lower, _ = score_interval(self.success_rate, n, 1.0)
        if score is None:
            return rank(lower, None, None)
        scores = [e.score for e in self.episodes if e.score is not None]
        if len(scores) < 2 or not all(map(math.isfinite, scores)):
            return rank(lower, None, score)
        error = stdev(scores) / math.sqrt(len(scores))
        return rank(lower, fmean(scores) + (-error if score.maximize else error), score)

    @property
    def mean_reward(self) -> float:
        """Mean undiscounted return of the evaluated episodes; 0 without episodes."""
        return sum(e.total_reward for e in self.episodes) / max(1, len(self.episodes))

    @property
    def primitive_steps(self) -> int:
        """Number of primitive steps of all evaluated episodes together."""
        return sum(e.primitive_steps for e in self.episodes)

    @property
    def steps_per_success(self) -> float | None:
        """Primitive steps of all evaluated episodes, divided by the number of successful episodes; None if no episode
        succeeded.
        """
        successes = sum(e.success for e in self.episodes)
        return self.primitive_steps / successes if successes else None


def quality(trace: Trace, score: Score | None) -> tuple[bool, bool, float, float]:
    """The sort key of an episode by its trace; the better episode has the larger key. Episodes are compared by success,
    then by score, then by return. A stuck episode is worse than every other failed one.
    """
    known = trace.score is not None and math.isfinite(trace.score)
    worth = trace.score if known and trace.score is not None else -math.inf
    worth = -worth if known and score is not None and not score.maximize else worth
    return trace.success, not trace.stuck, worth, trace.total_reward
