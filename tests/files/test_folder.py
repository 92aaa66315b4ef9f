"""``Folder`` reads and writes only regular files inside its folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from rlgpt.errors import RunError
from rlgpt.files import Folder

SECRET = "private"


@pytest.fixture(params=["descriptors", "paths"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A folder, on a system with folder descriptors and on a system without them."""
    if request.param == "paths":
        monkeypatch.setattr(os, "supports_dir_fd", set())
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text(SECRET)
    (tmp_path / "inside" / "sub").mkdir(parents=True)
    (tmp_path / "inside" / "sub" / "file").write_text("content")
    return Folder(tmp_path / "inside", RunError)


def outside(folder: Folder) -> Path:
    return folder.path.parent / "outside"


ACTIONS: dict[str, Callable[[Folder, str], object]] = {
    "exists": lambda folder, name: folder.exists(name),
    "read": lambda folder, name: folder.read_text(name, limit=100),
    "in place": lambda folder, name: folder.open_in_place(name).close(),
    "names": lambda folder, name: folder.names(name),
    "subfolder": lambda folder, name: folder.subfolder(name.split("/")[0]),
}


def test_folder_writes_reads_appends_lists_and_removes_files(folder: Folder) -> None:
    assert folder.read_text("sub/file", limit=7) == "content"
    folder.write("new/deep/file", "text")
    assert (folder.path / "new" / "deep" / "file").read_text() == "text"
    assert folder.names("new/deep") == ["file"], "no temporary file remains"
    with folder.open_in_place("new/log", append=True) as file:
        file.write(b"line\n")
    assert folder.exists("new/log")
    assert not folder.exists("new/other")
    assert not folder.exists("other/other")
    folder.remove("new/log")
    folder.remove("new/log")
    assert not folder.exists("new/log")
    assert folder.names("missing") == []
    assert folder.subfolder("missing") == folder.path / "missing"


@pytest.mark.parametrize("action", ["exists", "read", "in place"])
@pytest.mark.parametrize("target", ["file", "missing"])
def test_folder_refuses_a_link_in_place_of_a_file(folder: Folder, action: str, target: str) -> None:
    (folder.path / "link").symlink_to(outside(folder) / target)
    with pytest.raises(RunError, match="link"):
        ACTIONS[action](folder, "link")
    assert sorted(p.name for p in outside(folder).iterdir()) == ["file"]


@pytest.mark.parametrize("action", ACTIONS)
def test_folder_refuses_a_link_in_place_of_a_subfolder(folder: Folder, action: str) -> None:
    (folder.path / "link").symlink_to(outside(folder))
    with pytest.raises(RunError, match="link"):
        ACTIONS[action](folder, "link/file")


def test_folder_write_replaces_a_link_and_not_the_target_of_the_link(folder: Folder) -> None:
    (folder.path / "link").symlink_to(outside(folder) / "file")
    folder.write("link", "new")
    assert (folder.path / "link").read_text() == "new"
    assert (outside(folder) / "file").read_text() == SECRET
    (folder.path / "above").symlink_to(outside(folder))
    with pytest.raises(RunError, match="link"):
        folder.write("above/file", "new")
    (folder.path / "link").unlink()
    (folder.path / "link").symlink_to(outside(folder) / "file")
    folder.remove("link")
    assert (outside(folder) / "file").read_text() == SECRET


def test_folder_reads_but_does_not_change_a_file_with_a_second_hard_link(folder: Folder) -> None:
    os.link(outside(folder) / "file", folder.path / "second")
    os.link(outside(folder) / "file", folder.path / "sub" / "second")
    assert folder.read_text("second", limit=100) == SECRET
    with pytest.raises(RunError, match="hard link"):
        folder.open_in_place("second")
    with pytest.raises(RunError, match="hard link"):
        folder.subfolder("sub")


@pytest.mark.parametrize("action", ["exists", "read", "in place"])
def test_folder_refuses_to_read_a_pipe_or_a_folder_as_a_file(folder: Folder, action: str) -> None:
    os.mkfifo(folder.path / "pipe")
    for name in ("pipe", "sub"):
        with pytest.raises(RunError, match="not a regular file"):
            ACTIONS[action](folder, name)


@pytest.mark.parametrize("name", ["../outside/file", "/etc/passwd", "", "sub/../../outside/file", "a\0b", "sub//file"])
@pytest.mark.parametrize("action", ["exists", "read", "in place"])
def test_folder_refuses_a_file_name_that_leads_out_of_the_folder(folder: Folder, name: str, action: str) -> None:
    with pytest.raises(RunError, match="not the name of a file"):
        ACTIONS[action](folder, name)


def test_folder_refuses_to_read_a_file_above_the_limit(folder: Folder) -> None:
    with (folder.path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(RunError, match="1,099,511,627,776 bytes; at most 1,000"):
        folder.read("sparse", limit=1000)


def test_folder_refuses_to_read_text_that_is_not_utf8(folder: Folder) -> None:
    (folder.path / "latin").write_bytes(b"\xff")
    with pytest.raises(RunError, match="UTF-8"):
        folder.read_text("latin", limit=10)


def test_folder_write_error_names_the_path_when_the_parent_is_a_file(folder: Folder) -> None:
    (folder.path / "file").write_text("")
    with pytest.raises(RunError, match="file/below"):
        folder.write("file/below", "text")
