"""Coded functions, which are the features, reward terms and predicates that run at every primitive step. Only the
sandbox runs the source of a coded function; for all other code, the source is data.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from rlgpt.domain.values import Name, Value

Finite = Annotated[float, Field(allow_inf_nan=False)]


def _ordered(what: str, low: float, high: float) -> None:
    if not low < high:
        raise ValueError(f"{what} needs low < high, got {low} and {high}")


class Output(Value):
    """The definition of one number that a coded feature computes at each step. The number of a coded feature is clipped
    into ``[low, high]``.
    """

    name: Name
    low: Finite
    high: Finite
    unit: str = ""
    doc: str = ""

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        _ordered(f"output {self.name!r}", self.low, self.high)
        return self

    @property
    def neutral(self) -> float:
        """The number that replaces the output of a failed coded feature, which is the number nearest to 0 within the
        bounds.
        """
        return neutral(self.low, self.high)


def neutral(low: float, high: float) -> float:
    """The number in ``[low, high]`` that is nearest to 0."""
    return min(max(0.0, low), high)


class _Function(Value):
    """A coded function. The arguments of a coded function are the view and ``memory``, a dict that exists until the
    episode ends.
    """

    entry: ClassVar[str]
    name: Name
    doc: str = Field(default="", max_length=2000)
    source: str


class CodedFeatures(_Function):
    """A coded feature. ``def features(view, memory) -> dict`` returns a number for each of ``outputs``.

    The policy may observe the numbers of a coded feature, and other code reads these numbers as keys of the view.
    """

    entry: ClassVar[str] = "features"
    type: Literal["features"] = "features"
    outputs: tuple[Output, ...] = Field(min_length=1, max_length=32)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [o.name for o in self.outputs]
        if len(set(names)) != len(names):
            raise ValueError(f"outputs of {self.name!r} must differ, got {names}")
        return self


class CodedReward(_Function):
    """A coded reward term. ``def reward(view, memory) -> float`` returns the value of the reward term, which is clipped
    into ``[low, high]``.

    :ivar kind: kind of the coded reward term, as in :class:`rlgpt.plugin.types.RewardTerm`.
    """

    entry: ClassVar[str] = "reward"
    type: Literal["reward"] = "reward"
    kind: Literal["potential", "step", "event"] = "potential"
    low: Finite = 0.0
    high: Finite = 1.0

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        _ordered(f"reward {self.name!r}", self.low, self.high)
        return self


class CodedPredicate(_Function):
    """A coded predicate. ``def done(view, memory) -> bool`` returns whether a sub-goal is reached."""

    entry: ClassVar[str] = "done"
    type: Literal["predicate"] = "predicate"


CodedFunction = Annotated[CodedFeatures | CodedReward | CodedPredicate, Field(discriminator="type")]
"""Any coded function. The field ``type`` says which class a record has."""
