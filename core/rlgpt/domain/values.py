"""Tasks, plans, coded actions, and the setup of the learning."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    field_validator,
    model_serializer,
    model_validator,
)
from typing_extensions import TypeAliasType

AFTER = "after:"
"""Prefix of a reset option that names a coded action. With such a reset option, training episodes begin in states in
which this action returned.
"""

NAME = r"^[a-z][a-z0-9_]{0,39}$"
Name = Annotated[str, StringConstraints(pattern=NAME)]
"""A name that is also valid as a file name. A name has at most 40 lower case letters, digits and underscores, and
begins with a letter.
"""

TaskId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,40}/[a-z0-9][a-z0-9_.-]{0,79}$")]
"""The id of a task, ``plugin/task``."""

SAME = 1e-6
"""Two values of a parameter are the same if their difference is below this share of the parameter's range."""

Scalar = float | int | bool | str
Plain = TypeAliasType("Plain", "Scalar | list[Plain] | dict[str, Plain] | None")
"""Values that can cross the boundary between host and sandbox, which are the values of JSON without NaN."""


class Value(BaseModel):
    """The base class of frozen values. An unknown field is an error."""

    # A diverged simulator yields NaN and infinities. If JSON stored them as null, they could not be read back.
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class Parameter(Value):
    """One typed, bounded argument of a primitive or of a coded action.

    A parameter of kind ``float`` or ``int`` needs ``low < high``, the inclusive range in the unit ``unit``. The kind
    ``choice`` needs ``choices``. The default value of a parameter must be in its range or among its choices. All
    parameters of a coded action have the kind ``float``, because the policy chooses their values from a Box space.
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

    def with_default(self, value: float) -> Parameter:
        """Copy a parameter of kind ``float`` with another default (:meth:`CodedAction.with_defaults`)."""
        assert self.low is not None, "the range is validated"
        assert self.high is not None, "the range is validated"
        assert not isinstance(self.default, str), "the kind is validated"
        if not abs(value - self.default) >= SAME * (self.high - self.low):
            return self
        return self.model_copy(update={"default": min(max(value, self.low), self.high)})


RETURN = "return"
"""The name by which a score refers to the environment's own undiscounted return."""


class Metric(Value):
    """A number of an episode that the environment reports, such as an achievement or a distance.

    :ivar name: the key of the metric in ``info["metrics"]``, a dict of numbers that the environment may report after a
        reset and after each step.
    :ivar reduce: how the numbers that the steps of an episode report are reduced to one number for the episode. A step
        without a number is ignored. If no step of an episode reports a number, the episode has no value for this
        metric.
    """

    name: Name
    unit: str = ""
    doc: str = ""
    reduce: Literal["last", "sum", "max", "min", "mean"] = "last"

    @field_validator("name")
    @classmethod
    def _not_the_return(cls, name: str) -> str:
        if name == RETURN:
            raise ValueError(f"{RETURN!r} is the environment's own return; give the metric another name")
        return name


class Score(Value):
    """The number that measures the quality of an episode.

    :ivar metric: the name of a metric of the task, or ``return`` for the environment's own undiscounted return.
    :ivar maximize: whether a higher score is better.
    :ivar target: the mean score over the selection episodes at which a run may end before its budget is used up. If the
        target score is None, a run uses its whole budget.
    """

    metric: Name = RETURN
    unit: str = ""
    maximize: bool = True
    target: float | None = Field(default=None, allow_inf_nan=False)

    def reached(self, mean: float | None) -> bool:
        """Whether a mean score reaches the target."""
        if self.target is None or mean is None:
            return False
        return mean >= self.target if self.maximize else mean <= self.target


class Task(Value):
    """A task that a plugin offers. A task has a success, a score, or both."""

    id: TaskId
    goal: str = Field(description="one sentence, for people and prompts")
    horizon: int = Field(ge=1, description="primitive steps until an episode is truncated")
    success: str = Field(default="", description="in words, what the environment counts as success; empty: nothing")
    settings: Mapping[str, Scalar | tuple[Scalar, ...]] = Field(
        default_factory=dict, description="setting of the plugin -> its value for this task"
    )
    score: Score | None = None
    metrics: tuple[Metric, ...] = Field(
        default=(), max_length=96, description="metrics of an episode, which reports show with intervals"
    )

    @model_validator(mode="after")
    def _measured(self) -> Self:
        if not self.success and self.score is None:
            raise ValueError("a task needs a success in words, or a score; give success=..., or score=Score()")
        names = [m.name for m in self.metrics]
        if len(set(names)) != len(names):
            raise ValueError(f"names of metrics must differ, got {names}")
        if self.score is not None and self.score.metric not in (RETURN, *names):
            raise ValueError(f"the score names the metric {self.score.metric!r}; valid: {', '.join([RETURN, *names])}")
        return self

    @property
    def plugin(self) -> str:
        """The name of the plugin that offers the task."""
        return self.id.split("/", 1)[0]


class SubAction(Value):
    """A sub-action of a plan. A sub-action is either written as code or learned.

    :ivar keep: whether the newest code of an earlier iteration is used unchanged for the sub-action. Kept code is
        neither written nor rehearsed again.
    """

    name: Name
    description: str
    kind: Literal["code", "rl"]
    reason: str
    keep: bool = False


class FunctionPlan(Value):
    """The part of a plan that asks for one function, which then runs at every primitive step
    (:mod:`rlgpt.domain.functions`).

    :ivar name: name of the function, which differs from the names of all sub-actions of the plan.
    :ivar keep: whether the newest code of an earlier iteration is used unchanged for the function.
    """

    name: Name
    kind: Literal["feature", "reward", "predicate"]
    description: str
    reason: str = ""
    keep: bool = False


