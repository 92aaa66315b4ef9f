"""The replies that language models give, and how they become values of the domain.

The descriptions of the fields are part of the prompts. Each reply begins with ``thoughts``: a model that has to answer
before it reasons answers worse.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    Critique,
    Finding,
    Name,
    Parameter,
    Review,
    RLSetup,
    SubAction,
    Value,
)

Thoughts = Annotated[str, Field(max_length=20_000, description="your reasoning, before you decide; a few sentences")]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class SubActionReply(Value):
    name: Name
    description: str = Field(min_length=10, max_length=2000)
    kind: Literal["code", "rl"]
    reason: str = Field(max_length=1000)

    def value(self) -> SubAction:
        return SubAction.model_validate(self.model_dump())


class PlanReply(Value):
    """The slow agent's reply."""

    thoughts: Thoughts
    sub_actions: tuple[SubActionReply, ...] = Field(min_length=1, max_length=12)

    def value(self) -> ActionPlan:
        """:raises ValueError: two sub-actions have the same name."""
        return ActionPlan(thoughts=self.thoughts, sub_actions=tuple(s.value() for s in self.sub_actions))


class ParameterReply(Value):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "dx", "low": -0.2, "high": 0.2, "default": 0.05, "unit": "m", "doc": "along x"}]
        }
    )

    name: Name
    low: Finite
    high: Finite
    default: Finite
    unit: str = Field(default="", max_length=40)
    doc: str = Field(default="", max_length=300)

    def value(self) -> Parameter:
        """:raises ValueError: the range is empty, or the default is outside it."""
        return Parameter(**self.model_dump())


class SignatureReply(Value):
    """A coded action without its name and source."""

    doc: str = Field(min_length=1, max_length=1500, description="for people and the other agents")
    parameters: tuple[ParameterReply, ...] = Field(
        default=(), max_length=8, description="numbers the policy sets; the arguments of run, in the same order"
    )
    max_steps: int = Field(ge=1, le=10_000, description="primitive steps after which a call is ended")

    def action(self, name: str, source: str) -> CodedAction:
        """:raises ValueError: a parameter is not valid."""
        parameters = tuple(p.value() for p in self.parameters)
        return CodedAction(name=name, doc=self.doc, source=source, parameters=parameters, max_steps=self.max_steps)


class Thinking(Value):
    thoughts: Thoughts


class ActionReply(SignatureReply, Thinking):
    """The fast agent's reply: one coded action."""

    source: str

    def value(self, name: str) -> CodedAction:
        return self.action(name, self.source)


class SetupReply(Value):
    """The fast agent's reply: how the policy learns."""

    reward_weights: dict[str, Finite] = Field(min_length=1, description="reward term -> weight, -100 to 100")
    observation_keys: tuple[str, ...] = Field(min_length=1, description="what the policy sees")
    base_actions: tuple[str, ...] | None = Field(description="labels kept; null keeps all, [] none")
    coded_actions: tuple[Name, ...] = Field(description="coded actions the policy may choose")
    horizon: int | None = Field(default=None, ge=1, description="training horizon, primitive steps; null: the task's")
    gamma: Finite = Field(default=0.99, description="discount per primitive step, 0.9 to 1")
    reset_option: str | None = Field(default=None, description="start state for training; null: the task's own")
    reason: str = Field(max_length=2000)

    def value(self) -> RLSetup:
        return RLSetup.model_validate(self.model_dump())


class FindingReply(Value):
    action: str = Field(default="", max_length=80, description='the action it is about; "" for the whole')
    problem: str = Field(min_length=1, max_length=1500)
    suggestion: str = Field(max_length=1500)

    def value(self) -> Finding:
        return Finding(**self.model_dump())


class ReviewReply(Value):
    """The critic's reply about one rehearsal."""

    thoughts: Thoughts
    works: bool
    findings: tuple[FindingReply, ...] = Field(default=(), max_length=6)

    def value(self) -> Review:
        return Review(works=self.works, findings=tuple(f.value() for f in self.findings))


class CritiqueReply(Value):
    """The critic's reply about an iteration."""

    thoughts: Thoughts
    summary: str = Field(min_length=1, max_length=2000)
    for_slow: tuple[FindingReply, ...] = Field(default=(), max_length=8, description="about the plan")
    for_fast: tuple[FindingReply, ...] = Field(default=(), max_length=8, description="about code and learning setup")

    def value(self) -> Critique:
        slow, fast = (tuple(f.value() for f in findings) for findings in (self.for_slow, self.for_fast))
        return Critique(summary=self.summary, for_slow=slow, for_fast=fast)


class Named(Value):
    name: Name = Field(description="of a sub-action of kind code")


class NamedSignatureReply(SignatureReply, Named):
    """A signature with its name."""


class SoloReply(Value):
    """The single agent's reply: plan, actions and setup. One Python block holds every source, each after its name."""

    thoughts: Thoughts
    sub_actions: tuple[SubActionReply, ...] = Field(min_length=1, max_length=12)
    actions: tuple[NamedSignatureReply, ...] = Field(max_length=12, description="one for each sub-action of kind code")
    setup: SetupReply
    source: str = Field(default="", description="the sources of all coded actions, each begun by `# action: NAME`")

    def plan(self) -> ActionPlan:
        """:raises ValueError: two sub-actions have the same name."""
        return ActionPlan(thoughts=self.thoughts, sub_actions=tuple(s.value() for s in self.sub_actions))

    def coded(self) -> dict[str, CodedAction]:
        """Name -> coded action, for each action that has a source.

        :raises ValueError: a parameter is not valid.
        """
        sources = split_sources(self.source)
        return {a.name: a.action(a.name, sources[a.name]) for a in self.actions if a.name in sources}


_SECTION = re.compile(r"^#+ *action: *`?([a-z][a-z0-9_]*)`?.*$", re.MULTILINE)


def split_sources(source: str) -> dict[str, str]:
    """Name -> source, from a block in which each source follows a line ``# action: NAME``."""
    pieces = _SECTION.split(source)
    return {name: text.strip("\n") + "\n" for name, text in zip(pieces[1::2], pieces[2::2], strict=True)}
