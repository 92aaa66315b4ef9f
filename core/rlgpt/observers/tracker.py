"""The common code of the observers that write a run to a tracker (TensorBoard, Weights & Biases, MLflow, a JSON
file).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rlgpt.domain import CurvePoint, Iteration
from rlgpt.errors import RunError
from rlgpt.files import parse_json
from rlgpt.llm.budget import Spending
from rlgpt.loop import Observer
from rlgpt.observers import entries
from rlgpt.observers.entries import Numbers, Row
from rlgpt.runs import Run

FOLDER = "observers"
"""Subfolder of a run with one file for each tracker, which records what the tracker has written."""
_LIMIT = 1 << 20
FILM_LIMIT = 64 << 20
"""Maximal size of a video that is sent to a tracker, in bytes."""


class Tracker(Observer, ABC):
    """Writes configuration, curves, episodes, a table of actions, videos and the bundle of a run to a tracker.

    The step of a tracker's entry is the number of primitive steps since the run began. The step of numbers named
    ``llm/...`` is the number of calls of the language model.

    A tracker writes no entry twice, even if the run is killed and resumed. A *mark* is the last step that was written
    for a family of entries (for example, all points of the curve). The marks are in ``observers/NAME.json`` in the
    run's folder; a mark is stored before its entry is written. If the tracker's storage has lost the run, all finished
    iterations are written again.

    An error that a method of a tracker raises ends this tracker, and the run continues
    (:class:`~rlgpt.observers.several.Several`).

    :ivar name: name of the tracker, as in ``observers=NAME``.
    """

    name: str

    def __init__(self) -> None:
        self._run: Run | None = None
        self._marks: dict[str, float] = {}
        self._start = 0

    @abstractmethod
    def open(self, run: Run, marks: Mapping[str, Any]) -> bool:
        """Open the tracker. The method ``open`` is called once, before all other methods of the tracker.

        :param run: the run that is written.
        :param marks: the mark of each family of entries, and under ``place`` the text that :meth:`place` returned when
            the run was first written; empty for a new run.
        :returns: whether the tracker already contains this run, so that the run is continued there.
        :raises Exception: the tracker cannot be reached, or the entry cannot be written to the tracker. The other
            methods raise this error, too.
        """

    @abstractmethod
    def numbers(self, values: Numbers, step: int) -> None:
        """Write numbers at a step.

        :param values: at least one number with its name; success rates are from 0 to 1, costs are in dollars.
        :param step: primitive steps since the run began; for numbers named ``llm/...``, calls of the language model.
        """

    @abstractmethod
    def table(self, name: str, rows: Sequence[Row], step: int) -> None:
        """Write a table.

        :param name: the name of the table, which is ``episodes``, ``actions`` or ``report_episodes``.
        :param rows: at least one row of the table; all rows have the same columns.
        :param step: primitive steps since the run began.
        """

    @abstractmethod
    def configuration(self, values: Mapping[str, Any]) -> None:
        """Write the configuration of the run.

        :param values: the nested settings of the run, and the keys ``task`` and ``versions``.
        """

    def video(self, path: Path) -> None:
        """Write a video (mp4)."""

    def bundle(self, folder: Path) -> None:
        """Write the bundle of the run."""

    @abstractmethod
    def close(self, status: str) -> None:
        """Close the tracker. The method ``close`` is called once, even if the run failed.

        :param status: the status of the run (:class:`~rlgpt.runs.record.RunRecord`), for example ``finished``.
        """

    def place(self) -> str:
        """A text that identifies the run in the tracker. The method is called after :meth:`open`."""
        return ""

    def begins(self, run: Run) -> None:
        self._run = run
        marks = self._read_marks(run)
        if self.open(run, marks) and marks.get("place", self.place()) == self.place():
            self._marks = {k: v for k, v in marks.items() if isinstance(v, int | float)}
        if self._new("config", 0):
            self.configuration({"task": run.record.task, **run.record.config, "versions": run.record.versions})
        before = 0
        for iteration in run.iterations():
            self._iteration(iteration, before)
            before += iteration.steps.total

    def stage(self, name: str, **facts: Any) -> None:
        if name == "train":
            self._start = int(facts.get("start", 0))

    def training(self, point: CurvePoint, budget: int) -> None:
        self._point(point, self._start)

    def spent(self, spending: Spending) -> None:
        values = entries.of_spending(spending)
        if self._new("llm", values["llm/calls"]):
            self.numbers(values, int(values["llm/calls"]))

    def finished(self, name: str, **facts: Any) -> None:
        run = self._run
        if run is None:
            return
        if name == "iteration" and (iteration := _iteration_of(run, int(facts["index"]))) is not None:
            self._iteration(iteration, sum(i.steps.total for i in run.iterations()[: iteration.index]))
        if name == "report" and (report := run.report()) is not None:
            step = run.record.steps.total
            if self._new("report", step):
                self._numbers(entries.of_report(report), step)
                self._table("report_episodes", entries.report_rows(report.evaluation, iteration=report.iteration), step)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if (run := self._run) is None:
            return
        try:
            if run.record.status in ("finished", "stopped"):
                self._files(run)
        finally:
            self._run = None
            self.close(run.record.status)

    def _files(self, run: Run) -> None:
        step = run.record.steps.total
        if run.files.exists("bundle/bundle.json") and self._new("bundle", step):
            self.bundle(run.files.subfolder("bundle"))
        folder = run.files.subfolder("videos")
        for name in run.files.names("videos"):
            if not name.endswith(".mp4") or name[0] == "." or not self._new(f"videos/{name}", step):
                continue
            with run.files.open(f"videos/{name}", limit=FILM_LIMIT) as file:
                is_film = file.read(8)[4:] == b"ftyp"
            if is_film:
                self.video(folder / name)

    def _iteration(self, iteration: Iteration, before: int) -> None:
        """Write a finished iteration to the tracker, with its numbers, its tables, and those points of its learning
        curve that are not written yet.
        """
        step = before + iteration.steps.total
        if step <= self._marks.get("iteration", -1):
            return
        for point in iteration.training.curve if iteration.training is not None else ():
            self._point(point, before + iteration.steps.before_training)
        if self._new("iteration", step):
            self._numbers(entries.of_iteration(iteration), step)
            self._table("actions", entries.action_rows(iteration), step)
            self._table("episodes", entries.episode_rows(iteration), step)

    def _point(self, point: CurvePoint, start: int) -> None:
        step = start + point.primitive_steps
        if point.episodes and self._new("train", step):
            self._numbers(entries.of_point(point), step)

    def _numbers(self, values: Numbers, step: int) -> None:
        if values:
            self.numbers(values, step)

    def _table(self, name: str, rows: Sequence[Row], step: int) -> None:
        if rows:
            self.table(name, rows, step)

    def _new(self, family: str, step: float) -> bool:
        """Whether ``step`` is larger than the mark of the family of entries. If ``step`` is larger than the mark, the
        method stores ``step`` as the new mark.
        """
        run = self._run
        if run is None or step <= self._marks.get(family, -1):
            return False
        self._marks[family] = step
        marks = {"place": self.place(), **self._marks}
        run.files.write(f"{FOLDER}/{self.name}.json", json.dumps(marks, indent=1) + "\n")
        return True

    def _read_marks(self, run: Run) -> dict[str, Any]:
        name = f"{FOLDER}/{self.name}.json"
        if not run.files.exists(name):
            return {}
        try:
            found = parse_json(run.files.read_text(name, limit=_LIMIT))
        except ValueError as fault:
            raise RunError(f"{run.folder / name} does not contain valid JSON: {fault}. Delete this file.") from fault
        return found if isinstance(found, dict) else {}


def _iteration_of(run: Run, index: int) -> Iteration | None:
    return run.stage(f"iterations/{index}/iteration", Iteration)
