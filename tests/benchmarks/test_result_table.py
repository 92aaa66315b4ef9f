"""benchmarks/result_table.py: one file with a line for each cell, written by several processes."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def results(benchmark_module: Any) -> Any:
    return benchmark_module("result_table")


def test_result_table_keeps_one_line_per_cell_sorted_by_cell(results: Any, tmp_path: Path) -> None:
    table = results.ResultTable(tmp_path / "grid.jsonl")
    cells = [
        results.Cell(task, row, seed) for task in ("grid/b", "grid/a") for row in ("rl", "code") for seed in (10, 2)
    ]
    for cell in cells:
        table.add(cell, {"sampled": cell.seed / 10})
    lines = [json.loads(line) for line in table.path.read_text().splitlines()]
    assert [(r["task"], r["row"], r["seed"]) for r in lines] == sorted((c.task, c.row, c.seed) for c in cells)
    assert table.load()[cells[0]] == {"task": "grid/b", "row": "rl", "seed": 10, "sampled": 1.0}


def test_a_second_result_of_a_benchmark_cell_replaces_the_first_result(results: Any, tmp_path: Path) -> None:
    table, cell = results.ResultTable(tmp_path / "grid.jsonl"), results.Cell("grid/a", "rl", 0)
    for sampled in (0.1, 0.2):
        table.add(cell, {"sampled": sampled})
    assert [r["sampled"] for r in table.load().values()] == [0.2]


def test_result_table_keeps_all_results_that_are_added_at_the_same_time(results: Any, tmp_path: Path) -> None:
    cells = [results.Cell("grid/a", "rl", seed) for seed in range(24)]

    def add(cell: Any) -> None:
        results.ResultTable(tmp_path / "grid.jsonl").add(cell, {"sampled": 1.0})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, cells))
    assert list(results.ResultTable(tmp_path / "grid.jsonl").load()) == cells


@pytest.mark.parametrize("line", ["{", "[]", '{"task": "grid/a", "row": "rl"}'])
def test_error_about_an_invalid_result_line_names_the_line(results: Any, tmp_path: Path, line: str) -> None:
    path = tmp_path / "grid.jsonl"
    path.write_text(f'{{"task": "grid/a", "row": "rl", "seed": 0}}\n{line}\n')
    with pytest.raises(SystemExit, match=r"grid\.jsonl:2 is not the result of a cell"):
        results.ResultTable(path).load()


def test_run_folder_and_log_of_a_benchmark_cell_are_beside_the_result_table(results: Any, tmp_path: Path) -> None:
    table, cell = results.ResultTable(tmp_path / "grid.jsonl"), results.Cell("grid/a", "rl", 3)
    assert table.run_folder(cell) == tmp_path / "grid_runs" / "grid__a" / "rl" / "3"
    assert table.log(cell) == tmp_path / "grid_runs" / "grid__a" / "rl" / "3.log"


@pytest.mark.parametrize("name", ["evopolicygym", "falls_short_cells"])
def test_result_tables_of_the_repository_are_sorted_and_complete(
    results: Any, benchmark_module: Any, name: str
) -> None:
    path = Path(results.__file__).with_name("results") / f"{name}.jsonl"
    table = results.ResultTable(path).load()
    assert list(table) == sorted(table)
    assert len(table) == len(path.read_text().splitlines())
    assert all(r["trainer"] and r["commit"] and r["budget"] > 0 for r in table.values())
