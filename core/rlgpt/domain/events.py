"""Values about what happened in an environment, such as verdicts, traces, evaluations and learning curves."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean, stdev
from typing import Literal

from pydantic import Field

from rlgpt.domain.values import CodedAction, Plain, Score, Value

VerdictKind = Literal[
    "lint", "load", "error", "type", "fuel", "memory", "yields", "reply", "view", "wall", "primitive", "quarantined"
]


class Verdict(Value):
    """The reason why a coded action was stopped or refused. All kinds except ``lint``, ``quarantined`` and ``wall`` are
    violations.

    :ivar line: number of the source line, from 1, at which the coded action was stopped or refused; None if the line is
        unknown.
    """

    kind: VerdictKind
    action: str
    message: str = Field(max_length=600)
    line: int | None = None
    step: int = Field(default=0, description="primitive steps since the call began")
    fuel: int = Field(default=0, description="fuel that the last guest turn used")


Ending = Literal["base", "returned", "episode", "limit", "violation", "masked", "interrupted", "yields", "running"]
"""How a decision ended.

- ``base``: the decision was a base action.
- ``returned``: the generator of the coded action returned.
- ``episode``: the episode ended.
- ``limit``: the coded action reached its limit of primitive steps.
- ``violation``: a verdict stopped the coded action.
- ``masked``: the coded action was not allowed to start, and one idle step was taken instead.
- ``interrupted``: the policy chose something else while the coded action was in progress.
- ``yields``: the coded action reached the maximal number of yields.
- ``running``: the coded action is still in progress, and the next decision may interrupt it.
"""


Mode = Literal["sampled", "sharpened", "greedy", "code", "tuned"]
"""How actions are chosen in an episode.

- ``sampled``: the actions are samples from the probabilities of a policy.
- ``sharpened``: the actions are samples after each probability of a policy was raised to a power (the setting
  ``sharpness``).
