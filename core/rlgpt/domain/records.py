"""What is made of it: critiques, rehearsals, iterations, bundles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Self

from pydantic import Field, model_validator

from rlgpt.domain.events import Evaluation, Trace, TrainingRecord, Verdict
from rlgpt.domain.values import ActionPlan, CodedAction, Plain, RLSetup, TaskId, Value


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

    @property
    def exercised(self) -> bool:
        """Whether the action, which is at the trace's end, could start at all."""
        return self.trace is not None and self.trace.decisions[-1].ended != "masked"


class Steps(Value):
    """Primitive steps spent, by purpose. Reporting on fresh seeds is not part of the budget and not in here.

    :ivar lost: spent outside training in stages that a kill or an error cut short, and that were done again or never
        finished. What a training lost to kills is in ``training``.
    """

    rehearsal: int = Field(default=0, ge=0)
    code: int = Field(default=0, ge=0)
    training: int = Field(default=0, ge=0)
    selection: int = Field(default=0, ge=0)
    lost: int = Field(default=0, ge=0)

    @property
    def total(self) -> int:
        return self.rehearsal + self.code + self.training + self.selection + self.lost

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


def best_of(history: Sequence[Iteration]) -> Iteration:
    """The iteration with the highest success on the selection seeds; where two are equal the one with the higher mean
    reward, then the later one."""
    return max(history, key=lambda i: (i.success_rate, i.kept.mean_reward, i.index))


class Provenance(Value):
    """Where a bundle comes from and what it reached, on seeds it was not selected on."""

    task: TaskId
    versions: Mapping[str, str] = Field(default_factory=dict)
    success_rate: float | None = None
    episodes: int = 0
    primitive_steps: int = Field(default=0, description="all steps of the run that made it")
    model: str = Field(default="", description="the language models that wrote it")


class World(Value):
    """What coded actions of an environment without a plugin rely on: the names they were written with.

    :ivar labels: label -> meaning of each part of the base action; None: those the environment gives itself.
    :ivar observations: name -> meaning of each number of the observation; None: it is one list.
    :ivar primitives: names of the designer's own primitives. They are Python of the host and no part of a bundle.
    :ivar idle: what does nothing: a label of a Discrete's value, or an action with lists for arrays; None: not said.
    """

    labels: Mapping[str, str] | None = None
    observations: Mapping[str, str] | None = None
    primitives: tuple[str, ...] = ()
    idle: Plain = None


class Bundle(Value):
    """Coded actions, the RL setup they go with, and what they were tested on. What is published and shared.

    :ivar world: of a bundle that :func:`rlgpt.design` made.
    """

    schema_version: Literal[1] = 1
    actions: tuple[CodedAction, ...]
    setup: RLSetup | None = None
    plan: ActionPlan | None = None
    tested_on: Provenance | None = None
    world: World | None = None

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [a.name for a in self.actions]
        if len(set(names)) != len(names):
            raise ValueError(f"names of coded actions must differ, got {names}")
        return self
