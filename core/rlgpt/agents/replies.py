"""Defines the schemas of the replies of language models, and converts replies into values of :mod:`rlgpt.domain`.

The descriptions of the schemas' fields are part of the prompts. Each reply except that with a setup begins with
``thoughts``, because the answers of a model are worse if it has to answer before it reasons.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from rlgpt.agents.edits import is_patch, patched
from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    CodedFeatures,
    CodedFunction,
    CodedPredicate,
    CodedReward,
    Critique,
    Finding,
    FunctionPlan,
    Name,
    Output,
    Parameter,
    Review,
    RLSetup,
    SubAction,
    Value,
)
from rlgpt.plugin.defaults import GUIDED

Thoughts = Annotated[str, Field(max_length=20_000, description="your reasoning, before you decide; a few sentences")]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class SubActionReply(Value):
    name: Name = Field(description="no name of a primitive or of a base action; an action that stays keeps its name")
    kind: Literal["code", "rl"]
    keep: bool = Field(
        default=False,
        description="of code: true where the newest code of this name stays as it is, the description with it",
    )
    description: str = Field(
        default="",
        max_length=2000,
        description=(
            "needed unless it is kept: what the fast agent needs to write it without asking: where it may be started, "
            "what it does with which primitives, its parameters (name, unit, range), when it ends, what is then true. "
            "Of rl: what the policy has to find out, and which reward term pays for it"
        ),
    )
    reason: str = Field(default="", max_length=1000, description="why this kind, in a sentence")

    def value(self) -> SubAction:
        return SubAction.model_validate(self.model_dump())


class FunctionPlanReply(Value):
    name: Name = Field(description="differs from the names of all sub-actions, outputs, view keys and reward terms")
    kind: Literal["feature", "reward", "predicate"]
    keep: bool = Field(default=False, description="as of a sub-action")
    description: str = Field(
        default="",
        max_length=2000,
        description="needed unless it is kept: what it computes from which keys of the view; outputs with their ranges",
    )
    reason: str = Field(default="", max_length=1000, description="which choice or which code needs it")

    def value(self) -> FunctionPlan:
        return FunctionPlan.model_validate(self.model_dump())


MAX_FUNCTIONS = 6


class _Planning(Value):
    """The fields of a reply that contains a plan."""

    thoughts: Thoughts
    sub_actions: tuple[SubActionReply, ...] = Field(
        min_length=1, max_length=12, description="in the order in which they would be used"
    )
    functions: tuple[FunctionPlanReply, ...] = Field(
        default=(), max_length=MAX_FUNCTIONS, description="features, rewards, predicates; mostly none"
    )

    def plan(self) -> ActionPlan:
        """The plan of this reply.

        :raises ValueError: two sub-actions or coded functions of the plan have the same name.
        """
        return ActionPlan(
            thoughts=self.thoughts,
            sub_actions=tuple(s.value() for s in self.sub_actions),
            functions=tuple(f.value() for f in self.functions),
        )


class PlanReply(_Planning):
    """A reply of the slow agent with a plan."""


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
        """The parameter of this reply.

        :raises ValueError: the range of the parameter is empty, or the default is outside the range.
        """
        return Parameter(**self.model_dump())


class SignatureReply(Value):
    """A coded action without its name and source."""

    doc: str = Field(
        min_length=1,
        max_length=1500,
        description="one to three sentences: where it may start, what it does, what is true afterwards",
    )
    parameters: tuple[ParameterReply, ...] = Field(
        default=(),
        max_length=8,
        description="numbers that the policy sets, which are the arguments of run; mostly none",
    )
    max_steps: int = Field(ge=1, le=1_000_000, description="primitive steps after which a call is ended")

    def action(self, name: str, source: str) -> CodedAction:
        """The coded action that has the signature in this reply and the given name and source.

        :raises ValueError: a parameter is not valid.
        """
        parameters = tuple(p.value() for p in self.parameters)
        return CodedAction(name=name, doc=self.doc, source=source, parameters=parameters, max_steps=self.max_steps)


class Thinking(Value):
    thoughts: Thoughts


class ActionReply(SignatureReply, Thinking):
    """A reply of the fast agent with one coded action."""

    source: str

    def value(self, name: str, earlier: CodedAction | None = None) -> CodedAction:
        """The coded action of this reply.

        :param earlier: the earlier version of the coded action, to which edits in the reply apply; None if no earlier
            version exists.
        :raises ValueError: a parameter is not valid, an edit does not match the earlier source, or no earlier version
            exists to which an edit could apply.
        """
        return self.action(name, _whole(self.source, earlier))


class RepairReply(Thinking):
    """A reply of the fast agent with a repair."""

    doc: str | None = Field(default=None, max_length=1500, description="null: as it was")
    parameters: tuple[ParameterReply, ...] | None = Field(default=None, max_length=8, description="null: as they were")
    max_steps: int | None = Field(default=None, ge=1, le=1_000_000, description="null: as it was")
    source: str

    def value(self, last: CodedAction) -> CodedAction:
        """The repaired action.

        :raises ValueError: a parameter is not valid, or an edit does not match the source of the failed attempt.
        """
        return CodedAction(
            name=last.name,
            doc=self.doc or last.doc,
            source=_whole(self.source, last),
            parameters=last.parameters if self.parameters is None else tuple(p.value() for p in self.parameters),
            max_steps=self.max_steps or last.max_steps,
        )


def _whole(source: str, earlier: CodedAction | CodedFunction | None) -> str:
    if not is_patch(source):
        return source
    if earlier is None:
        raise ValueError("there is no earlier source to edit; send the whole source")
    return patched(earlier.source, source)


class OutputReply(Value):
    name: Name
    low: Finite
    high: Finite
    unit: str = Field(default="", max_length=40)
    doc: str = Field(default="", max_length=300)


class FunctionReply(Thinking):
    """A reply of the fast agent with one feature, reward term or predicate."""

    doc: str = Field(min_length=1, max_length=1500, description="what its numbers say, for people and the other agents")
    outputs: tuple[OutputReply, ...] = Field(
        default=(), max_length=32, description="of a feature: the numbers that it returns, with their ranges"
    )
    pays: Literal["potential", "step", "event"] = Field(default="potential", description="of a reward: how it pays")
    low: Finite = Field(default=0.0, description="of a reward: the least that it returns")
    high: Finite = Field(default=1.0, description="of a reward: the most that it returns")
    source: str

    def value(self, plan: FunctionPlan, earlier: CodedFunction | None = None) -> CodedFunction:
        """The function that ``plan`` asks for.

        :param earlier: the earlier version of the coded function, to which edits in the reply apply; None if no earlier
            version exists.
        :raises ValueError: a range is empty, a feature has no outputs, or an edit does not match the earlier source.
        """
        name, doc, source = plan.name, self.doc, _whole(self.source, earlier)
        if plan.kind == "feature":
            outputs = tuple(Output(**o.model_dump()) for o in self.outputs)
            return CodedFeatures(name=name, doc=doc, source=source, outputs=outputs)
        if plan.kind == "reward":
            return CodedReward(name=name, doc=doc, source=source, kind=self.pays, low=self.low, high=self.high)
        return CodedPredicate(name=name, doc=doc, source=source)


class SetupReply(RLSetup):
    """A reply of the fast agent with the setup of the learning. The reply must set the fields that a setup may
    otherwise leave unset, except for the fields of :data:`rlgpt.plugin.defaults.GUIDED`.
    """

    reward_weights: dict[str, Finite] = Field(min_length=1, description="reward term -> weight, -100 to 100")
    observation_keys: tuple[str, ...] = Field(min_length=1, description="what the policy sees")
    base_actions: tuple[str, ...] | None = Field(description="labels kept; null keeps all, [] none")
    coded_actions: tuple[Name, ...] = Field(description="coded actions the policy may choose")
    reason: str = Field(max_length=2000, description="why, in two or three sentences")

    def value(self, default: RLSetup) -> RLSetup:
        """The setup of this reply. The fields of :data:`~rlgpt.plugin.defaults.GUIDED` that the reply leaves out get
        their values from ``default``.
        """
        left_out = {name: getattr(default, name) for name in GUIDED if name not in self.model_fields_set}
        return RLSetup.model_validate({**self.model_dump(), **left_out})


class FindingReply(Value):
    action: str = Field(default="", max_length=80, description='the action it is about; "" for the whole')
    problem: str = Field(min_length=1, max_length=1500)
    suggestion: str = Field(max_length=1500)

    def value(self) -> Finding:
        return Finding(**self.model_dump())


class ReviewReply(Value):
    """A reply of the critic with the review of one rehearsal."""

    thoughts: Thoughts
    works: bool
    findings: tuple[FindingReply, ...] = Field(default=(), max_length=6)

    def value(self) -> Review:
        return Review(works=self.works, findings=tuple(f.value() for f in self.findings))


class CritiqueReply(Value):
    """A reply of the critic with the critique of an iteration."""

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
    """A coded action without its source."""


class SoloReply(_Planning):
    """A reply of the single agent with plan, actions and setup. One Python block has the sources of all actions."""

    actions: tuple[NamedSignatureReply, ...] = Field(
        max_length=12, description="one for each sub-action of kind code that is not kept"
    )
    setup: SetupReply
    source: str = Field(default="", description="the sources of all coded actions, each begun by `# action: NAME`")

    def coded(self) -> dict[str, CodedAction]:
        """The coded actions of the reply that have a source, by name.

        :raises ValueError: a parameter is not valid.
        """
        sources = split_sources(self.source)
        return {a.name: a.action(a.name, sources[a.name]) for a in self.actions if a.name in sources}


_SECTION = re.compile(r"^#+ *action: *`?([a-z][a-z0-9_]*)`?.*$", re.MULTILINE)


def split_sources(source: str) -> dict[str, str]:
    """Split a block of code with the sources of several coded actions. A comment line with the word ``action`` and the
    action's name precedes each source. The result is a dict from name to source.
    """
    pieces = _SECTION.split(source)
    return {name: text.strip("\n") + "\n" for name, text in zip(pieces[1::2], pieces[2::2], strict=True)}
