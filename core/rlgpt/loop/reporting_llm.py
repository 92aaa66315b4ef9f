"""A language model whose bill is told after every reply."""

from __future__ import annotations

from rlgpt.llm.base import LLM, Reply, Request, RequestKey
from rlgpt.llm.record import Recorder
from rlgpt.loop.progress import Watcher


class Watched(LLM):
    """Passes everything on; a reply's note (where a replay drifts) and the spending go to the watcher."""

    def __init__(self, llm: Recorder, watcher: Watcher) -> None:
        self.llm, self.eyes, self._watcher = llm, llm.eyes, watcher

    def complete(self, request: Request) -> Reply:
        reply = self.llm.complete(request)
        if reply.note:
            self._watcher.message(f"  replayed reply ({request.key.role}): {reply.note}")
        self._watcher.spent(self.llm.spending)
        return reply

    def forget(self, key: RequestKey) -> None:
        self.llm.forget(key)
