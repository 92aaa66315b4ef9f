"""The slow agent with a language model. The slow agent decides which sub-actions are coded and which are learned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rlgpt.agents import history_text
from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief, History, SlowAgent
from rlgpt.agents.checks import plan_faults
from rlgpt.agents.history_text import kept_action
from rlgpt.agents.mode import Mode
from rlgpt.agents.replies import PlanReply
from rlgpt.domain import ActionPlan, CodedAction, FunctionPlan, SubAction, Value
from rlgpt.llm.base import LLM, RequestKey
from rlgpt.skills import Offered


class LLMSlow(SlowAgent):
    """The slow agent with a language model. The model reads the brief and, from the second iteration on, the history.

    :param prompts: the folder with the user's own prompts (see :class:`~rlgpt.agents.prompt.Prompt`); None if the user
        has none.
    """

    def __init__(self, llm: LLM, mode: Mode | None = None, *, prompts: Path | None = None) -> None:
        self._ask, self._mode = Asker(llm, "slow", prompts), mode or Mode()

    def plan(self, brief: Brief, history: History) -> ActionPlan:
        iteration = len(history)
        plan = self._ask(
            brief,
            RequestKey(task=brief.task.id, iteration=iteration, role="slow", plan=brief.plan),
            ("evidence", "role", "reply"),
            {"history": history_text.for_slow(history), "mode": self._mode.text(iteration, brief)},
            PlanReply,
            value=PlanReply.plan,
            faults=lambda plan: plan_faults(plan, brief, history),
            measured={**history_text.measured(history), **self._mode.measured()},
        )
        return with_kept(plan, history, brief.skills)


def with_kept(plan: ActionPlan, history: History, offered: Sequence[Offered] = ()) -> ActionPlan:
    """Complete ``plan``. A reply may leave out the descriptions and reasons of kept code, so the function copies them
    from ``history`` or from the offered skills. The function also adds the features that the kept code of skills reads.
    """

    def completed(value: Value, earlier: Value | None) -> Value:
        missing = [f for f in ("description", "reason") if not getattr(value, f)]
        if earlier is None or not missing:
            return value
        return value.model_copy(update={f: getattr(earlier, f) for f in missing})

    actions = {a.name: _taken(a, skill) for skill in reversed(offered) for a in skill.actions}
    actions |= {s.name: s for it in history for s in it.plan.coded if s.description}
    functions = {f.name: f for it in history for f in it.plan.functions if f.description}
    return plan.model_copy(
        update={
            "sub_actions": tuple(completed(s, actions.get(s.name) if s.keep else None) for s in plan.sub_actions),
            "functions": (
                *(completed(f, functions.get(f.name) if f.keep else None) for f in plan.functions),
                *_features(plan, history, offered),
            ),
        }
    )


def _taken(action: CodedAction, skill: Offered) -> SubAction:
    proof = f"the skill {skill.id} proved it" + (", with the names of its own task" if skill.changed else "")
    return SubAction(name=action.name, description=action.doc, kind="code", reason=proof)


def _features(plan: ActionPlan, history: History, offered: Sequence[Offered]) -> Iterator[FunctionPlan]:
    """The features that kept, unchanged actions of skills read, and that the plan does not name."""
    named = {f.name for f in plan.functions}
    kept = {s.name for s in plan.coded if s.keep}
    for skill in offered:
        for action in skill.actions:
            if action.name in kept and kept_action(history, action.name, offered) == action:
                for feature in skill.needed_by(action):
                    if feature.name not in named:
                        named.add(feature.name)
                        yield FunctionPlan(
                            name=feature.name,
                            kind="feature",
                            description=feature.doc,
                            reason=f"{action.name} reads it",
                            keep=True,
                        )
