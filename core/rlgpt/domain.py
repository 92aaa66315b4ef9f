"""Frozen values that travel between the rooms. No behaviour beyond validation and a few derived figures.

Everything here is a pydantic model: it is what records hold and what a language model's reply is parsed into.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from typing_extensions import TypeAliasType

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
"""A name that may also name a file: lower case, digits, underscore, at most 40 characters."""

TaskId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,40}/[a-z0-9][a-z0-9_.-]{0,79}$")]
"""``plugin/task``."""

Scalar = float | int | bool | str
Plain = TypeAliasType("Plain", "Scalar | list[Plain] | dict[str, Plain] | None")
"""What may cross the boundary between host and guest: JSON without NaN."""


class Value(BaseModel):
    """A frozen value; unknown fields are an error."""

    # what a simulator that diverged leaves behind is to be read back, not written as null
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class Parameter(Value):
    """One typed, bounded argument of a primitive or of a coded action.

    ``float`` and ``int`` need ``low < high`` (the range, inclusive, in ``unit``); ``choice`` needs ``choices``.
    A coded action's parameters are ``float``: the policy chooses them from a Box.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "dx", "low": -0.2, "high": 0.2, "default": 0.05, "unit": "m", "doc": "along x"}]
        }
    )

    name: Name
    kind: Literal["float", "int", "bool", "choice"] = "float"
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    default: Scalar
    unit: str = ""
    doc: str = ""

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.kind in ("float", "int"):
            if self.low is None or self.high is None or not self.low < self.high:
                raise ValueError(f"parameter {self.name!r} ({self.kind}) needs low < high, got {self.low}, {self.high}")
            if isinstance(self.default, str) or not self.low <= self.default <= self.high:
                raise ValueError(f"default {self.default!r} of {self.name!r} is outside [{self.low}, {self.high}]")
        elif self.kind == "choice" and (not self.choices or self.default not in self.choices):
            raise ValueError(f"parameter {self.name!r} (choice) needs choices that hold its default {self.default!r}")
        return self


class Task(Value):
    """What is to be achieved, as a plugin offers it."""

    id: TaskId
    goal: str = Field(description="one sentence, for people and prompts")
    horizon: int = Field(ge=1, description="primitive steps until an episode is truncated")
    success: str = Field(description="what the environment counts as success, in words")
    settings: Mapping[str, Scalar | tuple[Scalar, ...]] = Field(default_factory=dict, description="the plugin's own")

    @property
    def plugin(self) -> str:
        return self.id.split("/", 1)[0]


class SubAction(Value):
    """One part of a plan: written as code, or left to reinforcement learning."""

    name: Name
    description: str
    kind: Literal["code", "rl"]
    reason: str


