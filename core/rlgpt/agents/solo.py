"""A single agent instead of slow and fast (the paper's ablation): plan, code and setup come in one reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rlgpt.agents import history_text
from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief, FastAgent, History, SlowAgent
from rlgpt.agents.checks import action_faults, plan_faults, setup_faults
from rlgpt.agents.fast import render_written, repair_measured, repair_slots
from rlgpt.agents.mode import Mode
from rlgpt.agents.rendering import render_plan
from rlgpt.agents.replies import ActionReply, SetupReply, SoloReply
from rlgpt.domain import ActionPlan, CodedAction, Plain, Rehearsal, RLSetup, SubAction
from rlgpt.llm.base import LLM, RequestKey
from rlgpt.sandbox import Library, SandboxLimits


class LLMSolo(SlowAgent, FastAgent):
    """Slow and fast agent in one: one request for each iteration, and one for each repair.

    The reply of an iteration is kept in memory. A run that is resumed between plan and setup no longer has it: separate
    requests then ask for code and setup, for the plan on disk.

    :param prompts: the user's own prompts, or None (see :class:`~rlgpt.agents.prompt.Prompt`).
    """

    def __init__(
        self,
        llm: LLM,
        library: Library,
        limits: SandboxLimits | None = None,
        mode: Mode | None = None,
        *,
        prompts: Path | None = None,
    ) -> None:
        self._library, self._limits = library, limits or SandboxLimits()
        self._ask, self._mode = Asker(llm, "solo", prompts), mode or Mode()
        self._replies: dict[tuple[str, int], SoloReply] = {}

    def plan(self, brief: Brief, history: History) -> ActionPlan:
        reply = self._ask(
            brief,
            RequestKey(task=brief.task.id, iteration=len(history), role="solo"),
            ("system", "user", "whole"),
            self._slots(brief, history),
            SoloReply,
            value=lambda reply: reply,
            faults=lambda reply: self._faults(reply, brief),
            measured=self._measured(history),
        )
        self._replies[brief.task.id, len(history)] = reply
        return reply.plan()

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

        reply = self._reply(brief, plan, history)
        if not attempts and reply is not None:
            return reply.coded()[sub_action.name]
        parts = ("system", "user", "task", "repair", "action") if attempts else ("system", "user", "task", "action")
        return self._ask(
            brief,
            RequestKey(
                task=brief.task.id,
                iteration=len(history),
                role="solo",
                sub_action=sub_action.name,
                attempt=len(attempts),
            ),
            parts,
            {
                **self._slots(brief, history),
                "plan": render_plan(plan),
                "actions": render_written(a for a in written if a.name != sub_action.name),
                "name": sub_action.name,
                "description": sub_action.description,
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
        """The setup of the iteration's reply, without the actions that did not survive their rehearsals."""
        reply = self._reply(brief, plan, history)
        if reply is not None:
            kept = {a.name for a in actions}
            setup = reply.setup.value()
            setup = setup.model_copy(update={"coded_actions": tuple(n for n in setup.coded_actions if n in kept)})
            if not setup_faults(setup, brief, actions):
                return setup
        return self._ask(
            brief,
            RequestKey(task=brief.task.id, iteration=len(history), role="solo", sub_action="setup"),
            ("system", "user", "learn"),
            {**self._slots(brief, history), "plan": render_plan(plan), "actions": render_written(actions, rehearsals)},
            SetupReply,
            value=SetupReply.value,
            faults=lambda setup: setup_faults(setup, brief, actions),
            measured=self._measured(history),
        )

    def _reply(self, brief: Brief, plan: ActionPlan, history: History) -> SoloReply | None:
        reply = self._replies.get((brief.task.id, len(history)))
        return reply if reply is not None and reply.plan() == plan else None

    def _slots(self, brief: Brief, history: History) -> Mapping[str, str]:
        mode = self._mode.text(len(history), brief.training_steps)
        return {"history": history_text.for_solo(history), "mode": mode}

    def _measured(self, history: History) -> dict[str, Plain]:
        return {**history_text.measured(history), **self._mode.measured()}

    def _faults(self, reply: SoloReply, brief: Brief) -> list[str]:
        plan, coded = reply.plan(), reply.coded()
        wanted = [s.name for s in plan.coded]
        faults = plan_faults(plan, brief)
        if extra := sorted({a.name for a in reply.actions} - set(wanted)):
            faults.append(f"`actions` holds {extra}, which are no sub-actions of kind code")
        for name in wanted:
            if name not in {a.name for a in reply.actions}:
                faults.append(f"`actions` has no entry for the sub-action {name!r}")
            elif name not in coded:
                faults.append(f"the ```python block has no part that begins with `# action: {name}`")
            else:
                own = action_faults(coded[name], self._library, self._limits, brief.task.horizon)
                faults += [f"{name}: {fault}" for fault in own]
        return faults + [f"setup: {f}" for f in setup_faults(reply.setup.value(), brief, list(coded.values()))]
