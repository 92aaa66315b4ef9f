"""A language model whose bill is told after every reply."""

from __future__ import annotations

from rlgpt.llm.base import LLM, Reply, Request, RequestKey
from rlgpt.llm.record import Recorder
from rlgpt.loop.progress import ProgressReporter


class ReportingLLM(LLM):
    """Passes everything on; a reply's note (where a replay drifts) and the spending go to the watcher."""

    def __init__(self, llm: Recorder, watcher: ProgressReporter) -> None:
        self.llm, self.supports_vision, self._watcher = llm, llm.supports_vision, watcher

    def complete(self, request: Request) -> Reply:
        reply = self.llm.complete(request)
        if reply.note:
            self._watcher.message(f"  replayed reply ({request.key.role}): {reply.note}")
        self._watcher.spent(self.llm.spending)
        return reply

    def forget(self, key: RequestKey) -> None:
        self.llm.forget(key)