- ``greedy``: the actions are the most likely choices of a policy.
- ``code``: the plan's coded actions run in their order, without a policy.
- ``tuned``: as ``code``, but the parameters have the values that the parameter search found, instead of their defaults.
"""


class PrimitiveCall(Value):
    """One call of a primitive by a coded action.

    :ivar args: the arguments of the primitive's call, clipped into their ranges. An argument that the code did not give
        has its default value.
    :ivar steps: number of primitive steps of the call.
    :ivar outcome: the dict that the primitive returned.
    :ivar view_changes: the keys of the view that changed during the call, with their values after the call; empty if
        the episode is not traced. For the last call of a decision, ``view_changes`` is empty too, because the decision
        itself contains the view after this call.
    """

    name: str
    args: dict[str, Plain]
    steps: int
    outcome: dict[str, Plain] = Field(default_factory=dict)
    view_changes: dict[str, Plain] = Field(default_factory=dict)


class Decision(Value):
    """The record of one decision. A decision is a choice of the policy or, if code plays alone, the plan's next coded
    action. A decision takes ``duration`` primitive steps, at least 1.
    """

    action: str
    parameters: dict[str, float] = Field(default_factory=dict)
    duration: int
    reward: float = Field(description="undiscounted reward, summed over the decision's steps")
    ended: Ending
    before: dict[str, Plain] = Field(default_factory=dict, description="the view before a traced decision")
    after: dict[str, Plain] = Field(default_factory=dict, description="the view after a traced decision")
    reward_terms: dict[str, float] = Field(
        default_factory=dict,
        description="for each reward term, its weighted sum over the decision (unweighted if the weight is 0)",
    )
    calls: tuple[PrimitiveCall, ...] = ()
    verdict: Verdict | None = None
    memory: dict[str, Plain] = Field(
        default_factory=dict, description="values of the shared memory that a traced decision changed"
    )


class Trace(Value):
    """The trace of one episode, which is its decisions in order.

    :ivar success: whether ``info["success"]`` was true at any primitive step of the episode.
    :ivar total_reward: the undiscounted return of the episode.
    :ivar primitive_steps: the length of the episode.
    :ivar omitted: number of decisions from the middle of the episode that the trace does not contain.
    :ivar has_success: whether the task has a success.
    :ivar score: the score of the episode; None if the task has no score.
    :ivar unpaid: the reward terms whose weight is 0.
    """

    seed: int
    success: bool
    total_reward: float
    primitive_steps: int = Field(ge=0)
    decisions: tuple[Decision, ...]
    omitted: int = 0
    has_success: bool = True
    score: float | None = None
    unpaid: tuple[str, ...] = ()


class Episode(Value):
    """The results of one evaluated episode.

    :ivar success: whether ``info["success"]`` was true at any primitive step of the episode.
    :ivar total_reward: the undiscounted return of the episode.
    :ivar primitive_steps: the length of the episode.
    :ivar cut: the reason why the evaluation ended the episode before the environment did; None if the environment ended
        it. The reason ``stuck`` means that the coded actions had no effect any more; ``limit`` means that the budget of
        primitive steps allows no longer episode.
    :ivar ending: the text of ``info["cause"]``, which says how the environment ended the episode; empty if ``info`` has
        no key ``cause``.
    :ivar reached: for each coded predicate that became true, the number of primitive steps from the start of the
        episode to the end of the decision that made it true.
    :ivar score: the score of the episode; None if the task has no score.
    """

    seed: int
    success: bool
    total_reward: float
    primitive_steps: int = Field(ge=0)
    decisions: int = Field(ge=0)
    reward_terms: Mapping[str, float] = Field(default_factory=dict, description="undiscounted sum of each reward term")
    cut: Literal["stuck", "limit"] | None = None
    ending: str = Field(default="", max_length=200)
    reached: Mapping[str, int] = Field(default_factory=dict)
    score: float | None = None
    metrics: Mapping[str, float] = Field(
        default_factory=dict, description="value of each metric of the task that the environment reported"
    )


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


class CurvePoint(Value):
    """One point of a learning curve. The point has means over the episodes that ended since the previous point.

    :ivar episodes: number of episodes, over all environments, that ended since the previous point of the learning
        curve.
    :ivar success: success rate of the episodes, 0 to 1.
    :ivar total_reward: mean undiscounted return of the episodes since the previous point of the learning curve.
    :ivar usage: for each action of the policy, its share of the decisions, 0 to 1.
    """

    primitive_steps: int = Field(ge=0, description="primitive steps since this training began, in all environments")
    episodes: int = Field(ge=0)
    success: float
    total_reward: float
    decisions: int = Field(description="number of decisions since this training began")
    reward_terms: Mapping[str, float] = Field(
        default_factory=dict, description="mean of each reward term's sum over an episode"
    )
    score: float | None = Field(default=None, description="mean score over the episodes; None if the task has no score")
    metrics: Mapping[str, float] = Field(
        default_factory=dict, description="mean of each metric over the episodes that report it"
    )
    usage: Mapping[str, float] = Field(default_factory=dict)


def _without_prefix(values: Mapping[str, float], prefix: str) -> dict[str, float]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}


class SearchRecord(Value):
    """The record of the parameter search with which a training began.

    :ivar episodes: number of finished episodes of the parameter search.
    :ivar successes: number of successful episodes of the parameter search.
    :ivar ended: number of primitive steps of the training when the parameter search ended; None if the training stopped
        before the search ended.
    :ivar found: for each parameter (``action.parameter``), the value with which the policy begins its training, in the
        unit of the parameter. ``found`` is empty if the parameters kept their defaults.
    """

    episodes: int = Field(ge=0, le=10**12)
    successes: int = Field(ge=0, le=10**12)
    ended: int | None = Field(default=None, ge=0)
    found: Mapping[str, float] = Field(default_factory=dict)

    def tuned(self, actions: Sequence[CodedAction]) -> tuple[CodedAction, ...]:
        """The coded actions ``actions`` with the found values as the defaults of their parameters. A parameter for
        which the search found no value keeps its default.
        """
        return tuple(a.with_defaults(_without_prefix(self.found, f"{a.name}.")) for a in actions)


class TrainingRecord(Value):
    """The record of one training.

    :ivar primitive_steps: number of primitive steps of the training in all environments, including steps whose results
        were lost in a kill.
    :ivar seconds: wall-clock time.
    :ivar quarantined: names of the coded actions that were quarantined during the training.
    :ivar base_only: the coded actions that the training masked, because episodes without coded actions were better
        (:mod:`rlgpt.rl.base_only`); empty if they were not better, or if the trainer did not compare.
    :ivar search: the record of the parameter search with which the training began; None if the training began without a
        search.
    """

    trainer: str
    primitive_steps: int = Field(ge=0)
    decisions: int = Field(ge=0)
    seconds: float
    curve: tuple[CurvePoint, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    quarantined: tuple[str, ...] = ()
    base_only: tuple[str, ...] = ()
    search: SearchRecord | None = None

    @property
    def masked(self) -> tuple[str, ...]:
        """Names of the coded actions and coded functions that the trained policy does not use."""
        return (*self.quarantined, *(name for name in self.base_only if name not in self.quarantined))
