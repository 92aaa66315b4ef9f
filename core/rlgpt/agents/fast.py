"""The fast agent with a language model. The fast agent writes and repairs code, and sets up the learning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rlgpt.agents import history_text
from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief, FastAgent, History
from rlgpt.agents.mode import Mode
from rlgpt.agents.rendering import render_functions, render_plan, render_signatures
from rlgpt.agents.skills_text import render_earlier
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
from rlgpt.llm.base import LLM
from rlgpt.sandbox import Library, SandboxLimits


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
            request_key(brief, history, "fast", sub_action.name, len(attempts)),
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
            request_key(brief, history, "function", function.name, len(attempts)),
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
        return self._writer.setup(
            self._ask_setup,
            brief,
            request_key(brief, history, "setup"),
            ("evidence", "role", "reply"),
            {
                **self._plan(brief, plan, history),
                "actions": render_signatures(actions, notes_of(plan, actions, rehearsals or {}, history, brief.skills)),
                "functions": render_functions(brief.functions, brief.remarks),
                "history": history_text.for_setup(history),
            },
            actions=actions,
            history=history,
        )

    def _plan(self, brief: Brief, plan: ActionPlan, history: History) -> dict[str, str]:
        return {"mode": self._writer.mode.text(len(history), brief), "plan": render_plan(plan)}


def _with_skill(text: str, brief: Brief, known: bool, name: str, *, source: bool) -> str:
    """The text about the earlier iterations. If no earlier iteration has code with the name ``name`` (``known`` is
    False), the function appends text about a skill with code of this name.
    """
    earlier = "" if known else render_earlier(brief.skills, name, source=source)
    return "\n".join(filter(None, (text, earlier)))
