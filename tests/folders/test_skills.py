"""Libraries of skills made by others: no command reads or changes a file outside the library, and invalid files end in
a short message. A run folder made by others uses no library without the user's approval.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mutations import mutate
from rlgpt.domain import Bundle, CodedAction
from rlgpt.plugin.library import library_of
from rlgpt.skills import SkillId, SkillLibrary, SkillRecord, SkillTest, Start, needs_of
from rlgpt.testing.grid import FETCH, TASKS, GridPlugin
from stranger import CANARY, checksums, rlgpt, set_config, unfinish

SPACE = "Discrete(5): one of 5 choices"


def put(folder: Path, source: str = FETCH, name: str = "fetch", **more: Any) -> SkillId:
    actions = (CodedAction(name="fetch", doc="take the key", source=source, max_steps=40),)
    library = library_of(GridPlugin(), TASKS["grid/key"])
    fields: dict[str, Any] = {
        "id": SkillId(name=name, version=1),
        "goal": "pick up the key",
        "task": "grid/key",
        "plugin": "grid-plugin",
        "version_of_plugin": "0.1",
        "needs": needs_of("grid", SPACE, library, actions),
        "starts": tuple(Start(seed=600_000 + i, success=True, steps=12) for i in range(12)),
        "created": "2026-11-23T12:00:00+00:00",
    }
    return SkillLibrary(folder).add(Bundle(actions=actions), SkillRecord(**{**fields, **more}))


@pytest.fixture
def shelf(home: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "skills"
    put(folder)
    put(folder)
    put(folder, name="other")
    return folder


def stranger(folder: Path, name: str = "fetch/1", **changes: Any) -> None:
    """Change a record without updating its seal, like somebody who does not have the user's key."""
    path = folder / name / "skill.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_skills_command_lists_shows_tests_and_removes_skills(shelf: Path) -> None:
    done = rlgpt("skills", "list", shelf)
    assert done.status == 0
    assert done.out.splitlines() == [
        "fetch/2  success 1 [0.7575, 1] in 12 episodes of 12 steps  pick up the key",
        "other/1  success 1 [0.7575, 1] in 12 episodes of 12 steps  pick up the key",
    ]
    assert [s["name"] for s in json.loads(rlgpt("skills", "list", shelf, "--json").out)] == ["fetch", "other"]
    shown = rlgpt("skills", "show", shelf, "fetch").out
    for words in ("fetch/2", "needs go, use, agent, key", "yield use()", "grid-plugin 0.1", "the task's own rule"):
        assert words in shown
    assert json.loads(rlgpt("skills", "show", shelf, "fetch/1", "--json").out)["version"] == 1
    passed = rlgpt("skills", "test", shelf, "fetch", "--episodes", "3")
    assert passed.status == 0, passed.text
    assert passed.out.startswith("fetch/2  success 1 [0.4385, 1] in 3 episodes of ")
    assert passed.out.endswith(" steps with grid-plugin 0.1\n")
    assert "tested 20" in rlgpt("skills", "show", shelf, "fetch").out
    assert rlgpt("skills", "remove", shelf, "fetch/1").out == f"removed fetch/1 from {shelf}\n"
    assert rlgpt("skills", "remove", shelf, "other").status == 0
    assert SkillLibrary(shelf).names() == ["fetch"]
    assert SkillLibrary(shelf).versions("fetch") == [2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("list", "nowhere"), "there is no library of skills at"),
        (("show", "SHELF", "fatch"), "Did you mean 'fetch'?"),
        (("show", "SHELF", "fetch/9"), "no skill fetch/9"),
        (("show", "SHELF", "../../etc"), "write NAME, or NAME/VERSION"),
        (("remove", "SHELF", "fetch/9"), "Valid: 1, 2"),
        (("remove", "SHELF", "fetch/x"), "write NAME, or NAME/VERSION"),
        (("test", "SHELF", "--episodes", "0"), "must be at least 1"),
    ],
)
def test_skills_command_with_a_wrong_name_lists_the_valid_names(
    shelf: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = rlgpt("skills", *(str(shelf) if a == "SHELF" else a for a in arguments))
    assert (done.status, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_skill_that_fails_its_test_in_the_installed_plugin_is_no_longer_offered(shelf: Path) -> None:
    put(shelf, name="fetch", source=FETCH.replace("use()", "go(cells=1)"))
    failed = rlgpt("skills", "test", shelf, "--episodes", "4")
    assert failed.status == 1
    assert "fetch/3  fails with grid-plugin 0.1: its result in " in failed.out
    assert "other/1  success 1" in failed.out
    rows = json.loads(rlgpt("skills", "test", shelf, "--json").out)
    assert [(t["skill"], t["passed"]) for t in rows] == [("fetch/3", False), ("other/1", True)]
    listed = rlgpt("skills", "list", shelf).out
    assert "not offered: its tests fail with grid-plugin 0.1" in listed
    assert listed.count("not offered") == 1


def test_testing_a_skill_whose_plugin_is_not_installed_is_an_error(shelf: Path) -> None:
    put(shelf, name="far", plugin="somewhere-else")
    done = rlgpt("skills", "test", shelf, "far")
    assert done.status == 2
    assert "somewhere-else, which is not installed" in done.err
    put(shelf, name="gone", task="grid/gone")
    assert rlgpt("skills", "test", shelf, "gone").status == 1
    (gone,) = (e for e in SkillLibrary(shelf).newest("gone").events if isinstance(e, SkillTest))
    assert "its environment cannot be made" in gone.failure


@pytest.mark.parametrize(
    ("changes", "asks"),
    [
        ({"settings": {"slip": 0.0}}, "task_settings.slip=0.0"),
        ({"environment": {"id": "planted_env:Any-v0", "goal": "win"}}, "import of planted_env"),
    ],
)
def test_skill_made_by_others_changes_settings_or_imports_modules_only_with_approval(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], asks: str
) -> None:
    (tmp_path / "planted_env.py").write_text("raise SystemExit(77)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    stranger(shelf, "other/1", **changes)
    done = rlgpt("skills", "test", shelf, "other")
    assert done.status == 2
    assert asks in done.err
    assert "--trust" in done.err
    if "settings" in changes:
        assert rlgpt("skills", "test", shelf, "other", "--trust", "--episodes", "2").status == 0
        own = put(shelf, name="mine", **changes)
        assert rlgpt("skills", "test", shelf, str(own), "--episodes", "2").status == 0, "the user's own needs none"


def test_hostile_code_of_a_skill_changes_no_file(shelf: Path, private: Path) -> None:
    loop = "def run():\n    while True:\n        pass\n    yield use()\n"
    put(shelf, name="endless", source=loop)
    put(shelf, name="reader", source=f"def run():\n    open({str(private / 'id_rsa')!r})\n    yield use()\n")
    before = checksums(private)
    done = rlgpt("skills", "test", shelf, "endless", "reader", "--episodes", "2")
    assert done.status == 1
    assert CANARY not in done.text
    assert checksums(private) == before


def test_resumed_run_made_by_others_uses_a_library_only_with_approval(shared: Path, shelf: Path, home: Path) -> None:
    unfinish(shared)
    set_config(shared, skills=str(shelf))
    before = checksums(shelf)
    transcript = home / "recorded" / "transcript.jsonl"
    replay = ("llm=replay", f"llm.transcript={transcript}")
    done = rlgpt("resume", shared, *replay)
    assert done.status == 2
    assert f"skills={shelf}" in done.err
    assert checksums(shelf) == before
    assert not (shared / "skills.json").exists()
    without = rlgpt("resume", shared, *replay, "skills=null")
    assert without.status == 0, without.text
    assert checksums(shelf) == before
    set_config(shared, skills=str(shelf))
    assert rlgpt("evaluate", shared, "--episodes", "1").status == 0, "an evaluation uses no library"
    assert checksums(shelf) == before


def act(shelf: Path, seed: int) -> list[Callable[[], Any]]:
    played = [lambda: rlgpt("skills", "test", shelf, "--episodes", "1", "--json")] if seed % 6 == 0 else []
    return [
        lambda: rlgpt("skills", "list", shelf),
        lambda: rlgpt("skills", "show", shelf, "fetch"),
        *played,
        lambda: put(shelf),
        lambda: rlgpt("skills", "remove", shelf, "fetch"),
    ]


@pytest.mark.parametrize("block", range(3))
def test_commands_on_a_randomly_damaged_library_touch_no_private_file(
    shelf: Path, tmp_path: Path, private: Path, block: int
) -> None:
    from rlgpt.errors import RlgptError

    for seed in range(12 * block, 12 * block + 12):
        folder = tmp_path / f"changed{seed}"
        shutil.copytree(shelf, folder)
        done = f"seed {seed}: {mutate(folder, private, random.Random(seed))}"
        before = checksums(private)
        for call in act(folder, seed):
            try:
                outcome = call()
            except RlgptError:
                continue
            text = getattr(outcome, "text", "")
            assert CANARY not in text, done
            assert "Traceback" not in text, done
            assert getattr(outcome, "status", 0) in (0, 1, 2), done
        assert checksums(private) == before, done
        assert not os.path.lexists(private / "new"), done
