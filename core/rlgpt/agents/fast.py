"""The fast agent: a language model writes and repairs coded actions, and sets up the learning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rlgpt.agents import history as told
from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief, FastAgent, History
from rlgpt.agents.checks import action_faults, setup_faults
from rlgpt.agents.mode import Mode
from rlgpt.agents.replies import ActionReply, SetupReply
from rlgpt.agents.text import code_block, shorten
from rlgpt.agents.traces import failure_of, render_rehearsal
from rlgpt.domain import ActionPlan, CodedAction, Plain, Rehearsal, RLSetup, SubAction
from rlgpt.llm.base import LLM, RequestKey
from rlgpt.sandbox import Library, SandboxLimits


class LLMFast(FastAgent):
    """Writes against a library: what lint finds goes back to the model before anything runs."""

    def __init__(
        self,
        llm: LLM,
        library: Library,
        budgets: SandboxLimits | None = None,
        mode: Mode | None = None,
        *,
        setup_llm: LLM | None = None,
    ) -> None:
        self._library, self._budgets, self._mode = library, budgets or SandboxLimits(), mode or Mode()
        self._code, self._learning = Asker(llm, "fast"), Asker(setup_llm or llm, "setup")

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
        """:raises rlgpt.errors.LLMError: no source that lint accepts after every retry."""

        def named(reply: ActionReply) -> CodedAction:
            return reply.value(sub_action.name)

        parts = ("system", "user", "repair", "reply") if attempts else ("system", "user", "reply")
        iteration = len(history)
        return self._code(
            brief,
            RequestKey(
                task=brief.task.id, iteration=iteration, role="fast", sub_action=sub_action.name, attempt=len(attempts)
            ),
            parts,
            {
                "mode": self._mode.text(iteration),
                "plan": told.render_plan(plan),
                "written": render_written(a for a in written if a.name != sub_action.name),
                "history": told.for_action(history, sub_action.name),
                "name": sub_action.name,
                "description": sub_action.description,
                "reason": sub_action.reason,
                **(repair_slots(attempts) if attempts else {}),
            },
            ActionReply,
            value=named,
            faults=lambda action: action_faults(action, self._library, self._budgets, brief.task.horizon),
            measured=repair_measured(attempts) if attempts else {**told.measured(history), **self._mode.measured()},
        )

    def setup(
        self,
        brief: Brief,
        plan: ActionPlan,
        *,
        actions: Sequence[CodedAction],
        history: History,
        rehearsals: Mapping[str, Sequence[Rehearsal]] | None = None,
    ) -> RLSetup:
        """:raises rlgpt.errors.LLMError: no valid setup after every retry."""
        iteration = len(history)
        return self._learning(
            brief,
            RequestKey(task=brief.task.id, iteration=iteration, role="setup"),
            ("system", "user", "reply"),
            {
                "mode": self._mode.text(iteration),
                "plan": told.render_plan(plan),
                "actions": render_written(actions, rehearsals),
                "history": told.for_setup(history),
            },
            SetupReply,
            value=SetupReply.value,
            faults=lambda setup: setup_faults(setup, brief, actions),
            measured={**told.measured(history), **self._mode.measured()},
        )


def render_written(
    actions: Iterable[CodedAction],
    rehearsals: Mapping[str, Sequence[Rehearsal]] | None = None,
    limit: int = 10_000,
) -> str:
    """Coded actions, how they fared, and their sources, together at most about ``limit`` characters."""
    listed = list(actions)
    room = limit // max(1, len(listed))
    fared = {name: f": {told.render_rehearsed(tried)}" for name, tried in (rehearsals or {}).items()}
    return "\n\n".join(f"`{a.name}`{fared.get(a.name, '')}\n{code_block(a, room)}" for a in listed) or "(none)"


def repair_slots(attempts: Sequence[Rehearsal]) -> dict[str, str]:
    """What a repair is told: how each attempt failed, and the last one in full."""
    last = attempts[-1]
    lines = [f"- attempt {a.attempt}: {shorten(failure_of(a), 600)}" for a in attempts]
    full = [f"Its code:\n{code_block(last.action)}", f"What happened:\n{render_rehearsal(last)}"]
    if last.review is not None:
        full.append(f"What the critic says:\n{told.render_findings(last.review.findings)}")
    return {"failures": "\n".join(lines), "last": "\n\n".join(full)}


def repair_measured(attempts: Sequence[Rehearsal]) -> dict[str, Plain]:
    """What a repair was written about."""
    last = attempts[-1]
    return {"attempts": len(attempts), "failure": last.verdict.kind if last.verdict is not None else "review"}
