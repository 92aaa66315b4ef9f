"""Reports the cost of a run's language model after every reply."""

from __future__ import annotations

from typing import Protocol

from rlgpt.llm.base import LLM, Reply, Request, RequestKey
from rlgpt.llm.budget import Spending
from rlgpt.llm.record import Recorder


class Reporter(Protocol):
    """The interface of an object that receives the reports of a :class:`ReportingLLM`."""

    def message(self, text: str) -> None:
        """Receive one line of text."""

    def spent(self, spending: Spending) -> None:
        """Receive the cost of all exchanges of the run so far."""


class ReportingLLM(LLM):
    """A language model that passes requests to another model. After each reply, it reports the cost of the run so far,
    and the note of a replayed reply.

    A model without a known price is reported once, because the reported dollars do not include its calls.
    """

    def __init__(self, llm: Recorder, reporter: Reporter) -> None:
        self.llm, self.supports_vision, self._reporter = llm, llm.supports_vision, reporter
        self._unpriced: set[str] = set()

    def complete(self, request: Request) -> Reply:
        reply = self.llm.complete(request)
        if reply.note:
            self._reporter.message(f"  replayed reply ({request.key.role}): {reply.note}")
        if reply.usage.tokens_source != "recorded" and reply.usage.dollars is None:
            self._report_unpriced(reply.model)
        self._reporter.spent(self.llm.spending)
        return reply

    def _report_unpriced(self, model: str) -> None:
        if model not in self._unpriced:
            self._unpriced.add(model)
            self._reporter.message(
                f"  the price of {model} is unknown, so its cost in dollars is not counted; to count it, give "
                "llm.price=[PROMPT,COMPLETION], in dollars per million tokens"
            )

    def forget(self, key: RequestKey) -> None:
        self.llm.forget(key)
