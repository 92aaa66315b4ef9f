"""Writes every exchange with a language model into the run's ``llm.jsonl``, so that a resumed run does not send a
request twice.
"""

from __future__ import annotations

from pathlib import Path

from rlgpt.llm.base import LLM, Reply, Request, RequestKey
from rlgpt.llm.budget import Spending
from rlgpt.llm.exchange import Exchange, Journal, identity
from rlgpt.llm.transcript import export


class Recorder(LLM):
    """A language model that passes requests to another model and records each exchange. A request that is already
    recorded gets the stored reply.

    Two requests are equal if their key, fingerprint and messages are equal. An exchange is on the disk before its reply
    is returned, so a kill loses at most the exchange in progress.

    :param path: path of the journal ``llm.jsonl``. The first exchange creates this file.
    :param transcript: path of the recording (``llm=record``), which is written again after each exchange; None if no
        recording is made.
    :raises rlgpt.errors.RunError: a complete line of the journal is damaged.
    """

    def __init__(self, llm: LLM, path: Path, *, transcript: Path | None = None) -> None:
        self.llm, self.supports_vision, self.transcript = llm, llm.supports_vision, transcript
        self.journal = Journal(path)
        self._known = {e.identity: e.reply for e in self.journal.remembered}

    @property
    def spending(self) -> Spending:
        """The cost of all exchanges with language models since the run began."""
        return Spending.of(self.journal.exchanges)

    def complete(self, request: Request) -> Reply:
        """Return the reply to ``request``.

        :raises BudgetExceeded: the journal is nearly full. The request is not sent, because a reply that is not stored
            would be lost.
        """
        known = self._known.get(identity(request))
        if known is not None:
            return known
        self.journal.check_room()
        exchange = Exchange.of(request, self.llm.complete(request))
        self.journal.append(exchange)
        self._known[exchange.identity] = exchange.reply
        if self.transcript is not None:
            export(self.journal.path, self.transcript)
        return exchange.reply

    def forget(self, key: RequestKey) -> None:
        """Invalidate the stored replies for the request ``key``, so that the model gets the next request with this key.
        The cost of invalidated replies remains a part of the run's cost.
        """
        self.journal.forget(key)
        self._known = {e.identity: e.reply for e in self.journal.remembered}
