"""Reads and writes recordings, which are called transcripts in code. A recording is a file with a language model's
replies in a run of one task. The file of a recording has a header line and one line for each reply, and contains no
secrets.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from rlgpt.domain import Plain, TaskId, Value, part_prefix
from rlgpt.errors import TranscriptError
from rlgpt.files import read_json, read_text, write_atomic
from rlgpt.llm.base import Reply, RequestKey, Usage
from rlgpt.llm.exchange import read_exchanges
from rlgpt.secrets import redact

_LIMIT = 64 << 20
_ADVICE = "Use another recording, or record again with llm=record."


class Header(Value):
    """The first line of a recording. In the header, ``date`` is the date of the last reply in the form
    ``YYYY-MM-DD``.
    """

    format: Literal["rlgpt-transcript"] = "rlgpt-transcript"
    schema_version: Literal[1] = 1
    task: TaskId
    model: str
    date: str
    note: str = ""


class Entry(Value):
    """One reply and the key of its request. The recording does not contain the messages of a request, because a replay
    renders the messages again.
    """

    key: RequestKey
    fingerprint: str
    measured: dict[str, Plain] = Field(default_factory=dict)
    model: str
    text: str
    finish_reason: str = "stop"
    usage: Usage = Usage()
    images: int = Field(default=0, ge=0, description="number of images in the request; the images are not stored")

    @property
    def reply(self) -> Reply:
        """The stored reply. The usage of a replayed reply is marked as recorded, because a replay costs nothing."""
        dollars = self.usage.dollars
        usage = self.usage.model_copy(
            update={"tokens_source": "recorded", "cost_source": "unknown" if dollars is None else "recorded"}
        )
        return Reply(text=self.text, model=self.model, usage=usage, finish_reason=self.finish_reason)


class Transcript(Value):
    """The content of a recording: a header, and the replies in the order of their arrival."""

    header: Header
    entries: tuple[Entry, ...]

    @classmethod
    def read(cls, path: Path) -> Transcript:
        """Read the recording in ``path``.

        :raises TranscriptError: the recording is missing, is too large, has another schema version, or is damaged. The
            message names the damaged line.
        """
        lines = read_text(path, limit=_LIMIT, error=TranscriptError).split("\n")
        header = read_json(lines[0], Header, f"{path}, line 1,", TranscriptError, _ADVICE)
        entries: dict[RequestKey, Entry] = {}
        for number, line in enumerate(lines[1:], 2):
            if not line and number == len(lines):
                break
            entry = read_json(line, Entry, f"{path}, line {number},", TranscriptError, _ADVICE)
            if entry.key in entries:
                raise TranscriptError(f"{path}, line {number}: a second reply to {describe(entry.key)}. Delete one.")
            entries[entry.key] = entry
        return cls(header=header, entries=tuple(entries.values()))

    def write(self, path: Path) -> None:
        """Write the recording atomically, without API keys."""
        entries = (e.model_copy(update={"text": redact(e.text)}) for e in self.entries)
        lines = [self.header.model_dump_json(), *(e.model_dump_json() for e in entries)]
        write_atomic(path, "\n".join(lines) + "\n")


def export(llm_jsonl: Path, out: Path, *, note: str = "") -> Transcript:
    """Make a recording from a run's ``llm.jsonl`` and write the recording to ``out``. Unusable replies are included.

    If a key has several replies, because the run was resumed with another prompt, the recording contains the newest
    reply. The first exchange of a recording is about the whole task. Later exchanges of a recording may be about
    sub-goals of the task.

    :raises TranscriptError: the run has no exchanges, or its exchanges are about several tasks.
    :raises rlgpt.errors.RunError: ``llm_jsonl`` is corrupt.
    """
    exchanges = read_exchanges(llm_jsonl)
    tasks = list(dict.fromkeys(e.request.key.task for e in exchanges))
    if not tasks or any(not task.startswith(part_prefix(tasks[0])) for task in tasks[1:]):
        found = f"replies to {sorted(tasks)}" if tasks else "no reply"
        raise TranscriptError(f"{llm_jsonl} contains {found}; a recording belongs to one task.")
    entries = {
        e.request.key: Entry(
            key=e.request.key,
            fingerprint=e.request.fingerprint,
            measured=dict(e.request.measured),
            model=e.reply.model,
            text=e.reply.text,
            finish_reason=e.reply.finish_reason,
            usage=e.reply.usage,
            images=sum(len(m.images) for m in e.request.messages),
        )
        for e in exchanges
    }
    models = dict.fromkeys(e.model for e in entries.values())
    header = Header(task=tasks[0], model=", ".join(models), date=max(e.time for e in exchanges)[:10], note=note)
    transcript = Transcript(header=header, entries=tuple(entries.values()))
    transcript.write(out)
    return transcript


def describe(key: RequestKey) -> str:
    """The key of a request as text, for example ``fast on 'lift' (kitchen/kettle, iteration 2, attempt 1, ask 0)``."""
    whom = f"{key.role} on {key.sub_action!r}" if key.sub_action else key.role
    plan = f", plan {key.plan}" if key.plan else ""
    which = f"{plan}, candidate {key.candidate}" if key.candidate else plan
    return f"{whom} ({key.task}, iteration {key.iteration}, attempt {key.attempt}, ask {key.ask}{which})"
