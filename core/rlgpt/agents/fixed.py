"""Agents without a language model, for ablations. The agents of this module use a fixed plan, primitives as actions,
and no critic.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from rlgpt.agents.base import Brief, Critic, Evidence, FastAgent, History, Outcome, Shot, SlowAgent
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
from rlgpt.plugin.types import Primitive

MAX_VARIANTS = 32
"""Maximal number of coded actions that are made from one primitive. There is one action for each combination of the
values of the primitive's ``bool`` and ``choice`` arguments.
"""

MAX_PARAMETERS = 8
"""Maximal number of arguments of a primitive that the policy sets. All further arguments keep their defaults."""


class FixedPlan(SlowAgent):
    """A slow agent that returns the same plan in every iteration."""

    def __init__(self, plan: ActionPlan) -> None:
        self._plan = plan

    def plan(self, brief: Brief, history: History) -> ActionPlan:
        return self._plan


class FixedActions(FastAgent):
    """A fast agent with fixed actions. Its setup is the plugin's default setup with all coded actions of the iteration,
    and without a preference for their order.
    """

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
        """Return the fixed coded action that has the name of the sub-action. A repair returns the same code again,
        because this agent cannot repair code.

        :raises UnknownNameError: there is no fixed action with this name.
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
        names = tuple(a.name for a in actions)
        # The order of the primitives is not a plan, so a fresh policy does not prefer this order.
        own = {"coded_actions": names, "plan_prior": 0.0, "reason": "the plugin's defaults"}
        return brief.default_setup.model_copy(update=own)


class NoCritic(Critic):
    """A critic that accepts every rehearsal without a verdict, and never writes findings."""

    def review(
        self,
        brief: Brief,
        sub_action: SubAction,
        rehearsal: Rehearsal,
        *,
        iteration: int,
        evidence: Evidence = "text",
        frames: Sequence[Shot] = (),
    ) -> Review:
        return Review(works=rehearsal.verdict is None)

    def critique(self, brief: Brief, outcome: Outcome, history: History) -> Critique:
        return Critique(summary=f"No critic took part. Success was {outcome.evaluation.success_rate:.2f}.")


def rl_plan() -> ActionPlan:
    """A plan whose only sub-action is the whole task, with the kind ``rl``."""
    task = SubAction(name="whole_task", description="the whole task", kind="rl", reason="pure reinforcement learning")
    return ActionPlan(sub_actions=(task,))


def primitives_plan(actions: Sequence[CodedAction]) -> ActionPlan:
    """A plan with one coded action for each primitive. With this plan, the policy learns which primitive to choose."""
    coded = (
        SubAction(name=a.name, description=a.doc, kind="code", reason="a primitive of the plugin") for a in actions
    )
    choice = SubAction(name="whole_task", description="which primitive when", kind="rl", reason="no agent plans here")
    return ActionPlan(sub_actions=(*coded, choice))


def primitive_actions(primitives: Sequence[Primitive], taken: Sequence[str] = ()) -> tuple[CodedAction, ...]:
    """Coded actions that call one primitive each. The parameters of such a coded action are the primitive's numerical
    arguments.

    A ``float`` or ``int`` argument of a primitive becomes a parameter of the coded action; the value for an ``int`` is
    rounded. Each value of a ``bool`` or ``choice`` argument becomes a separate coded action (``go_up``, ``go_down``),
    up to :data:`MAX_VARIANTS` coded actions for a primitive. Further arguments keep their defaults.

    :param taken: names of base actions. A coded action whose name is already taken gets the prefix ``do_``.
    :raises ConfigError: two actions would have the same name.
    """
    actions = tuple(action for p in primitives for action in _variants(p, {*taken, "base"}))
    names = [a.name for a in actions]
    if len(set(names)) < len(names):
        raise ConfigError(
            f"two primitives become actions of the same name; the names are {sorted(names)}. "
            "Rename a primitive or a choice."
        )
    return actions


def _variants(primitive: Primitive, taken: set[str]) -> Iterator[CodedAction]:
    numbers = [p for p in primitive.parameters if p.kind in ("float", "int")][:MAX_PARAMETERS]
    varied: list[tuple[Parameter, tuple[Scalar, ...]]] = []
    count = 1
    for p in primitive.parameters:
        values: tuple[Scalar, ...] = (False, True) if p.kind == "bool" else p.choices if p.kind == "choice" else ()
        if values and count * len(values) <= MAX_VARIANTS:
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
    arguments = ", ".join(f"{key}={value!r}" for key, value in fixed.items())
    return (primitive.doc + (f" With {arguments}." if arguments else ""))[:2000]


def _source(primitive: str, numbers: Sequence[Parameter], fixed: Mapping[str, Scalar]) -> str:
    signature = ", ".join(f"{p.name}={float(p.default)!r}" for p in numbers)
    arguments = [f"{p.name}=round({p.name})" if p.kind == "int" else f"{p.name}={p.name}" for p in numbers]
    arguments += [f"{key}={value!r}" for key, value in fixed.items()]
    return f"def run({signature}):\n    yield {primitive}({', '.join(arguments)})\n"


def _parameter(p: Parameter) -> Parameter:
    return p.model_copy(update={"kind": "float", "default": float(p.default)})
