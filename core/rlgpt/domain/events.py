"""What happened: verdicts, traces, evaluations, learning curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from rlgpt.domain.values import Plain, Value

VerdictKind = Literal[
    "lint", "load", "error", "type", "fuel", "memory", "yields", "reply", "view", "wall", "primitive", "quarantined"
]


class Verdict(Value):
    """Why a coded action was stopped, or refused. All kinds but ``lint``, ``quarantined``, ``wall`` are violations."""

    kind: VerdictKind
    action: str
    message: str = Field(max_length=600)
    line: int | None = None
    step: int = Field(default=0, description="primitive steps into the call")
    fuel: int = Field(default=0, description="fuel used by the guest turn that ended")


Ending = Literal["base", "returned", "episode", "limit", "violation", "masked"]
"""How a decision ended: a base action; the generator returned; the episode ended; its step limit; a verdict; it was not
allowed to start (and cost a no-op)."""


class PrimitiveCall(Value):
    """One primitive that a coded action asked for."""

    name: str
    args: dict[str, Plain]
    steps: int
    outcome: dict[str, Plain] = Field(default_factory=dict)


class Decision(Value):
    """One choice of the policy, or one step of a plan, lasting ``duration`` primitive steps."""

    action: str
    parameters: dict[str, float] = Field(default_factory=dict)
    duration: int
    reward: float = Field(description="undiscounted sum over the decision")
    ended: Ending
    before: dict[str, Plain] = Field(default_factory=dict, description="view before, where traced")
    after: dict[str, Plain] = Field(default_factory=dict, description="view after, where traced")
    calls: tuple[PrimitiveCall, ...] = ()
    verdict: Verdict | None = None


class Trace(Value):
    """What happened in one episode, decision by decision (the middle may be left out: ``omitted``)."""

    seed: int
    success: bool
    total_reward: float
    primitive_steps: int
    decisions: tuple[Decision, ...]
    omitted: int = 0


class Episode(Value):
    """The figures of one evaluated episode. ``total_reward`` is undiscounted."""

    seed: int
    success: bool
    total_reward: float
    primitive_steps: int
    decisions: int
    reward_terms: Mapping[str, float] = Field(default_factory=dict, description="undiscounted sum of each term")


class Evaluation(Value):
    """A policy or a plan, judged by the task's own horizon, reset and success."""

    mode: Literal["sampled", "greedy", "code"]
    episodes: tuple[Episode, ...]
    usage: Mapping[str, float] = Field(default_factory=dict, description="share of decisions of each action")
    traces: tuple[Trace, ...] = ()
    verdicts: tuple[Verdict, ...] = ()

    @property
    def success_rate(self) -> float:
        return sum(e.success for e in self.episodes) / max(1, len(self.episodes))

    @property
    def mean_reward(self) -> float:
        return sum(e.total_reward for e in self.episodes) / max(1, len(self.episodes))

    @property
    def primitive_steps(self) -> int:
        return sum(e.primitive_steps for e in self.episodes)

    @property
    def steps_per_success(self) -> float | None:
        wins = sum(e.success for e in self.episodes)
        return self.primitive_steps / wins if wins else None


class CurvePoint(Value):
    """One point of a learning curve, over the episodes that ended since the point before."""

    primitive_steps: int = Field(description="since this training began, all workers")
    episodes: int
    success: float
    total_reward: float
    decisions: int = Field(description="since this training began")
    reward_terms: Mapping[str, float] = Field(default_factory=dict, description="mean sum over an episode")
    usage: Mapping[str, float] = Field(default_factory=dict)


class TrainingRecord(Value):
    """What a training segment did."""

    trainer: str
    primitive_steps: int
    decisions: int
    seconds: float
    curve: tuple[CurvePoint, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    quarantined: tuple[str, ...] = ()
