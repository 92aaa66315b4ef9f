"""Finds the runs that the page shows. Each run has an id, which is not a path, and a line in the page's list of
runs.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from rlgpt.errors import RlgptError, RunError, UnknownNameError
from rlgpt.files import Folder
from rlgpt.planner.records import NODES
from rlgpt.report.loaded import find
from rlgpt.report.methods import METHODS
from rlgpt.runs import RECORD, Run, RunRecord
from rlgpt.view.plain import plain
from rlgpt.view.process import locked_inodes

SCAN_SECONDS = 3.0
"""Time between two searches for new runs, in seconds."""
FRESH_SECONDS = 60.0
"""A run whose record has changed within this number of seconds counts as running, because its process may be on another
machine.
"""

PARTS = 200
"""Maximal number of sub-goals of a run that have pages of their own."""

Stamp = tuple[int, int, int]


@dataclass
class Known:
    """A run that was found.

    :ivar whole: for the run of a sub-goal, the id of the run of the whole task.
    :ivar line: the line of the run in the list of runs.
    :ivar stamp: a value that identifies the content of ``run.json`` from which the run's line was made.
    """

    folder: Path
    name: str
    whole: str = ""
    stamp: Stamp = (0, 0, 0)
    line: dict[str, Any] = field(default_factory=dict)


class Catalogue:
    """Finds the runs in the folders ``roots`` and gives each run an id. A request can name only these ids.

    :raises RunError: a root does not exist.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = [root.resolve() for root in roots]
        for root in self._roots:
            if not root.is_dir():
                raise RunError(f"there is no folder {root}: give the folder of a run, or one that holds runs.")
        self._known: dict[str, Known] = {}
        self._parts: dict[str, Known] = {}
        self._scanned = float("-inf")
        self._lock = Lock()

    def lines(self) -> list[dict[str, Any]]:
        """The entries of the page's list of runs, the newest run first."""
        locked = locked_inodes()
        lines = [self._line(key, known, locked) for key, known in self._all().items()]
        return sorted(lines, key=lambda line: line.get("created") or "", reverse=True)

    def run(self, key: str) -> Run:
        """The run with the id ``key``.

        :raises UnknownNameError: no run has this id.
        :raises RunError: the run cannot be read.
        """
        return Run.open(self._get(key).folder)

    def name(self, key: str) -> str:
        return self._get(key).name

    def whole(self, key: str) -> str:
        """For the run of a sub-goal, the id of the run of the whole task; empty for any other run."""
        return self._get(key).whole

    def parts(self, key: str) -> dict[str, str]:
        """A dict from the label of a sub-goal to the id of the sub-goal's run. Runs of sub-goals have no line in the
        page's list of runs.
        """
        run, found = self.run(key), {}
        for label in run.files.names(NODES)[:PARTS]:
            folder = run.files.subfolder(f"{NODES}/{label}")
            if Run.exists(folder):
                found[label] = _key(folder)
                self._parts[found[label]] = Known(folder, f"{self.name(key)}: {label}", key)
        return found

    def status(self, key: str) -> str:
        """The status of a run. The status of a run is ``killed`` if its record says ``running`` but the process of the
        run has ended. The run of a sub-goal has the status of the run of the whole task.
        """
        run = self.run(self.whole(key) or key)
        return _status(run.record, run.folder, locked_inodes())

    def stamps(self) -> dict[str, Stamp]:
        """A dict from the id of a run to a value that changes whenever the record of the run changes."""
        return {key: _stamp(known.folder) for key, known in self._all().items()}

    def _get(self, key: str) -> Known:
        known = self._all().get(key) or self._parts.get(key)
        if known is None:
            raise UnknownNameError("run", key[:40], (), "It may have been moved or deleted. Reload the page.")
        return known

    def _all(self) -> Mapping[str, Known]:
        with self._lock:
            if time.monotonic() - self._scanned > SCAN_SECONDS:
                found = {_key(folder): folder for folder in self._find()}
                self._known = {
                    key: self._known.get(key) or Known(folder, self._name(folder)) for key, folder in found.items()
                }
                self._scanned = time.monotonic()
            return self._known

    def _find(self) -> list[Path]:
        folders: list[Path] = []
        for root in self._roots:
            try:
                folders += find([root])
            except RunError:
                continue  # The run has no record yet.
        return folders

    def _name(self, folder: Path) -> str:
        root = next(root for root in self._roots if folder.is_relative_to(root))
        return folder.name if folder == root else folder.relative_to(root).as_posix()

    def _line(self, key: str, known: Known, locked: set[int]) -> dict[str, Any]:
        stamp = _stamp(known.folder)
        if stamp != known.stamp or not known.line:
            known.line, known.stamp = {"id": key, **_describe(known)}, stamp
        line = known.line
        if line["status"] in ("running", "killed"):
            line = {**line, "status": _activity(known.folder, locked)}
        return line


def _describe(known: Known) -> dict[str, Any]:
    name, group = known.name, known.name.rpartition("/")[0]
    try:
        record = Run.open(known.folder).record
    except RlgptError as fault:
        return plain({"name": name, "group": group, "status": "unreadable", "reason": str(fault)})  # type: ignore[no-any-return]
    config = record.config
    agents, llm = _part(config, "agents"), _part(config, "llm")
    return plain(  # type: ignore[no-any-return]
        {
            "name": name,
            "group": group,
            "task": record.task,
            "seed": record.seed,
            "method": METHODS.get(str(agents.get("name")), str(agents.get("name") or "")),
            "model": llm.get("model") or llm.get("kind") or "",
            "status": record.status,
            "reason": record.reason[:300],
            "created": record.created,
            "success": record.success_rate,
            "score": record.score,
            "steps": record.steps.total,
            "budget": config.get("budget"),
            "iterations": record.iterations,
        }
    )


def _part(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = config.get(name)
    return part if isinstance(part, Mapping) else {}


def _status(record: RunRecord, folder: Path, locked: set[int]) -> str:
    return _activity(folder, locked) if record.status == "running" else record.status


def _activity(folder: Path, locked: set[int]) -> str:
    files = Folder(folder, RunError)
    try:
        inode = os.lstat(folder / ".lock").st_ino if files.exists(".lock") else None
    except (OSError, RunError):
        inode = None
    fresh = time.time() - _stamp(folder)[0] / 1e9 < FRESH_SECONDS
    return "running" if inode in locked or fresh else "killed"


def _stamp(folder: Path) -> Stamp:
    try:
        status = os.lstat(os.path.join(folder, RECORD))
    except OSError:
        return (0, 0, 0)
    return status.st_mtime_ns, status.st_size, status.st_ino


def _key(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
