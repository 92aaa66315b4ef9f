"""The fast agent as a language model: it writes and repairs coded actions, and sets up the learning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rlgpt.agents import history_text
from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief, FastAgent, History
from rlgpt.agents.checks import action_faults, setup_faults
from rlgpt.agents.mode import Mode
from rlgpt.agents.rendering import render_attempts, render_findings, render_plan
from rlgpt.agents.replies import ActionReply, SetupReply
from rlgpt.agents.text import code_block, shorten
from rlgpt.agents.traces import failure_of, render_rehearsal
from rlgpt.domain import ActionPlan, CodedAction, Plain, Rehearsal, RLSetup, SubAction
from rlgpt.llm.base import LLM, RequestKey
from rlgpt.sandbox import Library, SandboxLimits


class LLMFast(FastAgent):
    """Lints each source against the library; what lint finds goes back to the model before anything runs.

    :param setup_llm: the model for setups; default: ``llm``.
    :param prompts: the user's own prompts, or None (see :class:`~rlgpt.agents.prompt.Prompt`).
    """

    def __init__(
        self,
        llm: LLM,
        library: Library,
        limits: SandboxLimits | None = None,
        mode: Mode | None = None,
        *,
        setup_llm: LLM | None = None,
        prompts: Path | None = None,
    ) -> None:
        self._library, self._limits, self._mode = library, limits or SandboxLimits(), mode or Mode()
        self._ask_action, self._ask_setup = Asker(llm, "fast", prompts), Asker(setup_llm or llm, "setup", prompts)

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
        def with_name(reply: ActionReply) -> CodedAction:
            return reply.value(sub_action.name)

        parts = ("system", "user", "repair", "reply") if attempts else ("system", "user", "reply")
        iteration = len(history)
        return self._ask_action(
            brief,
            RequestKey(
                task=brief.task.id, iteration=iteration, role="fast", sub_action=sub_action.name, attempt=len(attempts)
            ),
            parts,
            {
                "mode": self._mode.text(iteration, brief.training_steps),
                "plan": render_plan(plan),
                "written": render_written(a for a in written if a.name != sub_action.name),
                "history": history_text.for_action(history, sub_action.name),
                "name": sub_action.name,
                "description": sub_action.description,
                "reason": sub_action.reason,
                **(repair_slots(attempts) if attempts else {}),
            },
            ActionReply,
            value=with_name,
            faults=lambda action: action_faults(action, self._library, self._limits, brief.task.horizon),
            measured=repair_measured(attempts) if attempts else self._measured(history),
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
        iteration = len(history)
        return self._ask_setup(
            brief,
            RequestKey(task=brief.task.id, iteration=iteration, role="setup"),
            ("system", "user", "reply"),
            {
                "mode": self._mode.text(iteration, brief.training_steps),
                "plan": render_plan(plan),
                "actions": render_written(actions, rehearsals),
                "history": history_text.for_setup(history),
            },
            SetupReply,
            value=SetupReply.value,
            faults=lambda setup: setup_faults(setup, brief, actions),
            measured=self._measured(history),
        )

    def _measured(self, history: History) -> dict[str, Plain]:
        return {**history_text.measured(history), **self._mode.measured()}


def render_written(
    actions: Iterable[CodedAction],
    rehearsals: Mapping[str, Sequence[Rehearsal]] | None = None,
    limit: int = 10_000,
) -> str:
    """Coded actions with the results of their rehearsals and their sources, together about ``limit`` characters."""
    listed = list(actions)
    room = limit // max(1, len(listed))
    results = {name: f": {render_attempts(attempts)}" for name, attempts in (rehearsals or {}).items()}
    return "\n\n".join(f"`{a.name}`{results.get(a.name, '')}\n{code_block(a, room)}" for a in listed) or "(none)"


def repair_slots(attempts: Sequence[Rehearsal]) -> dict[str, str]:
    """The slots of a repair: how each attempt failed, and the last attempt in full."""
    last = attempts[-1]
    lines = [f"- attempt {a.attempt}: {shorten(failure_of(a), 600)}" for a in attempts]
    full = [f"Its code:\n{code_block(last.action)}", f"What happened:\n{render_rehearsal(last)}"]
    if last.review is not None:
        full.append(f"What the critic says:\n{render_findings(last.review.findings)}")
    return {"failures": "\n".join(lines), "last": "\n\n".join(full)}


def repair_measured(attempts: Sequence[Rehearsal]) -> dict[str, Plain]:
    """The figures of a repair: number of attempts, and the kind of the last failure."""
    last = attempts[-1]
    return {"attempts": len(attempts), "failure": last.stopped_by.kind if last.stopped_by is not None else "review"}
