"""Values that no command of ours writes: each command ends in success or in a message that names the file."""

from __future__ import annotations

import json
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


def test_setting_name_with_dollar_signs_is_drawn_as_text(shared: Path, own_run: Path) -> None:
    def change(record: Any) -> None:
        record["config"]["traces"] = r"$\frac{$"

    edit(shared, "run.json", change)
    assert rlgpt("report", shared, own_run, "--out", shared / "both.html").status == 0
    assert r"\frac{" in (shared / "both.html").read_text()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", [*NAMES, pytest.param("report.json", marks=pytest.mark.slow)])
def test_an_integer_of_thousands_of_digits_is_refused(shared: Path, name: str, command: str) -> None:
    put(shared, name, '"iteration": 0' if name == "report.json" else '"training": ', f'"x": {HUGE}, "training": ')
    done = rlgpt(COMMANDS[command][0], shared, *COMMANDS[command][1:])
    if done.status:
        assert done.status == 2
        assert name in done.err
        assert len(done.err) < 2000


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", [*NAMES, pytest.param("report.json", marks=pytest.mark.slow)])
@pytest.mark.parametrize("depth", [pytest.param(300, marks=pytest.mark.slow), 100_000])
def test_json_that_is_nested_deeply_is_refused(shared: Path, name: str, command: str, depth: int) -> None:
    path = shared / name
    path.write_text(path.read_text().replace("{", '{"x": ' + "[" * depth + "]" * depth + ",", 1))
    done = rlgpt(COMMANDS[command][0], shared, *COMMANDS[command][1:])
    assert done.status == (0 if (command, name) == ("evaluate", "report.json") else 2)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("best", [99, pytest.param(-5, marks=pytest.mark.slow), None])
def test_best_iteration_is_recomputed_and_not_read_from_the_record(
    shared: Path, command: str, best: int | None
) -> None:
    (shared / "report.json").unlink()
    edit(shared, "run.json", lambda record: record.update(best=best))
    done = rlgpt(COMMANDS[command][0], shared, *COMMANDS[command][1:])
    assert done.status == 0, done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_an_iteration_in_the_wrong_place_is_refused(shared: Path, command: str) -> None:
    edit(shared, "iterations/0/iteration.json", lambda iteration: iteration.update(index=7))
    done = rlgpt(COMMANDS[command][0], shared, *COMMANDS[command][1:])
    assert done.status == 2
    assert "iterations/0/iteration.json" in done.err


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e308", "-1e308", "9223372036854775807"])
def test_run_with_extreme_numbers_can_be_reported(shared: Path, value: str) -> None:
    path = shared / "iterations/0/iteration.json"
    iteration = json.loads(path.read_text())
    for point in iteration["training"]["curve"]:
        point["success"] = point["total_reward"] = 0.125
    path.write_text(json.dumps(iteration).replace("0.125", value))
    done = rlgpt("report", shared)
    assert done.status in (0, 2)


def test_json_with_a_repeated_key_is_refused(shared: Path) -> None:
    put(shared, "run.json", '"seed":', '"seed": 5, "seed":')
    done = rlgpt("report", shared)
    assert done.status == 2
    assert "'seed' occurs twice" in done.err
