"""A library of skills on disk. The folder ``NAME/VERSION/`` in a skill library is a bundle with its record
``skill.json``.

A version of a skill is written completely or not at all, and its bundle and record never change. Later tests of a
skill's version, and the runs that used the version, are appended to its file ``events.jsonl``. The folder may be the
work of a stranger, so its files are read as data, no link is followed, and sizes are limited.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rlgpt.domain import Bundle
from rlgpt.domain.values import NAME
from rlgpt.errors import BundleError, RlgptError, SkillError, UnknownNameError
from rlgpt.files import Folder, JsonLines, read_json
from rlgpt.files.seal import is_sealed, seal
from rlgpt.files.trees import delete
from rlgpt.options.bundle import load_bundle, save_bundle
from rlgpt.skills.record import EVENT, SCHEMA_VERSION, Served, SkillId, SkillRecord, SkillTest

RECORD = "skill.json"
EVENTS = "events.jsonl"
POLICY = "policy"
"""The subfolder of a version that contains the checkpoint of its policy."""
WEIGHTS = "best.pt"

_RECORD_LIMIT = 64 << 20
_EVENTS_LIMIT = 4 << 20
_POLICY_LIMIT = 256 << 20
_SKILLS = 1_000
"""Maximal number of skills in a library, and maximal number of versions of a skill."""
_VERSION = re.compile(r"[1-9][0-9]{0,4}")
_AGAIN = "Remove this version with `rlgpt skills remove`, or restore it from a copy."


@dataclass(frozen=True)
class Skill:
    """One version of a skill.

    :ivar events: the later tests of the skill and the runs that used the skill, oldest first.
    :ivar folder: the folder of the skill's bundle.
    :ivar changed: what was replaced by what in the code of a copy that fits another task
        (:mod:`rlgpt.skills.renaming`); empty if nothing was replaced.
    :ivar left_out: number of coded actions that a copy for another task lacks, because they do not fit this task.
    """

    record: SkillRecord
    bundle: Bundle
    events: tuple[SkillTest | Served, ...]
    folder: Path
    changed: str = ""
    left_out: int = 0

    @property
    def id(self) -> SkillId:
        return self.record.id

    @property
    def policy(self) -> Path | None:
        """The folder with the checkpoint of the skill's policy; None if the skill acts by code."""
        return None if self.record.mode == "code" else self.folder / POLICY

    @property
    def is_own(self) -> bool:
        """Whether this user made the skill on this machine."""
        return is_sealed(self.record.sealed_part, self.record.seal)

    @property
    def served(self) -> tuple[Served, ...]:
        return tuple(e for e in self.events if isinstance(e, Served))

    def last_test(self, plugin: str, version: str) -> SkillTest | None:
        """The newest test of the skill in a version of a plugin; None if the skill was not tested in this version."""
        tests = [e for e in self.events if isinstance(e, SkillTest)]
        return next((t for t in reversed(tests) if (t.plugin, t.version_of_plugin) == (plugin, version)), None)

    def standing(self, plugin: str, version: str) -> str:
        """The reason why the skill is not offered to runs with a version of a plugin; empty if the skill is offered.

        The record of a skill counts as a test in the version of the plugin with which the skill was made.
        """
        last = self.last_test(plugin, version)
        if last is not None:
            return f"its tests fail with {plugin} {version}: {last.failure}" if last.failure else ""
        if (plugin, version) == (self.record.plugin, self.record.version_of_plugin):
            return ""
        return f"it has not been tested with {plugin} {version}"


