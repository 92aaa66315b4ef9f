"""The single agent is a language model that writes plan, code and setup in one reply. The single agent replaces the
slow agent and the fast agent (an ablation of the paper).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rlgpt.agents import history_text
from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief, FastAgent, History, SlowAgent
from rlgpt.agents.brief import not_offered
from rlgpt.agents.checks import action_faults, plan_faults, setup_faults
from rlgpt.agents.mode import Mode
from rlgpt.agents.rendering import render_functions, render_plan, render_signatures
from rlgpt.agents.replies import SoloReply
from rlgpt.agents.slow import with_kept
from rlgpt.agents.writer import Writer, request_key
from rlgpt.agents.written_text import notes_of, render_written_so_far
from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    CodedFunction,
    FunctionPlan,
    FunctionRehearsal,
    Rehearsal,
    RLSetup,
    SubAction,
)
from rlgpt.llm.base import LLM, RequestKey
from rlgpt.sandbox import Library, SandboxLimits


class LLMSolo(SlowAgent, FastAgent):
    """Slow agent and fast agent in one object. The single agent sends one request for each iteration, and further
    requests for repairs, for further candidates and for coded functions.

    The agent keeps the reply for an iteration only in memory. If a run stops between the plan stage and the setup
    stage, the reply is lost. The resumed run then asks for the code and the setup of the stored plan in separate
    requests.

    :param prompts: the folder with the user's own prompts (see :class:`~rlgpt.agents.prompt.Prompt`); None if the user
        has none.
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
        self._ask, self._writer = Asker(llm, "solo", prompts), Writer(library, limits, mode)
        self._replies: dict[RequestKey, tuple[ActionPlan, SoloReply]] = {}

    def plan(self, brief: Brief, history: History) -> ActionPlan:
        key = request_key(brief, history, "solo")
        reply = self._ask(
            brief,
            key,
            ("evidence", "role", "reply"),
            self._slots(brief, history),
            SoloReply,
            value=lambda reply: reply,
            faults=lambda reply: self._faults(reply, brief, history),
            measured=self._writer.measured(history),
            leave_out=not_offered(brief),
        )
        plan = with_kept(reply.plan(), history, brief.skills)
        self._replies[key] = plan, reply
        return plan

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
        reply = self._reply(brief, plan, history)
        if not attempts and not brief.candidate and reply is not None:
            return reply.coded()[sub_action.name]
        repair = ("evidence", "task", "attempts", "writes", "repair", "repair_reply")
        return self._writer.action(
            self._ask,
            brief,
            request_key(brief, history, "solo", sub_action.name, len(attempts)),
            repair if attempts else ("evidence", "task", "writes", "example", "action_reply"),
            {
                **self._slots(brief, history),
                "plan": render_plan(plan),
                "actions": render_written_so_far(plan, sub_action, written, history, brief.skills),
                "name": sub_action.name,
            },
            attempts=attempts,
            history=history,
        )

    def write_function(
        self,
        brief: Brief,
        plan: ActionPlan,
        function: FunctionPlan,
        *,
        attempts: Sequence[FunctionRehearsal],
        history: History,
    ) -> CodedFunction:
        repair = ("evidence", "function", "function_attempts", "computes", "function_reply")
        return self._writer.function(
            self._ask,
            brief,
            request_key(brief, history, "solo", f"function:{function.name}", len(attempts)),
            repair if attempts else ("evidence", "function", "computes", "function_reply"),
            {**self._slots(brief, history), "plan": render_plan(plan), "functions": render_functions(brief.functions)},
            function,
            attempts=attempts,
            history=history,
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
        """Return the setup from the iteration's reply, without the coded actions that failed in their rehearsals.

        The agent sends a new request for the setup if the reply was lost, or if the setup in the reply has a fault. A
        new request is also needed if coded functions were written after the reply, because the reply could not name
        their outputs.
        """
        reply = self._reply(brief, plan, history)
        if reply is not None and not brief.functions:
            kept = {a.name for a in actions}
            setup = reply.setup.value(brief.default_setup)
            setup = setup.model_copy(update={"coded_actions": tuple(n for n in setup.coded_actions if n in kept)})
            if not setup_faults(setup, brief, actions):
                return setup
        return self._writer.setup(
            self._ask,
            brief,
            request_key(brief, history, "solo", "setup"),
            ("evidence", "learn", "sets_up", "setup_reply"),
            {
                **self._slots(brief, history),
                "plan": render_plan(plan),
                "actions": render_signatures(actions, notes_of(plan, actions, rehearsals or {}, history, brief.skills)),
                "functions": render_functions(brief.functions),
            },
            actions=actions,
            history=history,
        )

    def _reply(self, brief: Brief, plan: ActionPlan, history: History) -> SoloReply | None:
        key = request_key(brief, history, "solo").model_copy(update={"candidate": 0})
        planned, reply = self._replies.get(key, (None, None))
        return reply if planned == plan else None

    def _slots(self, brief: Brief, history: History) -> Mapping[str, str]:
        mode = self._writer.mode.text(len(history), brief)
        return {"history": history_text.for_solo(history), "mode": mode}

    def _faults(self, reply: SoloReply, brief: Brief, history: History) -> list[str]:
        plan, coded = reply.plan(), reply.coded()
        wanted = [s.name for s in plan.coded if not s.keep]
        kept = [a for s in plan.coded if s.keep and (a := history_text.kept_action(history, s.name, brief.skills))]
        faults = plan_faults(plan, brief, history)
        if "setup" in wanted:  # The keys of the requests for its code and for the setup would be equal.
            faults.append("the sub-action name 'setup' is already the name of the learning setup; choose another name")
        if extra := sorted({a.name for a in reply.actions} - set(wanted)):
            faults.append(f"`actions` holds {extra}, which are no sub-actions of kind code that are written now")
        for name in wanted:
            if name not in {a.name for a in reply.actions}:
                faults.append(f"`actions` has no entry for the sub-action {name!r}")
            elif name not in coded:
                faults.append(f"the ```python block has no part that begins with `# action: {name}`")
            else:
                own = action_faults(coded[name], self._writer.library, self._writer.limits, brief.most_steps)
                faults += [f"{name}: {fault}" for fault in own]
        return faults + [
            f"setup: {f}" for f in setup_faults(reply.setup.value(brief.default_setup), brief, [*coded.values(), *kept])
        ]
