"""The journal of a run, which stores the run's exchanges (requests with replies). Each exchange is one line of JSON.
Lines are appended and never changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from rlgpt.domain import Value
from rlgpt.errors import BudgetExceeded, RunError
from rlgpt.files import Folder, JsonLines
from rlgpt.llm.base import Message, Reply, Request, RequestKey
from rlgpt.secrets import redact

Identity = tuple[RequestKey, str, str]
"""The identity of a request, which is its key, its fingerprint and a digest of its messages."""

_RESERVE = 64 << 20
"""Number of bytes that the journal must have left for the next exchange, which is the longest line that can be read."""


class Exchange(Value):
    """One request to a language model and its reply, without API keys. ``time`` is the time of the reply in UTC, in the
    format ISO 8601.
    """

    schema_version: Literal[1] = 1
    time: str
    request: Request
    reply: Reply

    @classmethod
    def of(cls, request: Request, reply: Reply) -> Exchange:
        return cls(
            time=_now(),
            request=request.model_copy(update={"messages": _redacted(request.messages)}),
            reply=reply.model_copy(update={"text": _clean(reply.text)}),
        )

    @property
    def identity(self) -> Identity:
        return identity(self.request)


class Forgotten(Value):
    """A line of the journal that invalidates all earlier exchanges with the key ``forgotten``, whatever their ``ask``
    is. The run writes such a line if none of the replies in these exchanges was usable.
    """

    schema_version: Literal[1] = 1
    time: str
    forgotten: RequestKey

    def covers(self, key: RequestKey) -> bool:
        return key.model_copy(update={"ask": self.forgotten.ask}) == self.forgotten


def identity(request: Request) -> Identity:
    """The identity of a request, by which a resumed run finds the stored reply. It does not depend on API keys."""
    text = "\0".join(f"{m.role}\0{m.content}\0{' '.join(m.images)}" for m in _redacted(request.messages))
    return request.key, request.fingerprint, hashlib.sha256(text.encode(errors="replace")).hexdigest()


def read_exchanges(path: Path) -> list[Exchange]:
    """The exchanges in the journal ``path``, oldest first; an empty list if the file is missing. An incomplete last
    line is ignored.

    :raises RunError: a complete line is not a valid exchange. The message names the line.
    """
    return [line for line in _lines(path).read() if isinstance(line, Exchange)]


class Journal:
    """The journal ``llm.jsonl`` of a run, to which lines are appended.

    :ivar exchanges: all exchanges, oldest first.
    :ivar remembered: the exchanges that no later line of the journal invalidates.
    :raises RunError: a complete line is not a valid exchange.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.exchanges: list[Exchange] = []
        self.remembered: list[Exchange] = []
        self._lines = _lines(path)
        self._enter(self._lines.read())

    def check_room(self) -> None:
        """Check that the journal can store one more exchange. A reply that is not stored would be lost when the run is
        resumed.

        :raises BudgetExceeded: the journal is nearly full.
        """
        if self._lines.room() < _RESERVE:
            raise BudgetExceeded(
                f"{self.path} is nearly full: fewer than {_RESERVE >> 20} MiB are left. The model is not asked, as "
                "its reply might not be stored. The run ends with its best iteration. For more iterations, start a new "
                "run in another folder."
            )

    def append(self, exchange: Exchange) -> None:
        """Append an exchange to the journal, and return after it was written to the disk."""
        self._write(exchange)

    def forget(self, key: RequestKey) -> None:
        """Invalidate the stored replies for the request ``key``, whatever its ``ask`` is."""
        self._write(Forgotten(time=_now(), forgotten=key))

    def _write(self, line: Exchange | Forgotten) -> None:
        self._lines.append(line)
        self._enter([line])

    def _enter(self, lines: Iterable[Exchange | Forgotten]) -> None:
        for line in lines:
            if isinstance(line, Forgotten):
                self.remembered = [e for e in self.remembered if not line.covers(e.request.key)]
            else:
                self.exchanges.append(line)
                self.remembered.append(line)


_LINE: TypeAdapter[Exchange | Forgotten] = TypeAdapter(Exchange | Forgotten)


def _lines(path: Path) -> JsonLines[Exchange | Forgotten]:
    advice = "Restore the file, or delete this line and all later lines; the model is then asked again."
    return JsonLines(Folder(path.parent, RunError), path.name, _LINE, advice)


def _redacted(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple(m.model_copy(update={"content": _clean(m.content)}) for m in messages)


def _clean(text: str) -> str:
    """``text`` without API keys and without lone surrogates (invalid characters), which cannot be written to a file."""
    return redact(text).encode(errors="replace").decode()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
