"""The observer ``observers=jsonl`` writes the entries of a tracker as lines of JSON in the run's folder, for the user's
own programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from rlgpt.domain import Value
from rlgpt.files import JsonLines
from rlgpt.observers.entries import FILE, Numbers, Row
from rlgpt.observers.tracker import Tracker
from rlgpt.runs import Run
from rlgpt.secrets import redact
from rlgpt.terminal import visible

_MESSAGE = 2000
"""Maximal number of characters of a message."""


class Entry(Value):
    """One line of ``events.jsonl``.

    :ivar time: the time when the line was written, in UTC, in the format of ISO 8601.
    :ivar step: primitive steps since the run began; for numbers named ``llm/...``, the number of calls of the language
        model.
    :ivar name: name of the stage or table.
    :ivar facts: details of a stage. The entry at the start of a stage says what the stage works on (such as the name of
        a coded action). The entry at the end of a stage has the results of the stage.
    :ivar text: a message for the user.
    :ivar file: path of a video or of the bundle, relative to the run's folder.
    """

    time: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    kind: Literal["session", "stage", "finished", "message", "configuration", "numbers", "table", "video", "bundle"]
    step: int = 0
    name: str = ""
    facts: Mapping[str, Any] = Field(default_factory=dict)
    text: str = ""
    numbers: Mapping[str, float] = Field(default_factory=dict)
    rows: tuple[Mapping[str, Any], ...] = ()
    configuration: Mapping[str, Any] = Field(default_factory=dict)
    file: str = ""


class JsonlTracker(Tracker):
    """JsonlTracker appends one JSON object for each entry to ``events.jsonl`` in the run's folder. ``rlgpt view`` reads
    this file.

    The stages and messages of every session of the run also become lines of ``events.jsonl``.
    """

    name = "jsonl"

    def open(self, run: Run, marks: Mapping[str, Any]) -> bool:
        self._lines = JsonLines(run.files, FILE, Entry, "Delete the file: a resumed run writes it again.")
        there = run.files.exists(FILE)
        self._lines.append(Entry(kind="session", step=run.record.steps.total))
        return there

    def stage(self, name: str, **facts: Any) -> None:
        super().stage(name, **facts)
        self._event("stage", name=name, facts=facts)

    def finished(self, name: str, **facts: Any) -> None:
        super().finished(name, **facts)
        self._event("finished", name=name, facts=facts)

    def message(self, text: str) -> None:
        self._event("message", text=visible(redact(text))[:_MESSAGE])

    def _event(self, kind: Any, **more: Any) -> None:
        if self._run is not None:
            self._lines.append(Entry(kind=kind, step=self._run.record.steps.total, **more))

    def configuration(self, values: Mapping[str, Any]) -> None:
        self._lines.append(Entry(kind="configuration", configuration=values))

    def numbers(self, values: Numbers, step: int) -> None:
        self._lines.append(Entry(kind="numbers", step=step, numbers=values))

    def table(self, name: str, rows: Sequence[Row], step: int) -> None:
        self._lines.append(Entry(kind="table", name=name, step=step, rows=tuple(rows)))

    def video(self, path: Path) -> None:
        self._lines.append(Entry(kind="video", file=f"videos/{path.name}"))

    def bundle(self, folder: Path) -> None:
        self._lines.append(Entry(kind="bundle", file=folder.name))

    def close(self, status: str) -> None:
        """Do nothing, because every line of ``events.jsonl`` is already on the disk."""