class ActionPlan(Value):
    """The slow agent's plan. A plan has at least one sub-action; the sub-actions are in the order of their use, and all
    names differ.

    :ivar functions: the features, reward terms and predicates that the plan asks for.
    """

    thoughts: str = ""
    sub_actions: tuple[SubAction, ...] = Field(min_length=1)
    functions: tuple[FunctionPlan, ...] = ()

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [*(s.name for s in self.sub_actions), *(f.name for f in self.functions)]
        if len(set(names)) != len(names):
            raise ValueError(f"names of sub-actions and functions must differ, got {names}")
        return self

    @property
    def coded(self) -> tuple[SubAction, ...]:
        """The sub-actions of kind ``code``."""
        return tuple(s for s in self.sub_actions if s.kind == "code")


class CodedAction(Value):
    """A coded action, which is an option (Sutton, Precup and Singh 1999) as code. The source of a coded action defines
    a generator ``run(**parameters)`` that yields calls of primitives.

    The source of a coded action may also define ``can_start(view) -> bool``, the option's initiation set. Only the
    sandbox runs the source. If ``run`` or ``can_start`` has an argument ``memory``, it gets a dict that exists until
    the episode ends; all coded actions of the environment share this dict.

    :ivar parameters: the parameters of the coded action, at most 8, all of kind ``float`` with finite ranges; the
        policy sets their values.
    :ivar shared: source of helper functions and constants, which the sandbox loads before ``source``. Each coded action
        that uses the shared source contains a copy of it.
    """

    name: Name
    doc: str = Field(max_length=2000)
    source: str
    parameters: tuple[Parameter, ...] = Field(default=(), max_length=8)
    max_steps: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="primitive steps after which a call is ended; null: the task's default",
    )
    shared: str = ""

    @field_validator("name", mode="before")
    @classmethod
    def _named(cls, name: object) -> object:
        if isinstance(name, str) and not re.fullmatch(NAME, name):
            raise ValueError(
                f"a coded action's name is lower case letters, digits and underscores, a letter first, at most 40 "
                f"characters: it also names a file; got {name!r:.60}"
            )
        return name

    @model_validator(mode="after")
    def _floats(self) -> Self:
        for p in self.parameters:
            if p.kind != "float":
                raise ValueError(f"parameter {p.name!r} of coded action {self.name!r} must be a float, got {p.kind}")
            if not (math.isfinite(p.low or 0.0) and math.isfinite(p.high or 0.0)):
                raise ValueError(f"the range of {p.name!r} of coded action {self.name!r} must be finite")
        return self

    def with_defaults(self, values: Mapping[str, float]) -> CodedAction:
        """Copy a coded action with other defaults of its parameters.

        A new default outside the range of its parameter becomes the nearest bound. A new default that differs from the
        old default by less than a millionth of the range changes nothing, because single-precision numbers cause such
        differences. A new default that is not a number changes nothing.

        :param values: for some parameters, the new default.
        """
        own = self.parameters
        new = tuple(p.with_default(values[p.name]) if p.name in values else p for p in own)
        return self.model_copy(update={"parameters": new}) if new != own else self


class RLSetup(Value):
    """The setup of the reinforcement learning. An evaluation ignores the setup's horizon and start states, and uses the
    task's own horizon, reset and success.
    """

    reward_weights: Mapping[str, float] = Field(description="weight of each of the plugin's reward terms used")
    observation_keys: tuple[str, ...] = Field(description="observation or view keys the policy sees, in order")
    base_actions: tuple[str, ...] | None = Field(default=None, description="labels kept; None keeps all, () none")
    coded_actions: tuple[Name, ...] = Field(default=(), description="coded actions the policy may choose")
    horizon: int | None = Field(default=None, ge=1, description="of training, in primitive steps; None: the task's own")
    gamma: float = Field(default=0.99, gt=0, le=1, description="discount per primitive step")
    reset_option: str | None = Field(
        default=None, description="a reset option of the plugin, or after:ACTION; None: the task's own"
    )
    reason: str = ""
    reset_share: float = Field(
        default=0.5, gt=0, le=1, description="of training episodes, that begins at the reset option"
    )
    trainer: Mapping[str, float] = Field(
        default_factory=dict, description="hyperparameter -> value, within the bounds that the plugin states"
    )
    interrupt_every: int | None = Field(
        default=None,
        ge=1,
        description="primitive steps of a coded action after which the policy decides again; None: when it ends",
    )
    residual: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="largest correction that the policy adds to each number of a coded action's step, as a share of "
        "half its range; only where the action space is a Box",
    )
    plan_prior: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="probability of the next choice of the plan's code in a policy that has learned nothing; 0: every "
        "choice has the same",
    )

    @property
    def start_after(self) -> str | None:
        """The coded action after which training episodes begin, if ``reset_option`` names one."""
        name = self.reset_option or ""
        return name.removeprefix(AFTER) if name.startswith(AFTER) else None

    @model_serializer(mode="wrap")
    def _only_set(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit newer fields of a setup that have their defaults, so that prompts and records of earlier versions do not
        change.
        """
        plain: dict[str, Any] = handler(self)
        return {key: value for key, value in plain.items() if key not in _NEWER or value != _NEWER[key]}


_NEWER: Mapping[str, Any] = {
    "reset_share": 0.5,
    "trainer": {},
    "interrupt_every": None,
    "residual": 0.0,
    "plan_prior": 0.0,
}
