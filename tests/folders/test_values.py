"""Values in a run that no command of rlgpt writes: each command ends with success or with a message that names the
file.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from stranger import edit, rlgpt

HUGE = "9" * 5000
NAMES = ("run.json", "iterations/0/iteration.json")
COMMANDS = {"report": ("report",), "evaluate": ("evaluate", "--episodes", "1"), "resume": ("resume",)}


def put(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_report_shows_a_setting_with_dollar_signs_as_plain_text(shared: Path, own_run: Path) -> None:
    def change(record: Any) -> None:
        record["config"]["traces"] = r"$\frac{$"

    edit(shared, "run.json", change)
    assert rlgpt("report", shared, own_run, "--out", shared / "both.html").status == 0
    assert r"\frac{" in (shared / "both.html").read_text()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", [*NAMES, pytest.param("report.json", marks=pytest.mark.slow)])
def test_commands_refuse_an_integer_of_thousands_of_digits_with_a_short_message(
    shared: Path, name: str, command: str
) -> None:
    put(shared, name, '"iteration": 0' if name == "report.json" else '"training": ', f'"x": {HUGE}, "training": ')
    done = rlgpt(COMMANDS[command][0], shared, *COMMANDS[command][1:])
    if done.status:
        assert done.status == 2
        assert name in done.err
        assert len(done.err) < 2000


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", [*NAMES, pytest.param("report.json", marks=pytest.mark.slow)])
@pytest.mark.parametrize("depth", [pytest.param(300, marks=pytest.mark.slow), 100_000])
def test_commands_refuse_deeply_nested_json(shared: Path, name: str, command: str, depth: int) -> None:
    path = shared / name
    path.write_text(path.read_text().replace("{", '{"x": ' + "[" * depth + "]" * depth + ",", 1))
    done = rlgpt(COMMANDS[command][0], shared, *COMMANDS[command][1:])
    assert done.status == (0 if (command, name) == ("evaluate", "report.json") else 2)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("best", [99, pytest.param(-5, marks=pytest.mark.slow), None])
def test_commands_recompute_the_best_iteration_when_the_run_record_names_an_invalid_iteration(
    shared: Path, command: str, best: int | None
) -> None:
    (shared / "report.json").unlink()
    edit(shared, "run.json", lambda record: record.update(best=best))
    done = rlgpt(COMMANDS[command][0], shared, *COMMANDS[command][1:])
    assert done.status == 0, done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_refuse_an_iteration_whose_index_differs_from_its_folder(shared: Path, command: str) -> None:
    edit(shared, "iterations/0/iteration.json", lambda iteration: iteration.update(index=7))
    done = rlgpt(COMMANDS[command][0], shared, *COMMANDS[command][1:])
    assert done.status == 2
    assert "iterations/0/iteration.json" in done.err


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e308", "-1e308", "9223372036854775807"])
def test_report_accepts_or_refuses_a_run_with_extreme_numbers_without_a_crash(shared: Path, value: str) -> None:
    path = shared / "iterations/0/iteration.json"
    iteration = json.loads(path.read_text())
    for point in iteration["training"]["curve"]:
        point["success"] = point["total_reward"] = 0.125
    path.write_text(json.dumps(iteration).replace("0.125", value))
    done = rlgpt("report", shared)
    assert done.status in (0, 2)


def test_report_refuses_a_run_record_with_a_repeated_json_key(shared: Path) -> None:
    put(shared, "run.json", '"seed":', '"seed": 5, "seed":')
    done = rlgpt("report", shared)
    assert done.status == 2
    assert "'seed' occurs twice" in done.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["iterations/0/actions", "videos", "nodes"])
def test_commands_accept_or_refuse_a_file_name_that_is_not_utf8(shared: Path, name: str, command: str) -> None:
    (shared / name).mkdir(exist_ok=True)
    (shared / name / os.fsdecode(b"\xff.mp4")).mkdir()
    done = rlgpt(COMMANDS[command][0], shared, *COMMANDS[command][1:])
    assert done.status == 0 or (done.status, "not UTF-8" in done.err) == (2, True)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_refuse_a_folder_whose_path_is_not_utf8(shared: Path, command: str) -> None:
    folder = shared.rename(shared.with_name(os.fsdecode(b"\xff")))
    done = rlgpt(COMMANDS[command][0], folder, *COMMANDS[command][1:])
    assert done.status == 2
    assert "is not UTF-8" in done.err
