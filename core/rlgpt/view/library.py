"""Computes the answers to all requests of the live page, as plain values. A request contains the ids of runs; no text
of a request is used as a file path.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeVar

from rlgpt.errors import ConfigError, RlgptError, UnknownNameError
from rlgpt.runs import Run
from rlgpt.view import comparing, shown
from rlgpt.view.catalogue import Catalogue
from rlgpt.view.dialogue import SECONDS, Dialogue
from rlgpt.view.plain import plain
from rlgpt.view.plans import plans_of, shown_plan
from rlgpt.view.process import Processes
from rlgpt.view.progress import Axis, Progress
from rlgpt.view.sweeps import sweeps

T = TypeVar("T")
KEPT = 256
"""Maximal number of objects of :class:`Dialogue` and :class:`Progress` that are kept in memory. A run has one of each.
"""
FILM_LIMIT = 64 << 20


class Library:
    """The answers to the page's requests. Several threads may call the methods of the class Library simultaneously."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self.catalogue, self.processes = Catalogue(roots), Processes()
        self._kept: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._figures: OrderedDict[Any, bytes] = OrderedDict()
        self._lock = Lock()

    def runs(self) -> list[dict[str, Any]]:
        return self.catalogue.lines()

    def sweeps(self) -> dict[str, Any]:
        """A dict from the name of a folder with several runs to the summary of these runs."""
        return sweeps(self.catalogue.lines())

    def bills(self, keys: Sequence[str]) -> dict[str, Any]:
        """Tokens, dollars and the result with its confidence interval, for each run. The page's list of runs does not
        contain tokens, dollars and results, because they are read from larger files.
        """
        found = {}
        for key in keys[: comparing.RUNS]:
            try:
                run = self.catalogue.run(key)
                report = run.report()
                score = None if report is None else shown.evaluation(report.evaluation)
                found[key] = {**self._dialogue(key, run).bill(), "report": score}
            except RlgptError as fault:
                found[key] = {"fault": plain(str(fault), 500)}
        return found

    def run(self, key: str) -> dict[str, Any]:
        run = self.catalogue.run(key)
        dialogue, progress = self._dialogue(key, run), self._progress(key, run)
        now, whole = progress.now(SECONDS), self.catalogue.whole(key)
        return {
            **shown.overview(run, {} if whole else self.catalogue.parts(key)),
            "id": key,
            "name": plain(self.catalogue.name(key)),
            "status": self.catalogue.status(key),
            "whole": {"id": whole, "name": plain(self.catalogue.name(whole))} if whole else None,
            "stopping": run.stop_requested,
            "bill": dialogue.bill(SECONDS),
            **now,
            "output": self.processes.output(run.folder),
        }

    def iteration(self, key: str, index: int) -> dict[str, Any]:
        return shown.iteration(self.catalogue.run(key), index)

    def attempt(self, key: str, index: int, kind: str, name: str, number: int) -> dict[str, Any]:
        run = self.catalogue.run(key)
        found = shown.attempt(run, index, kind, name, number)
        plan = shown_plan(run, index, plans_of(run, index))
        review = [
            line["number"]
            for line in self._dialogue(key, run).list()
            if line["role"] == "review"
            and (line["iteration"], line["plan"], line["sub_action"], line["attempt"]) == (index, plan, name, number)
        ]
        return {**found, "review_exchanges": review}

    def decision(self, key: str, index: int, name: str, number: int, step: int) -> dict[str, Any]:
        return shown.decision(self.catalogue.run(key), index, name, number, step)

    def exchanges(self, key: str) -> list[dict[str, Any]]:
        return self._dialogue(key, self.catalogue.run(key)).list()

    def exchange(self, key: str, number: int) -> dict[str, Any]:
        return self._dialogue(key, self.catalogue.run(key)).exchange(number)

    def video(self, key: str, name: str) -> bytes:
        run = self.catalogue.run(key)
        if name not in run.files.names("videos") or not name.endswith(".mp4"):
            raise UnknownNameError("video", name[:60], run.files.names("videos"))
        film = run.files.read(f"videos/{name}", limit=FILM_LIMIT)
        if film[4:8] != b"ftyp":
            raise ConfigError(f"{run.folder / 'videos' / name} is not a video in MP4 format.")
        return film

    def comparison(self, keys: Sequence[str], axis: Axis, by: Literal["run", "method"]) -> dict[str, Any]:
        selected = self._selected(keys)
        return {
            "differences": comparing.differences([run for run, _, _ in selected]),
            "lines": comparing.ends(comparing.series(selected, axis, by)),
            **comparing.left_out(selected, axis, by),
        }

    def figure(self, keys: Sequence[str], axis: Axis, by: Literal["run", "method"], theme: str) -> bytes:
        selected = self._selected(keys)
        lines = comparing.series(selected, axis, by)
        scores = any(progress.measure() == "score" for _, progress, _ in selected)
        content = (axis, theme, scores, repr(lines))
        with self._lock:
            if content in self._figures:
                return self._figures[content]
        drawn = comparing.figure(lines, axis, theme, "score" if scores else "")
        with self._lock:
            self._figures[content] = drawn
            while len(self._figures) > 32:
                self._figures.popitem(last=False)
        return drawn

    def stop(self, key: str) -> None:
        self.processes.stop(self._whole(key))

    def resume(self, key: str) -> None:
        run = self._whole(key)
        if (status := self.catalogue.status(key)) in ("running", "finished"):
            raise ConfigError(f"{run.folder} cannot be resumed: its status is {status}.")
        self.processes.resume(run)

    def _whole(self, key: str) -> Run:
        if whole := self.catalogue.whole(key):
            raise ConfigError(f"this is a part of {self.catalogue.name(whole)}: stop or resume the whole run.")
        return self.catalogue.run(key)

    def _selected(self, keys: Sequence[str]) -> list[comparing.Shown]:
        if not 0 < len(keys) <= comparing.RUNS:
            raise ConfigError(f"{len(keys)} runs are given; 1 to {comparing.RUNS} can be compared.")
        runs = [(key, self.catalogue.run(key)) for key in dict.fromkeys(keys)]
        return [(run, self._progress(key, run), self.catalogue.name(key)) for key, run in runs]

    def _dialogue(self, key: str, run: Run) -> Dialogue:
        def made() -> Dialogue:
            whole = self.catalogue.whole(key)
            return Dialogue(self.catalogue.run(whole), run.record.task) if whole else Dialogue(run)

        return self._keep(("dialogue", key), made)

    def _progress(self, key: str, run: Run) -> Progress:
        return self._keep(("progress", key), lambda: Progress(run))

    def _keep(self, what: tuple[str, str], make: Callable[[], T]) -> T:
        with self._lock:
            kept: T = self._kept.pop(what) if what in self._kept else make()
            self._kept[what] = kept
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return kept