class SkillLibrary:
    """The library of skills in ``folder``. If the folder does not exist, the library is empty."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._files = folder, Folder(folder, SkillError)

    def names(self) -> list[str]:
        """The names of all skills, sorted.

        :raises SkillError: the folder of the skill library cannot be read, or has too many skills.
        """
        found = [n for n in self._files.names(".") if re.fullmatch(NAME, n)]
        self._bound(len(found), "skills")
        return found

    def versions(self, name: str) -> list[int]:
        """The versions of a skill, in order.

        :raises UnknownNameError: there is no skill with this name.
        :raises SkillError: the folder of the skill is a link or cannot be read.
        """
        if name not in (known := self.names()):
            raise UnknownNameError("skill", name, known, f"`rlgpt skills list {self.folder}` lists them.")
        return self._versions(name)

    def load(self, id: SkillId) -> Skill:
        """Read one version of a skill. This method runs no code of the skill.

        :raises SkillError: the version of the skill is missing, damaged, too large, or contains a link.
        """
        where = str(id)
        folder = self._files.subfolder(where)
        path = folder / RECORD
        if not self._files.exists(f"{where}/{RECORD}"):
            raise SkillError(f"{self.folder} has no skill {where}: {RECORD} is missing in {folder}.")
        text = self._files.read_text(f"{where}/{RECORD}", limit=_RECORD_LIMIT)
        record = read_json(text, SkillRecord, path, SkillError, _AGAIN, version=SCHEMA_VERSION)
        if record.id != id:
            raise SkillError(f"{path} is the record of {record.id}, not of {where}. {_AGAIN}")
        try:
            bundle = load_bundle(folder)
        except BundleError as fault:
            raise SkillError(f"the skill {where} is damaged: {fault}") from fault
        if record.predicate and record.predicate not in {f.name for f in bundle.functions if f.type == "predicate"}:
            raise SkillError(
                f"{path} names the predicate {record.predicate}, but the bundle does not contain it. {_AGAIN}"
            )
        return Skill(record, bundle, tuple(self._events(id).read()), folder)

    def newest(self, name: str) -> Skill:
        """Read the newest version of a skill. The errors are those of :meth:`versions` and :meth:`load`."""
        versions = self.versions(name)
        if not versions:
            raise SkillError(f"the skill {name} in {self.folder} has no version. Remove it with `rlgpt skills remove`.")
        return self.load(SkillId(name=name, version=versions[-1]))

    def skills(self, name: str) -> Iterator[Skill | RlgptError]:
        """Yield the versions of a skill, the newest version first. For a version of the skill that cannot be read, the
        method yields the error instead.
        """
        try:
            versions = self.versions(name)
        except RlgptError as fault:
            yield fault
            return
        for version in reversed(versions):
            try:
                yield self.load(SkillId(name=name, version=version))
            except RlgptError as fault:
                yield fault

    def add(self, bundle: Bundle, record: SkillRecord, *, policy: bytes | None = None) -> SkillId:
        """Add the next version of the skill ``record.id.name`` to the library. The version number in ``record`` is
        ignored.

        The version of the skill is written completely or not at all. An existing version of a skill is never replaced,
        even if several processes add versions simultaneously.

        :param policy: the checkpoint of the skill's policy; None if the skill acts by code.
        :raises SkillError: the version cannot be written.
        """
        name = record.id.name
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            staged = Path(tempfile.mkdtemp(dir=self.folder, prefix=".new."))
        except OSError as fault:
            raise SkillError(
                f"{self.folder} cannot hold a library of skills ({fault.strerror}). Choose another folder."
            ) from fault
        try:
            folder = save_bundle(bundle, staged / "skill")
            files = Folder(folder, SkillError)
            if policy is not None:
                files.write(f"{POLICY}/{WEIGHTS}", policy)
            record = record.model_copy(update={"seal": seal(record.sealed_part)})
            while True:
                id = SkillId(name=name, version=max(self._versions(name), default=0) + 1)
                written = record.model_copy(update={"id": id})
                files.write(RECORD, written.model_dump_json(indent=1) + "\n")
                if self._files.adopt(folder, str(id)):
                    return id
        finally:
            shutil.rmtree(staged, ignore_errors=True)

    def note(self, id: SkillId, event: SkillTest | Served) -> None:
        """Append an event (a test, or a run that used the skill) to the file of a skill's version.

        :raises SkillError: the library has no such version of the skill, or the event cannot be written.
        """
        if not self._files.exists(f"{id}/{RECORD}"):
            raise SkillError(f"{self.folder} has no skill {id}.")
        self._events(id).append(event)

    def remove(self, name: str, version: int | None = None) -> list[SkillId]:
        """Delete one version of a skill, or all versions of the skill.

        :returns: the deleted versions; empty if the versions in a damaged folder could not be listed.
        :raises UnknownNameError: there is no such skill or version.
        """
        if version is not None:
            versions = self.versions(name)
            if version not in versions:
                raise UnknownNameError(f"version of the skill {name}", str(version), map(str, versions))
            self._discard(f"{name}/{version}")
            if len(versions) == 1:
                self._discard(name)
            return [SkillId(name=name, version=version)]
        if name not in (known := self.names()):
            raise UnknownNameError("skill", name, known)
        with suppress(SkillError):  # A folder whose versions cannot be listed can still be deleted.
            gone = [SkillId(name=name, version=v) for v in self._versions(name)]
            self._discard(name)
            return gone
        self._discard(name)
        return []

    def _discard(self, where: str) -> None:
        """Delete a folder, or the link that is in the place of the folder. The folder of a skill is renamed before it
        is deleted, so that a killed process leaves no partly deleted skill.
        """
        trash = Path(tempfile.mkdtemp(dir=self.folder, prefix=".old."))
        try:
            self._files.take(where, trash / "skill")
        finally:
            with suppress(OSError):
                delete(trash)

    def _versions(self, name: str) -> list[int]:
        found = sorted(int(v) for v in self._files.names(name) if _VERSION.fullmatch(v))
        self._bound(len(found), f"versions of {name}")
        return found

    def _events(self, id: SkillId) -> JsonLines[SkillTest | Served]:
        advice = "Delete this line or the whole file. Then test the skill again with `rlgpt skills test`."
        return JsonLines(self._files, f"{id}/{EVENTS}", EVENT, advice, full=_EVENTS_LIMIT)

    def _bound(self, count: int, what: str) -> None:
        if count > _SKILLS:
            raise SkillError(f"{self.folder} has {count:,} {what}; a library has at most {_SKILLS:,}.")


def weights_of(folder: Path) -> bytes | None:
    """The bytes of the best checkpoint in a training's folder; None if the trainer stores no checkpoint file.

    :raises SkillError: the file is too large or cannot be read.
    """
    files = Folder(folder, SkillError)
    name = next((n for n in (WEIGHTS, "policy.pt") if files.exists(n)), None)
    return None if name is None else files.read(name, limit=_POLICY_LIMIT)
