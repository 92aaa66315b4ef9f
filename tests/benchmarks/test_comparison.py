"""benchmarks/comparison.py: the cells (task, row, seed) of a comparison, and what a measured cell records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def comparison(benchmark_module: Any) -> Any:
    return benchmark_module("comparison")


def test_benchmark_cells_of_the_row_rlgpt_come_before_cells_derived_from_this_row(comparison: Any) -> None:
    two = comparison.Comparison("grid", ("grid/a", "grid/b"), 100, variants={"sb3": ("grid/b",)})
    cells = two.cells(two.tasks, (*two.rows, "sb3"), 2)
    assert len(cells) == len(set(cells)) == 2 * 2 * len(two.rows) + 2
    assert [cell.row for cell in cells[:4]] == ["rlgpt"] * 4
    assert [cell.task for cell in cells[-2:]] == ["grid/b"] * 2


class Runner:
    """A runner that returns a fixed result."""

    def __init__(self, cell: Any, table: Any, settings: Mapping[str, Any]) -> None:
        pass

    def measure(self) -> dict[str, Any]:
        return {"sampled": 1.0}


@pytest.mark.parametrize(
    ("given", "budget"), [([], 2000), (["--budget=500"], 500)], ids=["the task's own budget", "a given budget"]
)
def test_a_measured_benchmark_cell_records_its_settings_and_its_commit(
    comparison: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: list[str], budget: int
) -> None:
    path = tmp_path / "grid.jsonl"
    arguments = [f"--out={path}", "--cell", "grid/b", "rl", "0", "--episodes=2", *given]
    monkeypatch.setattr("sys.argv", ["grid.py", *arguments])
    budgets = {"grid/a": 1000, "grid/b": 2000}
    assert comparison.Comparison("grid", tuple(budgets), budgets, runner=Runner).main("grid.py") == 0
    result = json.loads(path.read_text())
    assert result["commit"]
    settings = {"budget": budget, "iterations": 1, "episodes": 2, "trainer": "ppo"}
    assert {name: result[name] for name in settings} == settings


def test_comparison_refuses_an_output_path_that_does_not_end_in_jsonl(
    comparison: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["grid.py", "--out=runs/grid", "--report"])
    with pytest.raises(SystemExit, match="2"):
        comparison.Comparison("grid", ("grid/a",), 1000).main("grid.py")
    assert "--out: runs/grid does not end in .jsonl" in capsys.readouterr().err
