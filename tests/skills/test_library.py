"""A library of skills on disk: versions are written completely and never change. Damaged or hostile
files do no harm.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rlgpt.errors import RlgptError, SkillError, UnknownNameError
from rlgpt.skills import Served, SkillId, SkillLibrary
from shelf import made

Put = Callable[..., SkillId]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(("walk", "fetch")), st.sampled_from(("add", "remove", "note", "last"))), max_size=12
    )
)
def test_new_versions_get_the_next_number_and_old_versions_never_change(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]]
) -> None:
    """Compare the library with a simple model: name -> version -> content."""
    library = SkillLibrary(tmp_path_factory.mktemp("library") / "skills")
    model: dict[str, dict[int, str]] = {}
    for number, (name, what) in enumerate(steps):
        there = model.setdefault(name, {})
        if what == "add":
            source = f"def run():\n    yield use()  # {number}\n"
            id = library.add(*made(name, source=source))
            assert id.version == max(there, default=0) + 1
            there[id.version] = source
        elif there and what == "note":
            id = SkillId(name=name, version=min(there))
            library.note(id, Served(time="now", run=str(number), task="grid/door"))
            assert library.load(id).served[-1].run == str(number)
        elif there and what in ("remove", "last"):
            version = min(there) if what == "remove" else None
            gone = library.remove(name, version)
            assert [g.version for g in gone] == ([version] if version else sorted(there))
            model[name] = {} if version is None else {v: s for v, s in there.items() if v != version}
        assert library.names() == sorted(n for n, versions in model.items() if versions)
        for name, versions in model.items():
            if versions:
                assert library.versions(name) == sorted(versions)
            for version, source in versions.items():
                assert library.load(SkillId(name=name, version=version)).bundle.actions[0].source == source
    assert not list(library.folder.glob(".*")), "nothing is left over"


def test_added_skill_is_read_back_unchanged(library: SkillLibrary) -> None:
    bundle, record = made("walk", made_from=(SkillId(name="fetch", version=3),), settings={"slip": 0.5})
    id = library.add(bundle, record)
    skill = library.load(id)
    assert skill.bundle == bundle
    assert skill.record == record.model_copy(update={"seal": skill.record.seal})
    assert skill.is_own
    assert str(skill.record.success) == "1 [0.8389, 1]"


def test_processes_that_add_at_the_same_time_get_different_versions(library: SkillLibrary) -> None:
    def add(number: int) -> SkillId:
        return library.add(*made("walk", source=f"def run():\n    yield use()  # {number}\n"))

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(add, range(16)))
    assert sorted(id.version for id in ids) == list(range(1, 17))
    for number, id in enumerate(ids):
        assert f"# {number}\n" in library.load(id).bundle.actions[0].source


def test_failed_add_leaves_no_files(library: SkillLibrary, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    put("walk")
    before = tree(library.folder)
    with monkeypatch.context() as patch:
        patch.setattr("rlgpt.files.folder.os.rename", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            put("walk")
    assert tree(library.folder) == before
    assert library.versions("walk") == [1]


def test_error_names_the_missing_skill_or_version(library: SkillLibrary, put: Put) -> None:
    assert library.names() == []
    put("walk")
    for call in (lambda: library.versions("wolk"), lambda: library.remove("wolk"), lambda: library.remove("walk", 7)):
        with pytest.raises(UnknownNameError, match=r"Valid: (walk|1)"):
            call()
    with pytest.raises(SkillError, match="no skill walk/2"):
        library.note(SkillId(name="walk", version=2), Served(time="", run="", task="grid/key"))


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ('"schema_version": 1', f'"schema_version": {"9" * 5000}', "digits"),
        ('"schema_version": 1', '"schema_version": 1, "x": ' + "[" * 9999 + "]" * 9999, "deep"),
        ('"schema_version": 1', '"schema_version": 1, "schema_version": 1', "twice"),
        ('"schema_version": 1', '"schema_version": 1, "_target_": "os.abort"', "_target_"),
        ('"schema_version": 1', '"schema_version": 7', "schema version 7"),
        ('"name": "walk"', '"name": "../../private"', "name"),
        ('"version": 1', '"version": 2', "is the record of walk/2"),
        ('"predicate": ""', '"predicate": "done"', "predicate done"),
        ('"steps": 12', '"steps": -1e999', "steps"),
        ('"score": null,\n   "steps"', '"score": 1e308,\n   "steps"', "score"),
        ('"starts": [', '"starts": [], "x": [', "x"),
    ],
)
def test_damaged_record_is_an_error_with_a_short_message(
    library: SkillLibrary, put: Put, old: str, new: str, word: str
) -> None:
    put("walk")
    path = library.folder / "walk" / "1" / "skill.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(SkillError, match=word) as caught:
        library.newest("walk")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("place", ["walk", "walk/1", "walk/1/skill.json", "walk/1/actions", "walk/1/events.jsonl"])
@pytest.mark.parametrize("kind", ["link", "pipe", "device"])
def test_library_neither_reads_nor_writes_links_pipes_and_devices(
    library: SkillLibrary, put: Put, tmp_path: Path, place: str, kind: str
) -> None:
    put("walk")
    put("fetch")
    id = SkillId(name="walk", version=1)
    library.note(id, Served(time="", run="1", task="grid/key"))
    path, private = library.folder / place, tmp_path / "private"
    private.mkdir()
    path.rename(private / "moved")
    if kind == "link":
        path.symlink_to(private / "moved")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    before = tree(private)
    with pytest.raises(RlgptError):
        library.newest("walk")
    if place in ("walk", "walk/1", "walk/1/events.jsonl"):
        with pytest.raises(RlgptError):
            library.note(id, Served(time="", run="2", task="grid/key"))
    if place == "walk":
        with pytest.raises(RlgptError):
            put("walk")
    assert all(isinstance(s, RlgptError) for s in library.skills("walk"))
    library.remove("walk")
    assert library.names() == ["fetch"]
    assert tree(private) == before


def test_library_with_too_many_skills_is_an_error(library: SkillLibrary, put: Put) -> None:
    put("walk")
    for number in range(1_001):
        (library.folder / f"s{number}").mkdir()
    with pytest.raises(SkillError, match="at most 1,000"):
        library.names()
