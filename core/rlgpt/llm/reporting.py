"""A language model whose cost is reported after every reply."""

from __future__ import annotations

from typing import Protocol

from rlgpt.llm.base import LLM, Reply, Request, RequestKey
from rlgpt.llm.budget import Spending
from rlgpt.llm.record import Recorder


class Reporter(Protocol):
    """Receives what a :class:`ReportingLLM` reports."""

    def message(self, text: str) -> None:
        """One line of text."""

    def spent(self, spending: Spending) -> None:
        """What the run has spent so far."""


class ReportingLLM(LLM):
    """Passes requests on. Reports the spending after each reply, and the note of a replayed reply."""

    def __init__(self, llm: Recorder, reporter: Reporter) -> None:
        self.llm, self.supports_vision, self._reporter = llm, llm.supports_vision, reporter

    def complete(self, request: Request) -> Reply:
        reply = self.llm.complete(request)
        if reply.note:
            self._reporter.message(f"  replayed reply ({request.key.role}): {reply.note}")
        self._reporter.spent(self.llm.spending)
        return reply

    def forget(self, key: RequestKey) -> None:
        self.llm.forget(key)
