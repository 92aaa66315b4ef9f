"""Agents without a language model, for the ablations: a fixed plan, primitives as actions, no critic."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from rlgpt.agents.base import Brief, Critic, FastAgent, History, Outcome, SlowAgent
from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    Critique,
    Parameter,
    Rehearsal,
    Review,
    RLSetup,
    Scalar,
    SubAction,
)
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.plugin.base import Primitive

VARIANTS = 32
"""Coded actions that one primitive may become: one for each value of its ``bool`` and ``choice`` arguments."""

PARAMETERS = 8
"""Arguments of a primitive that the policy sets; the rest stay at their defaults."""


class FixedPlan(SlowAgent):
    """The same plan in every iteration."""

    def __init__(self, plan: ActionPlan) -> None:
        self._plan = plan

    def plan(self, brief: Brief, history: History) -> ActionPlan:
        return self._plan


class FixedActions(FastAgent):
    """Actions that are there already, learnt with under the plugin's default setup."""

    def __init__(self, actions: Sequence[CodedAction] = ()) -> None:
        self._actions = {a.name: a for a in actions}

    def write(
        self,
        brief: Brief,
        plan: ActionPlan,
        sub_action: SubAction,
        *,
        written: Sequence[CodedAction],
        attempts: Sequence[Rehearsal],
        history: History,
    ) -> CodedAction:
        """The action of that name, whatever became of earlier attempts: nobody repairs here.

        :raises UnknownNameError: there is none.
        """
        if sub_action.name not in self._actions:
            raise UnknownNameError("fixed action", sub_action.name, self._actions)
        return self._actions[sub_action.name]

    def setup(
        self,
        brief: Brief,
        plan: ActionPlan,
        *,
        actions: Sequence[CodedAction],
        history: History,
        rehearsals: Mapping[str, Sequence[Rehearsal]] | None = None,
    ) -> RLSetup:
        return brief.default_setup.model_copy(
            update={"coded_actions": tuple(a.name for a in actions), "reason": "the plugin's defaults"}
        )


class NoCritic(Critic):
    """A rehearsal works where no verdict stopped it; an iteration's figures speak for themselves."""

    def review(self, brief: Brief, sub_action: SubAction, rehearsal: Rehearsal, *, iteration: int) -> Review:
        return Review(works=rehearsal.verdict is None)

    def critique(self, brief: Brief, outcome: Outcome, history: History) -> Critique:
        return Critique(summary=f"No critic took part. Success was {outcome.evaluation.success_rate:.2f}.")


def rl_plan() -> ActionPlan:
    """Everything is learnt."""
    whole = SubAction(name="whole_task", description="the whole task", kind="rl", reason="pure reinforcement learning")
    return ActionPlan(sub_actions=(whole,))


def primitives_plan(actions: Sequence[CodedAction]) -> ActionPlan:
    """Every primitive is an action; when to use which is learnt."""
    coded = (
        SubAction(name=a.name, description=a.doc, kind="code", reason="a primitive of the plugin") for a in actions
    )
    choice = SubAction(name="whole_task", description="which primitive when", kind="rl", reason="no agent plans here")
    return ActionPlan(sub_actions=(*coded, choice))


def primitive_actions(primitives: Sequence[Primitive], taken: Sequence[str] = ()) -> tuple[CodedAction, ...]:
    """Each primitive as coded actions whose parameters are its numbers.

    Floats become parameters; ints too, rounded. Of ``bool`` and ``choice`` arguments each value becomes an action of
    its own (``go_up``, ``go_down``) as long as a primitive has at most :data:`VARIANTS`; further ones stay at their
    defaults.

    :param taken: names that are in use (base actions); an action of such a name gets a ``do_`` before it.
    :raises ConfigError: two actions would have one name.
    """
    actions = tuple(action for p in primitives for action in _variants(p, {*taken, "base"}))
    names = [a.name for a in actions]
    if len(set(names)) < len(names):
        raise ConfigError(
            f"primitives become actions of the same name: {sorted(names)}. Rename a primitive or a choice."
        )
    return actions


def _variants(primitive: Primitive, taken: set[str]) -> Iterator[CodedAction]:
    numbers = [p for p in primitive.parameters if p.kind in ("float", "int")][:PARAMETERS]
    varied: list[tuple[Parameter, tuple[Scalar, ...]]] = []
    count = 1
    for p in primitive.parameters:
        values: tuple[Scalar, ...] = (False, True) if p.kind == "bool" else p.choices if p.kind == "choice" else ()
        if values and count * len(values) <= VARIANTS:
            varied.append((p, values))
            count *= len(values)
    for combination in itertools.product(*(values for _, values in varied)):
        fixed = {p.name: value for (p, _), value in zip(varied, combination, strict=True)}
        yield CodedAction(
            name=_name(primitive.name, fixed, taken),
            doc=_doc(primitive, fixed),
            source=_source(primitive.name, numbers, fixed),
            parameters=tuple(_parameter(p) for p in numbers),
            max_steps=primitive.max_steps,
        )


def _name(primitive: str, fixed: Mapping[str, Scalar], taken: set[str]) -> str:
    suffixes = [
        (f"no_{key}" if not value else key) if isinstance(value, bool) else value for key, value in fixed.items()
    ]
    words = [primitive, *(re.sub(r"[^a-z0-9]+", "_", str(s).lower()).strip("_") for s in suffixes)]
    name = "_".join(words)[:40]
    return f"do_{name}"[:40] if name in taken else name


def _doc(primitive: Primitive, fixed: Mapping[str, Scalar]) -> str:
    told = ", ".join(f"{key}={value!r}" for key, value in fixed.items())
    return (primitive.doc + (f" With {told}." if told else ""))[:2000]


def _source(primitive: str, numbers: Sequence[Parameter], fixed: Mapping[str, Scalar]) -> str:
    signature = ", ".join(f"{p.name}={float(p.default)!r}" for p in numbers)
    arguments = [f"{p.name}=round({p.name})" if p.kind == "int" else f"{p.name}={p.name}" for p in numbers]
    arguments += [f"{key}={value!r}" for key, value in fixed.items()]
    return f"def run({signature}):\n    yield {primitive}({', '.join(arguments)})\n"


def _parameter(p: Parameter) -> Parameter:
    return p.model_copy(update={"kind": "float", "default": float(p.default)})
