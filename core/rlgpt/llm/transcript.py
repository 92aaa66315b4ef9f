"""A recording of a model's replies to one task: a header line, then a line for each reply. Safe to publish."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from rlgpt.domain import Plain, TaskId, Value
from rlgpt.errors import TranscriptError
from rlgpt.files import read_text, write_atomic
from rlgpt.llm.base import Reply, RequestKey, Usage
from rlgpt.llm.exchange import read_exchanges
from rlgpt.secrets import redact

M = TypeVar("M", bound=BaseModel)

_LIMIT = 64 << 20


class Header(Value):
    """A transcript's first line. ``date`` is the last reply's, ``YYYY-MM-DD``."""

    format: Literal["rlgpt-transcript"] = "rlgpt-transcript"
    schema_version: Literal[1] = 1
    task: TaskId
    model: str
    date: str
    note: str = ""


class Entry(Value):
    """One reply, with what it was asked by: no messages, they are rendered anew."""

    key: RequestKey
    fingerprint: str
    measured: dict[str, Plain] = Field(default_factory=dict)
    model: str
    text: str
    finish_reason: str = "stop"
    usage: Usage = Usage()

    @property
    def reply(self) -> Reply:
        """The reply, its usage marked as recorded: it costs nothing now."""
        dollars = self.usage.dollars
        usage = self.usage.model_copy(
            update={"tokens_source": "recorded", "cost_source": "unknown" if dollars is None else "recorded"}
        )
        return Reply(text=self.text, model=self.model, usage=usage, finish_reason=self.finish_reason)


class Transcript(Value):
    """A header and its replies, in the order in which they came."""

    header: Header
    entries: tuple[Entry, ...]

    @classmethod
    def read(cls, path: Path) -> Transcript:
        """The transcript in ``path``.

        :raises TranscriptError: missing, too large, of another schema, or corrupt; names the line.
        """
        lines = read_text(path, limit=_LIMIT, error=TranscriptError).split("\n")
        header = _parse(Header, lines[0], path, 1)
        entries: dict[RequestKey, Entry] = {}
        for number, line in enumerate(lines[1:], 2):
            if not line and number == len(lines):
                break
            entry = _parse(Entry, line, path, number)
            if entry.key in entries:
                raise TranscriptError(f"{path}, line {number}: a second reply to {describe(entry.key)}. Delete one.")
            entries[entry.key] = entry
        return cls(header=header, entries=tuple(entries.values()))

    def write(self, path: Path) -> None:
        """Write it whole, without keys."""
        entries = (e.model_copy(update={"text": redact(e.text)}) for e in self.entries)
        lines = [self.header.model_dump_json(), *(e.model_dump_json() for e in entries)]
        write_atomic(path, "\n".join(lines) + "\n")


def export(llm_jsonl: Path, out: Path, *, note: str = "") -> Transcript:
    """Make a transcript of a run's ``llm.jsonl`` and write it to ``out``; failed attempts stay in.

    Where a request was asked anew (the run had been resumed, and its prompt was another), the newer reply is taken.

    :raises TranscriptError: the run asked nothing, or about several tasks.
    :raises rlgpt.errors.RunError: ``llm_jsonl`` is corrupt.
    """
    exchanges = read_exchanges(llm_jsonl)
    tasks = sorted({e.request.key.task for e in exchanges})
    if len(tasks) != 1:
        raise TranscriptError(
            f"{llm_jsonl} holds {f'replies to {tasks}' if tasks else 'no reply'}; one task is needed."
        )
    entries = {
        e.request.key: Entry(
            key=e.request.key,
            fingerprint=e.request.fingerprint,
            measured=dict(e.request.measured),
            model=e.reply.model,
            text=e.reply.text,
            finish_reason=e.reply.finish_reason,
            usage=e.reply.usage,
        )
        for e in exchanges
    }
    models = dict.fromkeys(e.model for e in entries.values())
    header = Header(task=tasks[0], model=", ".join(models), date=max(e.time for e in exchanges)[:10], note=note)
    transcript = Transcript(header=header, entries=tuple(entries.values()))
    transcript.write(out)
    return transcript


def describe(key: RequestKey) -> str:
    """A key in words: ``fast on 'lift' (kitchen/kettle, iteration 2, attempt 1, ask 0)``."""
    whom = f"{key.role} on {key.sub_action!r}" if key.sub_action else key.role
    return f"{whom} ({key.task}, iteration {key.iteration}, attempt {key.attempt}, ask {key.ask})"


def _parse(model: type[M], line: str, path: Path, number: int) -> M:
    try:
        return model.model_validate_json(line)
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the line"
        raise TranscriptError(
            f"{path}, line {number} is no {model.__name__.lower()} of a transcript (schema 1): {where}: "
            f"{first['msg']}. Take another transcript, or record again with llm=record."
        ) from fault
