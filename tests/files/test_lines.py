"""Files of JSON lines to which processes only append: incomplete lines, damaged lines, several writers."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pydantic import BaseModel
from rlgpt.errors import RunError
from rlgpt.files import Folder, JsonLines


class Point(BaseModel):
    x: int


@pytest.fixture
def lines(tmp_path: Path) -> JsonLines[Point]:
    return JsonLines(Folder(tmp_path / "new", RunError), "log.jsonl", Point, "Delete the line.")


def test_json_lines_are_read_in_the_order_of_appending(lines: JsonLines[Point]) -> None:
    assert lines.read() == []
    for x in range(3):
        lines.append(Point(x=x))
    assert lines.read() == [Point(x=x) for x in range(3)]


@pytest.mark.parametrize("torn", [b'{"x": 1', b"{", b"\xff" * 200_000, b"x" * 65_536])
def test_json_lines_ignore_and_remove_an_incomplete_last_line(lines: JsonLines[Point], torn: bytes) -> None:
    path = lines.folder.path / lines.name
    for before in ([], [Point(x=0)]):
        for value in before:
            lines.append(value)
        with path.open("ab") if path.exists() else lines.folder.open_in_place(lines.name, append=True) as file:
            file.write(torn)
        assert lines.read() == before
    lines.append(Point(x=2))
    assert lines.read() == [Point(x=0), Point(x=2)]


def test_json_lines_error_names_the_number_of_a_damaged_line(lines: JsonLines[Point]) -> None:
    lines.append(Point(x=0))
    with (lines.folder.path / lines.name).open("a") as file:
        file.write('{"x": []}\n{"x": 1}\n')
    with pytest.raises(RunError, match=r"log.jsonl, line 2, .*Delete the line."):
        lines.read()


def test_json_lines_of_several_threads_are_not_mixed(lines: JsonLines[Point]) -> None:
    def write(start: int) -> None:
        for x in range(start, start + 20):
            lines.append(Point(x=x))

    writers = [threading.Thread(target=write, args=(100 * n,)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(point.x for point in lines.read()) == sorted(100 * n + x for n in range(4) for x in range(20))


def test_json_lines_refuse_to_read_or_append_through_a_link(lines: JsonLines[Point], tmp_path: Path) -> None:
    lines.folder.path.mkdir()
    (tmp_path / "private").write_text("private")
    (lines.folder.path / lines.name).symlink_to(tmp_path / "private")
    with pytest.raises(RunError, match="link"):
        lines.append(Point(x=0))
    with pytest.raises(RunError, match="link"):
        lines.read()
    assert (tmp_path / "private").read_text() == "private"


def test_json_lines_append_no_line_that_would_exceed_the_maximal_size(tmp_path: Path) -> None:
    lines = JsonLines(Folder(tmp_path, RunError), "log.jsonl", Point, "Delete the line.", full=20)
    assert lines.room() == 20
    for x in range(3):
        lines.append(Point(x=x))
    assert lines.read() == [Point(x=0), Point(x=1)]
    assert lines.room() == 4


def test_json_lines_neither_read_nor_change_a_full_file(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    lines = JsonLines(Folder(tmp_path, RunError), path.name, Point, "Delete the line.")
    lines.append(Point(x=1))
    assert path.stat().st_size == 1 << 40
    with pytest.raises(RunError, match="at most"):
        lines.read()
