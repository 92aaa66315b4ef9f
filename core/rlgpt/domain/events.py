"""Values about what happened in an environment: verdicts, primitive calls, decisions, traces and episodes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from rlgpt.domain.values import Plain, Value

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

- ``base``: the decision was a base action. If a coded action is in progress (``interrupt_every``), a base action
  replaces one of its steps; the decision then has the ending of the coded action, or ``running``.
- ``returned``: the generator of the coded action returned.
- ``episode``: the episode ended.
- ``limit``: the coded action reached its limit of primitive steps.
- ``violation``: a verdict stopped the coded action.
- ``masked``: the coded action was not allowed to start, and one idle step was taken instead.
- ``interrupted``: a standing sub-goal ended the call of the coded action.
- ``yields``: the coded action reached the maximal number of yields.
- ``running``: the coded action is still in progress, and the next decision may interrupt it.
"""


Mode = Literal["sampled", "sharpened", "greedy", "base_only", "code", "tuned"]
"""How actions are chosen in an episode.

- ``sampled``: the actions are samples from the probabilities of a policy.
- ``sharpened``: the actions are samples after each probability of a policy was raised to a power (the setting
  ``sharpness``).
- ``greedy``: the actions are the most likely choices of a policy.
- ``base_only``: as ``greedy``, but all coded actions are masked.
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
    :ivar omitted: number of decisions of the episode that the trace does not contain.
    :ivar positions: the numbers of the decisions in the episode, from 1; empty if the trace contains all decisions.
        Traces of earlier versions lack them and decisions from the middle of the episode.
    :ivar stuck: whether the episode was ended early because the coded actions had no effect any more.
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
    positions: tuple[int, ...] = ()
    has_success: bool = True
    score: float | None = None
    unpaid: tuple[str, ...] = ()
    stuck: bool = False

    @model_validator(mode="after")
    def _numbered(self) -> Self:
        last = len(self.decisions) + self.omitted
        rising = all(a < b for a, b in itertools.pairwise((0, *self.positions, last + 1)))
        if self.positions and not (len(self.positions) == len(self.decisions) and rising):
            raise ValueError("positions must be the rising numbers of the decisions")
        return self

    @property
    def numbers(self) -> tuple[int, ...]:
        """The number of each decision in the episode, from 1."""
        if self.positions:
            return self.positions
        head = -(-len(self.decisions) // 2) if self.omitted else len(self.decisions)
        return tuple(i + (self.omitted if i > head else 0) for i in range(1, len(self.decisions) + 1))


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
