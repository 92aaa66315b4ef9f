"""The fast agent with a language model. The fast agent writes and repairs code, and sets up the learning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rlgpt.agents import history_text
from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief, FastAgent, History
from rlgpt.agents.brief import not_offered
from rlgpt.agents.checks import action_faults, function_faults, setup_faults
from rlgpt.agents.episodes import render_code
from rlgpt.agents.mode import Mode
from rlgpt.agents.rendering import (
    render_attempts,
    render_findings,
    render_functions,
    render_plan,
    render_signatures,
)
from rlgpt.agents.replies import ActionReply, FunctionReply, RepairReply, SetupReply
from rlgpt.agents.skills_text import render_earlier
from rlgpt.agents.text import code_block, number, shorten, source_block
from rlgpt.agents.traces import failure_of, render_rehearsal, render_verdict
from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    CodedFunction,
    FunctionPlan,
    FunctionRehearsal,
    Plain,
    Rehearsal,
    RLSetup,
    SubAction,
)
from rlgpt.llm.base import LLM, RequestKey, Role
from rlgpt.sandbox import Library, SandboxLimits
from rlgpt.skills import Offered

EDITED = "whole or as edits, as said above"


class Writer:
    """Asks a language model for the first versions and the repairs of coded actions and functions."""

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

    def measured(self, history: History) -> dict[str, Plain]:
        return {**history_text.measured(history), **self.mode.measured()}


class LLMFast(FastAgent):
    """The fast agent with a language model. Lint checks each source before the source runs, and the model gets a
    message about each fault.

    :param setup_llm: the model for setups. By default, this is ``llm``.
    :param function_llm: the model for functions. By default, this is ``llm``.
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
        setup_llm: LLM | None = None,
        function_llm: LLM | None = None,
        prompts: Path | None = None,
    ) -> None:
        self._writer = Writer(library, limits, mode)
        self._ask_action, self._ask_setup = Asker(llm, "fast", prompts), Asker(setup_llm or llm, "setup", prompts)
        self._ask_function = Asker(function_llm or llm, "function", prompts)

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
        repair = ("evidence", "attempts", "role", "repair", "repair_reply")
        return self._writer.action(
            self._ask_action,
            brief,
            _key(brief, history, "fast", sub_action.name, len(attempts)),
            repair if attempts else ("evidence", "role", "example", "reply"),
            {
                **self._plan(brief, plan, history),
                "written": render_written_so_far(plan, sub_action, written, history, brief.skills),
                "functions": render_functions(brief.functions),
                "history": _with_skill(
                    history_text.for_action(history, sub_action.name, source=not attempts),
                    brief,
                    history_text.newest(history, sub_action.name) is not None,
                    sub_action.name,
                    source=not attempts,
                ),
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
        repair = ("evidence", "attempts", "role", "reply")
        return self._writer.function(
            self._ask_function,
            brief,
            _key(brief, history, "function", function.name, len(attempts)),
            repair if attempts else ("evidence", "role", "reply"),
            {
                **self._plan(brief, plan, history),
                "functions": render_functions(brief.functions),
                "history": _with_skill(
                    history_text.for_function(history, function.name, source=not attempts),
                    brief,
                    history_text.kept_function(history, function.name) is not None,
                    function.name,
                    source=not attempts,
                ),
            },
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
        setup: RLSetup = self._ask_setup(
            brief,
            _key(brief, history, "setup"),
            ("evidence", "role", "reply"),
            {
                **self._plan(brief, plan, history),
                "actions": render_signatures(actions, notes_of(plan, rehearsals or {}, history, brief.skills)),
                "code": render_code(brief),
                "functions": render_functions(brief.functions, brief.remarks),
                "trainer": render_trainer(brief),
                "history": history_text.for_setup(history),
            },
            SetupReply,
            value=lambda reply: SetupReply.value(reply, brief.default_setup),
            faults=lambda setup: setup_faults(setup, brief, actions),
            measured=self._writer.measured(history),
            leave_out=not_offered(brief),
        )
        return setup

    def _plan(self, brief: Brief, plan: ActionPlan, history: History) -> dict[str, str]:
        return {"mode": self._writer.mode.text(len(history), brief), "plan": render_plan(plan)}


def _with_skill(text: str, brief: Brief, known: bool, name: str, *, source: bool) -> str:
    """The text about the earlier iterations. If no earlier iteration has code with the name ``name`` (``known`` is
    False), the function appends text about a skill with code of this name.
    """
    earlier = "" if known else render_earlier(brief.skills, name, source=source)
    return "\n".join(filter(None, (text, earlier)))


def _key(brief: Brief, history: History, role: Role, name: str = "", attempt: int = 0) -> RequestKey:
    return RequestKey(
        task=brief.task.id,
        iteration=len(history),
        role=role,
        sub_action=name,
        attempt=attempt,
        candidate=brief.candidate,
        plan=brief.plan,
    )


def notes_of(
    plan: ActionPlan,
    rehearsals: Mapping[str, Sequence[Rehearsal]],
    history: History,
    offered: Sequence[Offered] = (),
) -> dict[str, str]:
    """A text for each coded sub-action, which says how its rehearsals went. For kept code, the text says where the code
    comes from.
    """
    notes = {name: render_attempts(attempts) for name, attempts in rehearsals.items()}
    return {**notes, **{s.name: history_text.kept_from(history, s.name, offered) for s in plan.coded if s.keep}}


def render_written_so_far(
    plan: ActionPlan,
    sub_action: SubAction,
    written: Sequence[CodedAction],
    history: History,
    offered: Sequence[Offered] = (),
) -> str:
    """Text about the coded actions of the iteration in progress that were written before ``sub_action``, or that the
    plan keeps.
    """
    known = {a.name: a for a in written}
    kept = {s.name: history_text.kept_action(history, s.name, offered) for s in plan.coded if s.keep}
    found = (known.get(s.name) or kept.get(s.name) for s in plan.coded if s.name != sub_action.name)
    notes = {
        name: history_text.kept_from(history, name, offered) for name, action in kept.items() if action is not None
    }
    return render_signatures([a for a in found if a is not None], notes)


def render_trainer(brief: Brief) -> str:
    """Text with the current values of the trainer's hyperparameters that a setup may set; empty if the values are
    unknown.
    """
    if brief.training is None or not brief.training.hyperparameters:
        return ""
    values = ", ".join(f"{name} {number(value)}" for name, value in brief.training.hyperparameters.items())
    return f"Hyperparameters of the trainer where the setup sets none: {values}."


def _repairs(brief: Brief, attempts: int) -> str:
    """The number of the repair in progress, and the number of repairs that remain, as text."""
    left = "" if brief.repairs is None else f"; {brief.repairs or 'none'} left after it"
    return f"This is repair {attempts}{left}."


def _earlier(lines: Sequence[str]) -> str:
    return "\n".join(["The attempts before the last one:", *lines]) if lines else ""


def repair_slots(attempts: Sequence[Rehearsal], brief: Brief) -> dict[str, str]:
    """Texts for the prompt of a repair, which say how each attempt failed, and show the last attempt in full."""
    last = attempts[-1]
    lines = [f"- attempt {a.attempt + 1}: {shorten(failure_of(a), 600, 'the failure')}" for a in attempts[:-1]]
    full = [f"Its code:\n{code_block(last.action)}", f"What happened:\n{render_rehearsal(last)}"]
    if last.review is not None:
        full.append(f"What the critic says:\n{render_findings(last.review.findings)}")
    return {"repairs": _repairs(brief, len(attempts)), "failures": _earlier(lines), "last": "\n\n".join(full)}


def repair_measured(attempts: Sequence[Rehearsal]) -> dict[str, Plain]:
    """The figures that are recorded with a repair, which are the number of attempts and the kind of the last
    failure."""
    last = attempts[-1]
    return {"attempts": len(attempts), "failure": last.stopped_by.kind if last.stopped_by is not None else "review"}


def function_repair_slots(attempts: Sequence[FunctionRehearsal], brief: Brief) -> dict[str, str]:
    """Texts for the measured slots of the prompt that asks for the repair of a coded function. The texts say how each
    attempt failed, and show the last attempt in full. Without attempts, there are no texts.
    """
    if not attempts:
        return {}
    lines = [f"- attempt {a.attempt + 1}: {_failure(a)}" for a in attempts[:-1]]
    last = attempts[-1]
    full = [f"Its code:\n{source_block(last.function.source)}", f"What was wrong: {_failure(last)}"]
    if last.answers:
        full.append(f"Its answers at {last.moments} moments ({last.played}):\n{render_answers(last)}")
    full += [f"Remark: {remark}" for remark in last.remarks]
    return {"repairs": _repairs(brief, len(attempts)), "failures": _earlier(lines), "last": "\n\n".join(full)}


def render_answers(rehearsal: FunctionRehearsal) -> str:
    """Text with one line for each output of a coded function in its rehearsal. A line has the smallest and the largest
    value, the mean, how often the output changed, how often it was outside its bounds, and a few values.
    """
    return "\n".join(
        f"- {a.name}: {number(a.low)} to {number(a.high)}, mean {number(a.mean)}, changed {a.changes} times"
        + (f", {a.outside} times outside its bounds" if a.outside else "")
        + (f"; in order of time: {', '.join(map(number, a.samples))}" if a.samples else "")
        for a in rehearsal.answers
    )


def _failure(attempt: FunctionRehearsal) -> str:
    failure = render_verdict(attempt.verdict) if attempt.verdict is not None else attempt.fault
    return shorten(failure, 600, "the failure") or "worked"


def render_written(actions: Iterable[CodedAction], notes: Mapping[str, str], limit: int = 12_000) -> str:
    """Coded actions with their sources as text, about ``limit`` characters long.

    :param notes: for the name of a coded action, a text about its rehearsals or about its origin.
    """
    listed = list(actions)
    room = limit // max(1, len(listed))
    blocks = [f"`{a.name}`{f': {notes[a.name]}' if a.name in notes else ''}\n{code_block(a, room)}" for a in listed]
    return "\n\n".join(blocks) or "(none)"
