"""With links, pipes and devices in a run's folder, commands read and write nothing outside the folder and do not
wait.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from rlgpt.files.trees import delete
from stranger import CANARY, checksums, rlgpt, unfinish

FILES = (
    "run.json",
    "llm.jsonl",
    "steps.bin",
    ".lock",
    "report.json",
    "report.html",
    "videos/best.mp4",
    "videos/.best.part.mp4",
    "evaluations/sampled-5-1.json",
    "iterations/0/iteration.json",
    "iterations/0/plan.json",
    "iterations/0/train/policy.pt",
    "iterations/0/train/best.pt",
    "iterations/0/train/steps.bin",
    "iterations/0/train/lock",
)
FOLDERS = (
    "videos",
    "iterations",
    "iterations/0",
    "iterations/0/train",
    "iterations/0/actions",
    "evaluations",
    "bundle",
)
QUICK = ("llm.jsonl", "steps.bin", ".lock", "videos/best.mp4", "iterations/0/train/policy.pt", "videos", "bundle")
"""The cases that `make test` runs. `make test-full` runs all cases."""


def names(of: tuple[str, ...], quick: tuple[str, ...] = QUICK) -> list[Any]:
    return [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in of]


COMMANDS = (
    ("report",),
    ("evaluate", "--episodes", "1", "--seed", "5", "--video"),
    ("resume", "report_episodes=2"),
)


def replace(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)


def play(folder: Path, private: Path) -> None:
    """Check that each command ends with status 0 or 2, and neither changes nor copies the private files."""
    before = checksums(private)
    for name, *rest in COMMANDS:
        done = rlgpt(name, folder, *rest)
        assert done.status in (0, 2), done.text
        assert checksums(private) == before, name
        assert CANARY not in done.text
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.stat().st_nlink == 1:
            assert CANARY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("name", names(FILES))
def test_commands_do_not_follow_a_link_to_a_private_file(shared: Path, private: Path, name: str) -> None:
    replace(shared / name)
    (shared / name).symlink_to(private / "id_rsa")
    play(shared, private)


@pytest.mark.parametrize("name", names(FILES, ("llm.jsonl", "iterations/0/train/lock")))
def test_commands_create_no_file_through_a_link_to_a_missing_file(shared: Path, private: Path, name: str) -> None:
    replace(shared / name)
    (shared / name).symlink_to(private / "new")
    play(shared, private)


@pytest.mark.parametrize("name", names(FOLDERS))
def test_commands_do_not_follow_a_link_to_a_private_folder(shared: Path, private: Path, name: str) -> None:
    replace(shared / name)
    (shared / name).symlink_to(private / "deep")
    play(shared, private)


@pytest.mark.parametrize("name", names(FOLDERS, ("iterations", "iterations/0/train")))
def test_commands_on_an_unfinished_run_write_through_no_link(shared: Path, private: Path, name: str) -> None:
    unfinish(shared)
    replace(shared / name)
    (shared / name).symlink_to(private / "deep")
    play(shared, private)


@pytest.mark.parametrize("name", ["steps.bin", "llm.jsonl", ".lock", "iterations/0/train/lock"])
def test_commands_do_not_write_to_a_hard_link_of_a_private_file(shared: Path, private: Path, name: str) -> None:
    unfinish(shared)
    replace(shared / name)
    os.link(private / "id_rsa", shared / name)
    play(shared, private)


@pytest.mark.parametrize("name", names(FILES, ("run.json", "llm.jsonl", "videos/best.mp4")))
def test_commands_do_not_wait_for_a_pipe_in_a_run_folder(shared: Path, private: Path, name: str) -> None:
    replace(shared / name)
    os.mkfifo(shared / name)
    play(shared, private)


@pytest.mark.parametrize("name", names(("videos/best.mp4", "run.json", "llm.jsonl", "iterations/0/iteration.json")))
def test_commands_do_not_read_a_device_through_a_link_in_a_run_folder(shared: Path, private: Path, name: str) -> None:
    replace(shared / name)
    (shared / name).symlink_to("/dev/zero")
    play(shared, private)


@pytest.mark.parametrize("name", names(("iterations/0/train", "bundle", "videos"), ("iterations/0/train",)))
def test_commands_accept_folders_nested_deeper_than_the_recursion_limit(
    shared: Path, private: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.chdir(shared / name)
        for _ in range(sys.getrecursionlimit() + 100):
            os.mkdir("d")
            os.chdir("d")
    try:
        for command, *rest in COMMANDS:
            assert rlgpt(command, shared, *rest).status in (0, 2)
    finally:
        delete(shared)  # pytest cannot delete it.


def test_report_does_not_embed_a_linked_process_environment_as_a_video(shared: Path, private: Path) -> None:
    (shared / "videos").mkdir(exist_ok=True)
    (shared / "videos" / "a.mp4").symlink_to("/proc/self/environ")
    play(shared, private)
    assert (shared / "report.html").read_bytes().count(b"data:video/mp4") == 1, "only the video of the run"


def test_report_does_not_embed_a_file_that_is_not_a_video(shared: Path) -> None:
    (shared / "videos" / "notes.mp4").write_bytes(b"no video at all")
    assert rlgpt("report", shared).status == 0
    assert "bm8gdmlkZW8" not in (shared / "report.html").read_text()


def test_report_of_a_sweep_follows_no_link(shared: Path, private: Path, own_run: Path) -> None:
    sweep = shared.parent / "sweep"
    shutil.copytree(own_run, sweep / "0")
    (sweep / "1").symlink_to(private)
    (sweep / "report.html").symlink_to(private / "id_rsa")
    before = checksums(private)
    assert rlgpt("report", sweep).status == 0
    assert checksums(private) == before
    assert not (sweep / "report.html").is_symlink()