class ActionPlan(Value):
    """The slow agent's decision: sub-actions in the order in which they would be used."""

    thoughts: str = ""
    sub_actions: tuple[SubAction, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [s.name for s in self.sub_actions]
        if len(set(names)) != len(names):
            raise ValueError(f"sub-action names must differ, got {names}")
        return self

    @property
    def coded(self) -> tuple[SubAction, ...]:
        return tuple(s for s in self.sub_actions if s.kind == "code")


class CodedAction(Value):
    """An option written by a language model: a generator function ``run(**parameters)`` that yields primitives.

    The source may also define ``can_start(view) -> bool``. It is data: only the sandbox runs it.
    """

    name: Name
    doc: str = Field(max_length=2000)
    source: str
    parameters: tuple[Parameter, ...] = Field(default=(), max_length=8)
    max_steps: int = Field(default=60, ge=1, le=10_000, description="primitive steps after which a call is ended")

    @model_validator(mode="after")
    def _floats(self) -> Self:
        for p in self.parameters:
            if p.kind != "float":
                raise ValueError(f"parameter {p.name!r} of coded action {self.name!r} must be a float, got {p.kind}")
        return self


class RLSetup(Value):
    """How the policy learns. It has no say in evaluation: the task's own horizon, reset and success always judge."""

    reward_weights: Mapping[str, float] = Field(description="weight of each of the plugin's reward terms used")
    observation_keys: tuple[str, ...] = Field(description="observation or view keys the policy sees, in order")
    base_actions: tuple[str, ...] | None = Field(default=None, description="labels kept; None keeps all, () none")
    coded_actions: tuple[Name, ...] = Field(default=(), description="coded actions the policy may choose")
    horizon: int | None = Field(default=None, ge=1, description="training horizon in primitive steps; None: the task's")
    gamma: float = Field(default=0.99, gt=0, le=1, description="discount per primitive step")
    reset_option: str | None = Field(default=None, description="a reset option of the plugin; None: the task's own")
    reason: str = ""


VerdictKind = Literal[
    "lint", "load", "error", "type", "fuel", "memory", "yields", "reply", "view", "wall", "primitive", "quarantined"
]


class Verdict(Value):
    """Why a coded action was stopped, or refused. Violations are every kind but ``lint`` and ``quarantined``."""

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


class Finding(Value):
    """One thing the critic found. ``action`` names a sub-action, or is empty for the whole."""

    action: str = ""
    problem: str
    suggestion: str


class Critique(Value):
    """The critic's word on an iteration, for each agent separately."""

    summary: str
    for_slow: tuple[Finding, ...] = ()
    for_fast: tuple[Finding, ...] = ()


class Review(Value):
    """The critic's word on one rehearsal of one coded action."""

    works: bool
    findings: tuple[Finding, ...] = ()


class Rehearsal(Value):
    """One attempt at a coded action: its source, what happened when it was tried, what the critic said."""

    attempt: int
    action: CodedAction
    steps: int = Field(default=0, description="primitive steps it cost, those outside the trace too")
    trace: Trace | None = None
    verdict: Verdict | None = None
    review: Review | None = None

    @property
    def failed(self) -> bool:
        return self.verdict is not None or (self.review is not None and not self.review.works)


class Steps(Value):
    """Primitive steps spent, by purpose. Reporting on fresh seeds is not part of the budget and not in here."""

    rehearsal: int = 0
    code: int = 0
    training: int = 0
    selection: int = 0

    @property
    def total(self) -> int:
        return self.rehearsal + self.code + self.training + self.selection

    def __add__(self, other: Steps) -> Steps:
        return Steps(**{f: getattr(self, f) + getattr(other, f) for f in Steps.model_fields})


class Iteration(Value):
    """One turn of the outer loop, whole."""

    index: int
    plan: ActionPlan
    rehearsals: Mapping[str, tuple[Rehearsal, ...]] = Field(default_factory=dict, description="by sub-action")
    actions: tuple[CodedAction, ...] = ()
    setup: RLSetup
    code_evaluation: Evaluation | None = Field(
        default=None, description="the plan's coded actions in order, on the selection seeds"
    )
    training: TrainingRecord | None = None
    evaluation: Evaluation = Field(description="on the selection seeds")
    critique: Critique | None = None
    steps: Steps

    @property
    def kept(self) -> Evaluation:
        """What did better on the selection seeds: the policy, or (strictly better) the plan's code alone."""
        code = self.code_evaluation
        return code if code is not None and code.success_rate > self.evaluation.success_rate else self.evaluation

    @property
    def success_rate(self) -> float:
        return self.kept.success_rate


class Provenance(Value):
    """Where a bundle comes from and what it reached, on seeds it was not selected on."""

    task: TaskId
    versions: Mapping[str, str] = Field(default_factory=dict)
    success_rate: float | None = None
    episodes: int = 0
    primitive_steps: int = Field(default=0, description="all steps of the run that made it")
    model: str = Field(default="", description="the language models that wrote it")


class Bundle(Value):
    """Coded actions, the RL setup they go with, and what they were tested on. What is published and shared."""

    schema_version: Literal[1] = 1
    actions: tuple[CodedAction, ...]
    setup: RLSetup | None = None
    plan: ActionPlan | None = None
    tested_on: Provenance | None = None

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [a.name for a in self.actions]
        if len(set(names)) != len(names):
            raise ValueError(f"names of coded actions must differ, got {names}")
        return self
