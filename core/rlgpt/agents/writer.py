"""The requests of the agents that write code and set up the learning: the fast agent and the single agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlgpt.agents import history_text
from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief, History
from rlgpt.agents.brief import not_offered
from rlgpt.agents.checks import action_faults, function_faults, setup_faults
from rlgpt.agents.episodes import render_code
from rlgpt.agents.mode import Mode
from rlgpt.agents.repairs import function_repair_slots, repair_measured, repair_slots
from rlgpt.agents.replies import ActionReply, FunctionReply, RepairReply, SetupReply
from rlgpt.agents.text import number
from rlgpt.domain import CodedAction, CodedFunction, FunctionPlan, FunctionRehearsal, Plain, Rehearsal, RLSetup
from rlgpt.llm.base import RequestKey, Role
from rlgpt.sandbox import Library, SandboxLimits

EDITED = "whole or as edits, as said above"


class Writer:
    """Asks a language model for the first versions and the repairs of coded actions and functions, and for setups."""

    def __init__(self, library: Library, limits: SandboxLimits | None, mode: Mode | None) -> None:
        self.library, self.limits, self.mode = library, limits or SandboxLimits(), mode or Mode()

    def action(
        self,
        ask: Asker,
        brief: Brief,
        key: RequestKey,
        parts: Sequence[str],
        slots: Mapping[str, str],
        *,
        attempts: Sequence[Rehearsal],
        history: History,
    ) -> CodedAction:
        """Ask for a coded action: for a repair if ``attempts`` is not empty, else for a first version."""

        def faults(action: CodedAction) -> list[str]:
            return action_faults(action, self.library, self.limits, brief.most_steps)

        if attempts:
            last = attempts[-1].action
            return ask(
                brief,
                key,
                parts,
                {**slots, **repair_slots(attempts, brief)},
                RepairReply,
                value=lambda reply: reply.value(last),
                faults=faults,
                measured=repair_measured(attempts),
                code=EDITED,
            )
        earlier = history_text.kept_action(history, key.sub_action, brief.skills)
        return ask(
            brief,
            key,
            parts,
            slots,
            ActionReply,
            value=lambda reply: reply.value(key.sub_action, earlier),
            faults=faults,
            measured=self.measured(history),
            code=EDITED,
        )

    def function(
        self,
        ask: Asker,
        brief: Brief,
        key: RequestKey,
        parts: Sequence[str],
        slots: Mapping[str, str],
        function: FunctionPlan,
        *,
        attempts: Sequence[FunctionRehearsal],
        history: History,
    ) -> CodedFunction:
        """Ask for a function of a plan: for a repair if ``attempts`` is not empty, else for a first version."""
        known = history_text.kept_function(history, function.name, brief.skills)
        earlier = attempts[-1].function if attempts else known
        repair: dict[str, Plain] = {"attempts": len(attempts)}
        written: CodedFunction = ask(
            brief,
            key,
            parts,
            {**slots, "name": function.name, "kind": function.kind, **function_repair_slots(attempts, brief)},
            FunctionReply,
            value=lambda reply: reply.value(function, earlier),
            faults=lambda written: function_faults(written, brief, self.library, self.limits),
            measured=repair if attempts else self.measured(history),
            code=EDITED,
        )
        return written

    def setup(
        self,
        ask: Asker,
        brief: Brief,
        key: RequestKey,
        parts: Sequence[str],
        slots: Mapping[str, str],
        *,
        actions: Sequence[CodedAction],
        history: History,
    ) -> RLSetup:
        """Ask for the setup of the learning.

        :param actions: the coded actions that the setup may offer to the policy.
        """
        setup: RLSetup = ask(
            brief,
            key,
            parts,
            {**slots, "code": render_code(brief), "trainer": render_trainer(brief)},
            SetupReply,
            value=lambda reply: SetupReply.value(reply, brief.default_setup),
            faults=lambda setup: setup_faults(setup, brief, actions),
            measured=self.measured(history),
            leave_out=not_offered(brief),
        )
        return setup

    def measured(self, history: History) -> dict[str, Plain]:
        return {**history_text.measured(history), **self.mode.measured()}


def request_key(brief: Brief, history: History, role: Role, name: str = "", attempt: int = 0) -> RequestKey:
    """The key of a request of the iteration in progress."""
    return RequestKey(
        task=brief.task.id,
        iteration=len(history),
        role=role,
        sub_action=name,
        attempt=attempt,
        candidate=brief.candidate,
        plan=brief.plan,
    )


def render_trainer(brief: Brief) -> str:
    """Text with the current values of the trainer's hyperparameters that a setup may set; empty if the values are
    unknown.
    """
    if brief.training is None or not brief.training.hyperparameters:
        return ""
    values = ", ".join(f"{name} {number(value)}" for name, value in brief.training.hyperparameters.items())
    return f"Hyperparameters of the trainer where the setup sets none: {values}."
