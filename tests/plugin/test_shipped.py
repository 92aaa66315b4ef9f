"""Recordings of a task, and of the same task with other settings."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from rlgpt.domain import Task
from rlgpt.plugin import shipped


@pytest.fixture
def transcripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a package's recordings."""
    monkeypatch.syspath_prepend(str(tmp_path))
    package = tmp_path / "rlgpt_shipping"
    for folder in ("park", "park,delay=0.2", "park,delay=0.2,wet=True", "parking,delay=0.2"):
        (package / "transcripts" / folder).mkdir(parents=True)
        (package / "transcripts" / folder / "0.jsonl").touch()
    (package / "__init__.py").touch()
    return package / "transcripts"


@pytest.mark.parametrize(
    ("settings", "folder"),
    [
        ({"delay": 0.0, "wet": False}, "park"),
        ({"delay": 0.0, "wet": True}, "park"),
        ({"delay": 0.2, "wet": False}, "park,delay=0.2"),
        ({"delay": 0.2, "wet": True}, "park,delay=0.2,wet=True"),
        ({}, "park"),
    ],
)
def test_recordings_are_those_of_the_folder_with_the_settings_of_the_task(
    transcripts: Path, settings: dict[str, float], folder: str
) -> None:
    task = Task(id="shipping/park", goal="g", horizon=1, success="s", settings=settings)
    assert [path.parent.name for path in shipped.recordings("rlgpt_shipping", task)] == [folder]


def test_variants_of_a_task_are_its_folders_of_recordings_with_other_settings(transcripts: Path) -> None:
    task = Task(id="shipping/park", goal="g", horizon=1, success="s", settings={"delay": 0.0, "wet": False, "n": 3})
    import_module("rlgpt_shipping")
    variants = shipped.variants("rlgpt_shipping", task)
    assert [dict(v.settings) for v in variants] == [
        {"delay": 0.2, "wet": False, "n": 3},
        {"delay": 0.2, "wet": True, "n": 3},
    ]
    for variant in variants:
        assert shipped.recordings("rlgpt_shipping", variant)
    assert shipped.variants("ast", task) == (), "the module `ast` has no folder of recordings"
