"""The journal of a run's exchanges with language models: one JSON line each, appended and never rewritten."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from rlgpt.domain import Value
from rlgpt.errors import RunError
from rlgpt.llm.base import Message, Reply, Request, RequestKey
from rlgpt.secrets import redact

Identity = tuple[RequestKey, str, str]
"""Key, fingerprint and digest of the messages: what makes a request the same one."""


class Exchange(Value):
    """One request and its reply, without keys. ``time`` is when the reply came, UTC, ISO 8601."""

    schema_version: Literal[1] = 1
    time: str
    request: Request
    reply: Reply

    @classmethod
    def of(cls, request: Request, reply: Reply) -> Exchange:
        return cls(
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            request=request.model_copy(update={"messages": _redacted(request.messages)}),
            reply=reply.model_copy(update={"text": _clean(reply.text)}),
        )

    @property
    def identity(self) -> Identity:
        return identity(self.request)


class Forgotten(Value):
    """Nothing usable came of the exchanges before this line that are about ``forgotten`` (whatever their ``ask``)."""

    schema_version: Literal[1] = 1
    time: str
    forgotten: RequestKey

    def covers(self, key: RequestKey) -> bool:
        return key.model_copy(update={"ask": self.forgotten.ask}) == self.forgotten


def identity(request: Request) -> Identity:
    """What a request is recognised by when a run is resumed. Keys do not enter the digest."""
    text = "\0".join(f"{m.role}\0{m.content}\0{' '.join(m.images)}" for m in _redacted(request.messages))
    return request.key, request.fingerprint, hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _redacted(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple(m.model_copy(update={"content": _clean(m.content)}) for m in messages)


def _clean(text: str) -> str:
    """``text`` without keys and lone surrogates (which no file could hold)."""
    return redact(text).encode(errors="replace").decode()


def read_exchanges(path: Path) -> list[Exchange]:
    """The exchanges in ``path``, oldest first; none where there is no file. A torn last line is left out.

    :raises RunError: another line is not an exchange; names it.
    """
    return _read(path)[0].exchanges


class Journal:
    """``llm.jsonl``, open for appending. A last line torn by a crash is cut off when it is opened.

    :raises RunError: a line before the last is not an exchange.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines, whole = _read(path)
        if path.exists() and path.stat().st_size != whole:
            with path.open("r+b") as file:
                file.truncate(whole)
                os.fsync(file.fileno())

    @property
    def exchanges(self) -> list[Exchange]:
        """Every exchange, oldest first."""
        return self._lines.exchanges

    @property
    def remembered(self) -> list[Exchange]:
        """Those that were not forgotten since."""
        return self._lines.remembered

    def append(self, exchange: Exchange) -> None:
        """Write one line; it is on the disk when this returns."""
        self._write(exchange)

    def forget(self, key: RequestKey) -> None:
        """Let what was exchanged about ``key`` so far answer nobody again."""
        self._write(Forgotten(time=datetime.now(UTC).isoformat(timespec="seconds"), forgotten=key))

    def _write(self, line: Exchange | Forgotten) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(line.model_dump_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._lines.add(line)


class _Lines:
    """What a journal's lines say, in their order."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.remembered: list[Exchange] = []

    def add(self, line: Exchange | Forgotten) -> None:
        if isinstance(line, Forgotten):
            self.remembered = [e for e in self.remembered if not line.covers(e.request.key)]
        else:
            self.exchanges.append(line)
            self.remembered.append(line)


_LINE: TypeAdapter[Exchange | Forgotten] = TypeAdapter(Exchange | Forgotten)


def _read(path: Path) -> tuple[_Lines, int]:
    """What the lines say, and how many bytes of the file the whole ones take."""
    lines = _Lines()
    whole = 0
    if not path.exists():
        return lines, whole
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                lines.add(_LINE.validate_json(line))
            except ValidationError as fault:
                first = fault.errors()[0]
                where = ".".join(map(str, first["loc"])) or "the line"
                raise RunError(
                    f"{path}, line {number} is not an exchange with a language model: {where}: {first['msg']}. "
                    "Restore the file, or delete the lines from there on: they will be asked again."
                ) from fault
            whole += len(line)
    return lines, whole
