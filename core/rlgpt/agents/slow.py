"""The slow agent as a language model: it decides what is coded and what is learned."""

from __future__ import annotations

from pathlib import Path

from rlgpt.agents import history_text
from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief, History, SlowAgent
from rlgpt.agents.checks import plan_faults
from rlgpt.agents.mode import Mode
from rlgpt.agents.replies import PlanReply
from rlgpt.domain import ActionPlan
from rlgpt.llm.base import LLM, RequestKey


class LLMSlow(SlowAgent):
    """Plans from the brief and, from the second iteration on, from the history.

    :param prompts: the user's own prompts, or None (see :class:`~rlgpt.agents.prompt.Prompt`).
    """

    def __init__(self, llm: LLM, mode: Mode | None = None, *, prompts: Path | None = None) -> None:
        self._ask, self._mode = Asker(llm, "slow", prompts), mode or Mode()

    def plan(self, brief: Brief, history: History) -> ActionPlan:
        iteration = len(history)
        return self._ask(
            brief,
            RequestKey(task=brief.task.id, iteration=iteration, role="slow"),
            ("system", "user", "reply"),
            {"history": history_text.for_slow(history), "mode": self._mode.text(iteration, brief.training_steps)},
            PlanReply,
            value=PlanReply.value,
            faults=lambda plan: plan_faults(plan, brief),
            measured={**history_text.measured(history), **self._mode.measured()},
        )
