"""A run's folder. The result of each stage of a run is one file, written atomically. A stage whose result file exists
is not repeated.
"""

from __future__ import annotations

import datetime
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter

from rlgpt.domain import Iteration
from rlgpt.errors import RunError
from rlgpt.files import Folder, read_json
from rlgpt.files.folder import is_utf8
from rlgpt.runs.record import SCHEMA_VERSION, Report, RunRecord
from rlgpt.runs.seal import is_own, seal
from rlgpt.secrets import redact

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

RECORD = "run.json"
STOP = "stop"
"""Name of the file that asks the process of a run to stop."""
_PACKAGES = ("rlgpt", "gymnasium", "torch", "numpy", "sample-factory", "mujoco", "wasmtime", "litellm")
_RECORD_LIMIT = 16 << 20
_STAGE_LIMIT = 128 << 20
_RESTORE = "Restore it from a copy, or start a new run."
_AGAIN = "Delete it to do this stage again, then resume."


class Run:
    """One run on disk. The run's folder may come from an untrusted source, so the class Run accesses all files through
    :attr:`files`.

    Call :meth:`create` or :meth:`open` to make a Run object, and hold :meth:`lock` while you write to the run's folder.

    :raises RunError: the path of the folder is not UTF-8.
    """

    def __init__(self, folder: Path, record: RunRecord) -> None:
        if not is_utf8(str(folder)):
            raise RunError(f"the path {str(folder)!a} is not UTF-8. Rename the folder, or choose another one.")
        self.folder, self.files, self._record = folder, Folder(folder, RunError), record

    @staticmethod
    def exists(folder: Path) -> bool:
        """Whether ``folder`` contains a run.

        :raises RunError: the file ``run.json`` in the folder is a link, or is not a regular file.
        """
        return Folder(folder, RunError).exists(RECORD)

    @classmethod
    def create(cls, folder: Path, *, task: str, seed: int, config: Mapping[str, Any]) -> Run:
        """Begin a run in an empty or new folder.

        :raises RunError: the folder already contains a run.
        """
        if cls.exists(folder):
            raise RunError(
                f"{folder} already contains a run; continue it with `rlgpt resume {folder}`, or choose another folder."
            )
        created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        run = cls(folder, RunRecord(task=task, seed=seed, created=created, versions=versions()))
        run.update(config=config)
        return run

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Open an existing run.

        :raises RunError: the folder contains no run, or ``run.json`` is damaged or has another schema.
        """
        if not cls.exists(folder):
            inner = sorted(str(path.parent) for path in folder.glob(f"*/{RECORD}"))[:3]
            such = f", such as {' or '.join(inner)}" if inner else ""
            raise RunError(f"there is no run at {folder}: give the folder that contains run.json{such}.")
        path = folder / RECORD
        text = Folder(folder, RunError).read_text(RECORD, limit=_RECORD_LIMIT)
        return cls(folder, read_json(text, RunRecord, path, RunError, _RESTORE, version=SCHEMA_VERSION))

    @property
    def record(self) -> RunRecord:
        return self._record

    @property
    def own(self) -> bool:
        """Whether this user made the run or approved its configuration."""
        return is_own(self._record)

    def update(self, **changes: Any) -> None:
        """Change fields of the run record in memory and on disk. If ``config`` is among the changed fields, the new
        configuration counts as approved by the user.
        """
        if "reason" in changes:
            changes["reason"] = redact(changes["reason"])
        record = RunRecord.model_validate({**self._record.model_dump(), **changes})
        if "config" in changes:
            record = record.model_copy(update={"seal": seal(record)})
        self._record = record
        self.rewrite(RECORD.removesuffix(".json"), record)

    def once(self, name: str, kind: type[T] | Any, make: Callable[[], T]) -> T:
        """The result of stage ``name``. If the stage's result file exists, the method reads the result from this file.
        If the stage has no result file, the method calls ``make`` and writes its result to the file.

        :param name: a path in the folder, without ``.json``.
        :param kind: a type that pydantic can validate (a model, or a tuple of models).
        :raises RunError: the stage's result file exists and cannot be read.
        """
        if self.files.exists(f"{name}.json"):
            there: T = self._read(name, kind)
            return there
        value = make()
        self.files.write(f"{name}.json", TypeAdapter(kind).dump_json(value, indent=1))
        return value

    def rewrite(self, name: str, value: BaseModel) -> None:
        """Write the result of the stage ``name``, and replace the stage's result file if it exists. An iteration is
        written a second time after the critic has judged it.
        """
        self.files.write(f"{name}.json", value.model_dump_json(indent=1) + "\n")

    def iterations(self) -> tuple[Iteration, ...]:
        """Every finished iteration, in order.

        :raises RunError: an iteration cannot be read, or has another index than its folder.
        """
        finished: list[Iteration] = []
        while self.files.exists(f"{(name := f'iterations/{len(finished)}/iteration')}.json"):
            iteration: Iteration = self._read(name, Iteration)
            if iteration.index != len(finished):
                path = self.folder / f"{name}.json"
                raise RunError(f"{path} contains iteration {iteration.index}, not {len(finished)}. {_RESTORE}")
            finished.append(iteration)
        return tuple(finished)

    def report(self) -> Report | None:
        """The report of the run; None before the end of the run.

        :raises RunError: the file of the run's report exists and cannot be read.
        """
        return self.stage("report", Report)

    def stages(self, subfolder: str, kind: type[M]) -> list[M]:
        """The values of all JSON files ``SUBFOLDER/*/*.json``, in the order of the files' names.

        :raises RunError: one of the files cannot be read.
        """
        return [value for part in self.files.names(subfolder) for value in self.values(f"{subfolder}/{part}", kind)]

    def values(self, subfolder: str, kind: type[M]) -> list[M]:
        """The values of all JSON files in a subfolder of the run's folder, in the order of the files' names.

        :raises RunError: one of the files cannot be read.
        """
        return [self._read(f"{subfolder}/{name}", kind) for name in self._json(subfolder)]

    def stage(self, name: str, kind: type[T]) -> T | None:
        """The result of the stage ``name``; None if the stage is not finished.

        :raises RunError: the stage's result file exists and cannot be read.
        """
        if not self.files.exists(f"{name}.json"):
            return None
        value: T = self._read(name, kind)
        return value

    def request_stop(self) -> None:
        """Ask the process that works on the run to stop, as an interrupt does. The run can be resumed."""
        self.files.write(STOP, "")

    @property
    def stop_requested(self) -> bool:
        """Whether somebody has requested a stop since the process of the run began."""
        return self.files.exists(STOP)

    def forget_stop(self) -> None:
        """Delete an earlier request to stop the run."""
        self.files.remove(STOP)

    def forget(self, name: str) -> None:
        """Delete the result file of the stage ``name``, so that the stage is repeated when its result is needed
        next.
        """
        self.files.remove(f"{name}.json")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder for this process.

        :raises RunError: another process has locked it.
        """
        from filelock import FileLock, Timeout

        self.files.open_in_place(".lock").close()  # This raises an error for a link; filelock would follow it.
        lock = FileLock(self.folder / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout as fault:
            raise RunError(
                f"another process is working on {self.folder}; wait until it ends, or stop it first."
            ) from fault
        try:
            yield
        finally:
            lock.release()

    def _json(self, subfolder: str) -> list[str]:
        return [name.removesuffix(".json") for name in self.files.names(subfolder) if name.endswith(".json")]

    def _read(self, name: str, kind: Any) -> Any:
        text = self.files.read_text(f"{name}.json", limit=_STAGE_LIMIT)
        model = isinstance(kind, type) and issubclass(kind, BaseModel)
        return read_json(text, kind if model else TypeAdapter(kind), self.folder / f"{name}.json", RunError, _AGAIN)


def versions() -> dict[str, str]:
    """Versions of the packages on which the result of a run depends."""
    known = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            known[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return known
