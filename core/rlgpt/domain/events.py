"""Values about what happened in an environment: verdicts, traces, evaluations, learning curves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from rlgpt.domain.values import Plain, Score, Value

VerdictKind = Literal[
    "lint", "load", "error", "type", "fuel", "memory", "yields", "reply", "view", "wall", "primitive", "quarantined"
]


class Verdict(Value):
    """The reason why a coded action was stopped or refused. All kinds except ``lint``, ``quarantined`` and ``wall`` are
    violations.

    :ivar line: line of the action's source, from 1; None if unknown.
    """

    kind: VerdictKind
    action: str
    message: str = Field(max_length=600)
    line: int | None = None
    step: int = Field(default=0, description="primitive steps since the call began")
    fuel: int = Field(default=0, description="fuel that the last guest turn used")


Ending = Literal["base", "returned", "episode", "limit", "violation", "masked", "interrupted", "yields", "running"]
"""How a decision ended, in the order of the literals: it was a base action; the generator returned; the episode ended;
the action's step limit was reached; a verdict stopped the action; the action was not allowed to start and cost one idle
step; the policy chose something else while the action was in progress; the maximal number of yields was reached; the
action is still in progress, and the next decision may interrupt it.
"""


Mode = Literal["sampled", "sharpened", "greedy", "code"]
"""How actions are chosen in an episode, in the order of the literals: samples of a policy; samples of
its sharpened probabilities; its most likely choices; the plan's coded actions in order.
"""


class PrimitiveCall(Value):
    """One call of a primitive by a coded action.

    :ivar args: the arguments after clipping, with defaults.
    :ivar steps: number of primitive steps of the call.
    :ivar outcome: the dict that the primitive returned.
    """

    name: str
    args: dict[str, Plain]
    steps: int
    outcome: dict[str, Plain] = Field(default_factory=dict)


class Decision(Value):
    """One choice of the policy, or of the next coded action of a plan. A decision takes ``duration`` primitive steps,
    at least 1.
    """

    action: str
    parameters: dict[str, float] = Field(default_factory=dict)
    duration: int
    reward: float = Field(description="undiscounted sum over the decision's steps")
    ended: Ending
    before: dict[str, Plain] = Field(default_factory=dict, description="the view before the decision, if it is traced")
    after: dict[str, Plain] = Field(default_factory=dict, description="the view after the decision, if it is traced")
    reward_terms: dict[str, float] = Field(
        default_factory=dict,
        description="reward term -> weighted sum over the decision (unweighted if the weight is 0)",
    )
    calls: tuple[PrimitiveCall, ...] = ()
    verdict: Verdict | None = None
    memory: dict[str, Plain] = Field(
        default_factory=dict, description="values of the shared memory that it changed, where traced"
    )


class Trace(Value):
    """The trace of one episode: its decisions in order.

    :ivar success: whether ``info["success"]`` was true at any primitive step.
    :ivar total_reward: the undiscounted return of the episode.
    :ivar primitive_steps: the length of the episode.
    :ivar omitted: number of decisions that were left out in the middle.
    :ivar has_success: whether the task has a success.
    :ivar score: the score of the episode; None if the task has no score.
    :ivar unpaid: reward terms of weight 0.
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

    :ivar success: whether ``info["success"]`` was true at any primitive step.
    :ivar total_reward: the undiscounted return of the episode.
    :ivar primitive_steps: the length of the episode.
    :ivar cut: why the evaluation ended the episode before the environment did: ``stuck`` (the code was stuck) or
        ``limit`` (the budget allows no longer episode); None if the environment ended the episode.
    :ivar ending: how the environment ended the episode, as text from ``info["cause"]``; empty if there is none.
    :ivar reached: coded predicate -> primitive steps of the episode at the end of the decision that first made it true.
    :ivar score: the score of the episode; None if the task has no score.
    """

    seed: int
    success: bool
    total_reward: float
    primitive_steps: int = Field(ge=0)
    decisions: int = Field(ge=0)
    reward_terms: Mapping[str, float] = Field(default_factory=dict, description="undiscounted sum of each term")
    cut: Literal["stuck", "limit"] | None = None
    ending: str = Field(default="", max_length=200)
    reached: Mapping[str, int] = Field(default_factory=dict)
    score: float | None = None
    metrics: Mapping[str, float] = Field(
        default_factory=dict, description="metric of the task -> its value, for each reported metric"
    )


Rank = tuple[float, float]
"""Success rate and mean score, for comparisons; see :func:`rank`."""


def rank(success_rate: float, mean_score: float | None, score: Score | None) -> Rank:
    """A tuple that orders results of one task: first by success rate, then by mean score. A score that is minimised is
    negated.

    A task without a success has a success rate of 0 in every evaluation. A mean score that is None or not
    finite ranks last.
    """
    if score is None:
        return success_rate, 0.0
    if mean_score is None or not math.isfinite(mean_score):
        return success_rate, -math.inf
    return success_rate, mean_score if score.maximize else -mean_score


class Evaluation(Value):
    """The evaluation of a policy, or of coded actions alone, on a set of episodes with the task's own horizon, reset
    and success.

    :ivar sharpness: the power of a policy's probabilities in mode ``sharpened``, else 1.
    :ivar traces: traces of a few of the episodes.
    :ivar has_success: whether the task has a success.
    :ivar score: the task's score; None if it has none.
    """

    mode: Mode
    sharpness: float = Field(default=1.0, gt=0)
    episodes: tuple[Episode, ...]
    usage: Mapping[str, float] = Field(default_factory=dict, description="share of decisions of each action")
    traces: tuple[Trace, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    has_success: bool = True
    score: Score | None = None

    @property
    def success_rate(self) -> float:
        """Share of successful episodes, 0 to 1; 0 without episodes."""
        return sum(e.success for e in self.episodes) / max(1, len(self.episodes))

    @property
    def mean_score(self) -> float | None:
        """Mean score of the episodes that have a score; None if no episode has one."""
        scores = [e.score for e in self.episodes if e.score is not None]
        return sum(scores) / len(scores) if scores else None

    @property
    def objective(self) -> float | None:
        """One number, for which higher is better: the success rate, or, if the task has no success, the mean score
        (negated if it is minimised).
        """
        value = self.success_rate if self.has_success else self.rank[1]
        return value if self.episodes and math.isfinite(value) else None

    @property
    def rank(self) -> Rank:
        """The rank of this evaluation. Of two evaluations of a task, the better one has the greater rank."""
        return rank(self.success_rate, self.mean_score, self.score) if self.episodes else (0.0, -math.inf)

    @property
    def mean_reward(self) -> float:
        """Mean episode return, undiscounted; 0 without episodes."""
        return sum(e.total_reward for e in self.episodes) / max(1, len(self.episodes))

    @property
    def primitive_steps(self) -> int:
        """Primitive steps of all episodes together."""
        return sum(e.primitive_steps for e in self.episodes)

    @property
    def steps_per_success(self) -> float | None:
        """Primitive steps of all episodes, divided by the number of successful episodes; None if none succeeded."""
        successes = sum(e.success for e in self.episodes)
        return self.primitive_steps / successes if successes else None


class CurvePoint(Value):
    """One point of a learning curve: means over the episodes that ended since the previous point.

    :ivar episodes: number of those episodes, of all environments.
    :ivar success: success rate, 0 to 1.
    :ivar total_reward: mean episode return, undiscounted.
    :ivar usage: share of the decisions of each action, 0 to 1.
    """

    primitive_steps: int = Field(ge=0, description="primitive steps since this training began, in all environments")
    episodes: int = Field(ge=0)
    success: float
    total_reward: float
    decisions: int = Field(description="number of decisions since this training began")
    reward_terms: Mapping[str, float] = Field(default_factory=dict, description="mean undiscounted sum over an episode")
    score: float | None = Field(default=None, description="mean score over the episodes; None if the task has no score")
    metrics: Mapping[str, float] = Field(
        default_factory=dict, description="metric -> mean over the episodes that report it"
    )
    usage: Mapping[str, float] = Field(default_factory=dict)


class TrainingRecord(Value):
    """The record of one training.

    :ivar primitive_steps: number of primitive steps in all environments, including steps lost to kills.
    :ivar seconds: wall-clock time.
    :ivar quarantined: coded actions that were masked because they violated the sandbox's limits.
    """

    trainer: str
    primitive_steps: int = Field(ge=0)
    decisions: int = Field(ge=0)
    seconds: float
    curve: tuple[CurvePoint, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    quarantined: tuple[str, ...] = ()
