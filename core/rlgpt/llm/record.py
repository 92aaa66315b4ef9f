"""Every exchange goes into the run's ``llm.jsonl``; on resume nothing that was paid for is asked again."""

from __future__ import annotations

from pathlib import Path

from rlgpt.llm.base import LLM, Reply, Request, RequestKey
from rlgpt.llm.budget import Spending
from rlgpt.llm.exchange import Exchange, Journal, identity
from rlgpt.llm.transcript import export


class Recorder(LLM):
    """Records what ``llm`` is asked and answers, and answers from the record what is in it already.

    A request is the same one where key, fingerprint and messages are. Only the exchange in flight when a run is killed
    is lost: its line is written, and on the disk, before the reply is handed on.

    :param path: ``llm.jsonl``; made on the first exchange.
    :param transcript: where a transcript of everything so far is kept (``llm=record``), whole after each exchange.
    :raises rlgpt.errors.RunError: ``path`` is corrupt before its last line.
    """

    def __init__(self, llm: LLM, path: Path, *, transcript: Path | None = None) -> None:
        self.llm, self.supports_vision, self.transcript = llm, llm.supports_vision, transcript
        self.journal = Journal(path)
        self._known = {e.identity: e.reply for e in self.journal.remembered}

    @property
    def spending(self) -> Spending:
        """What the run has spent since it began."""
        return Spending.of(self.journal.exchanges)

    def complete(self, request: Request) -> Reply:
        known = self._known.get(identity(request))
        if known is not None:
            return known
        exchange = Exchange.of(request, self.llm.complete(request))
        self.journal.append(exchange)
        self._known[exchange.identity] = exchange.reply
        if self.transcript is not None:
            export(self.journal.path, self.transcript)
        return exchange.reply

    def forget(self, key: RequestKey) -> None:
        """Its replies stay in the record and in the bill, and answer nobody again."""
        self.journal.forget(key)
        self._known = {e.identity: e.reply for e in self.journal.remembered}
