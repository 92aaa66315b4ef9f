"""The slow agent: a language model decides what is coded and what is learnt."""

from __future__ import annotations

from rlgpt.agents import history as told
from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief, History, SlowAgent
from rlgpt.agents.checks import plan_faults
from rlgpt.agents.mode import Mode
from rlgpt.agents.replies import PlanReply
from rlgpt.domain import ActionPlan
from rlgpt.llm.base import LLM, RequestKey


class LLMSlow(SlowAgent):
    """Plans from the documents and, from the second iteration on, from history."""

    def __init__(self, llm: LLM, mode: Mode | None = None) -> None:
        self._ask, self._mode = Asker(llm, "slow"), mode or Mode()

    def plan(self, brief: Brief, history: History) -> ActionPlan:
        """:raises rlgpt.errors.LLMError: no usable plan after every retry."""
        iteration = len(history)
        return self._ask(
            brief,
            RequestKey(task=brief.task.id, iteration=iteration, role="slow"),
            ("system", "user", "reply"),
            {"history": told.for_slow(history), "mode": self._mode.text(iteration)},
            PlanReply,
            value=PlanReply.value,
            faults=lambda plan: plan_faults(plan, brief),
            measured={**told.measured(history), **self._mode.measured()},
        )
