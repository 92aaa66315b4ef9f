"""A run's folder. Every stage is written whole; a stage that is there is not done again."""

from __future__ import annotations

import datetime
import json
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from rlgpt.domain import Iteration
from rlgpt.errors import RunError
from rlgpt.files import read_model, read_text, write_atomic
from rlgpt.runs.record import SCHEMA_VERSION, Report, RunRecord

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

_PACKAGES = ("rlgpt", "gymnasium", "torch", "numpy", "sample-factory", "mujoco", "wasmtime", "litellm")


class Run:
    """One run on disk.

    Use :meth:`create` or :meth:`open`; hold :meth:`lock` while writing.
    """

    def __init__(self, folder: Path, record: RunRecord) -> None:
        self.folder, self._record = folder, record

    @classmethod
    def create(cls, folder: Path, *, task: str, seed: int, config: Mapping[str, Any]) -> Run:
        """Begin a run in an empty or new folder.

        :raises RunError: a run lives there already.
        """
        if (folder / "run.json").exists():
            raise RunError(f"{folder} holds a run already; continue it with `rlgpt resume {folder}` or choose another.")
        created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        run = cls(folder, RunRecord(task=task, seed=seed, created=created, config=config, versions=versions()))
        run._save()
        return run

    @classmethod
    def open(cls, folder: Path) -> Run:
        """A run that exists.

        :raises RunError: there is none, or ``run.json`` is corrupt or of another schema.
        """
        path = folder / "run.json"
        if not path.is_file():
            raise RunError(f"there is no run at {folder}: give the folder that holds run.json.")
        try:
            raw = json.loads(read_text(path, limit=16 << 20, error=RunError))
        except json.JSONDecodeError as fault:
            raise RunError(f"{path} is no JSON ({fault}); restore it from a copy, or start the run anew.") from fault
        version = raw.get("schema_version") if isinstance(raw, dict) else None
        if version != SCHEMA_VERSION:
            raise RunError(f"{path} has schema version {version!r}; this version of rlgpt reads {SCHEMA_VERSION}.")
        return cls(folder, read_model(path, RunRecord, error=RunError))

    @property
    def record(self) -> RunRecord:
        return self._record

    def update(self, **changes: Any) -> None:
        """Change fields of the record, on disk too."""
        self._record = RunRecord.model_validate({**self._record.model_dump(), **changes})
        self._save()

    def once(self, name: str, kind: type[T] | Any, make: Callable[[], T]) -> T:
        """The value of stage ``name`` (a path under the folder, without ``.json``): read if it is there, else made.

        :param kind: a type pydantic can validate (a model, or a tuple of models).
        :raises RunError: the stage's file is there but cannot be read.
        """
        path = self.folder / f"{name}.json"
        adapter: TypeAdapter[T] = TypeAdapter(kind)
        if path.exists():
            try:
                return adapter.validate_json(read_text(path, limit=256 << 20, error=RunError))
            except ValidationError as fault:
                first = fault.errors()[0]
                where = ".".join(map(str, first["loc"]))
                raise RunError(
                    f"{path} is corrupt ({where}: {first['msg']}). Delete it to do this stage again, then resume."
                ) from fault
        value = make()
        write_atomic(path, adapter.dump_json(value, indent=1))
        return value

    def rewrite(self, name: str, value: BaseModel) -> None:
        """Put a fuller value in the place of stage ``name``, whole (an iteration, once the critic has spoken)."""
        write_atomic(self.folder / f"{name}.json", value.model_dump_json(indent=1))

    def iterations(self) -> tuple[Iteration, ...]:
        """Every finished iteration, in order."""
        found: list[Iteration] = []
        while (path := self.folder / "iterations" / str(len(found)) / "iteration.json").exists():
            found.append(read_model(path, Iteration, error=RunError, limit=256 << 20))
        return tuple(found)

    def report(self) -> Report | None:
        path = self.folder / "report.json"
        return read_model(path, Report, error=RunError, limit=256 << 20) if path.exists() else None

    def forget(self, name: str) -> None:
        """Do stage ``name`` again when next asked for."""
        (self.folder / f"{name}.json").unlink(missing_ok=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder for this process.

        :raises RunError: another process holds it.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout as fault:
            raise RunError(f"another process is working on {self.folder}; wait for it, or stop it first.") from fault
        try:
            yield
        finally:
            lock.release()

    def _save(self) -> None:
        write_atomic(self.folder / "run.json", self._record.model_dump_json(indent=1) + "\n")


def versions() -> dict[str, str]:
    """Versions of what a result depends on."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
