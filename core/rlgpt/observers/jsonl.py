"""``observers=jsonl``: what trackers get, as lines of JSON in the run's folder, for programs of your own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from rlgpt.domain import Value
from rlgpt.files import JsonLines
from rlgpt.observers.entries import Numbers, Row
from rlgpt.observers.tracker import Tracker
from rlgpt.runs import Run

FILE = "events.jsonl"


class Entry(Value):
    """One line of the file. ``time`` is UTC, ISO 8601.

    :ivar step: primitive steps since the run began; of ``llm/...`` the number of calls.
    :ivar name: of a table.
    :ivar file: path of a video or of the bundle in the run's folder.
    """

    time: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    kind: Literal["configuration", "numbers", "table", "video", "bundle"]
    step: int = 0
    name: str = ""
    numbers: Mapping[str, float] = Field(default_factory=dict)
    rows: tuple[Mapping[str, Any], ...] = ()
    configuration: Mapping[str, Any] = Field(default_factory=dict)
    file: str = ""


class JsonlTracker(Tracker):
    """Appends one JSON object for each entry to ``events.jsonl`` in the run's folder."""

    name = "jsonl"

    def open(self, run: Run, marks: Mapping[str, Any]) -> bool:
        self._lines = JsonLines(run.files, FILE, Entry, "Delete the file: a resumed run writes it again.")
        return run.files.exists(FILE)

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
        """Every line is on the disk already."""
