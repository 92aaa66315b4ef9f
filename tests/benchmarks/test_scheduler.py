"""benchmarks/scheduler.py: which cells are measured, in which order, with which command."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

TASK = "grid/key"
SETTINGS = {"budget": 1000, "iterations": 1, "episodes": 2, "trainer": "ppo"}
SCRIPT = """
import json, sys
from pathlib import Path
_, _, task, row, seed, out, *options = sys.argv
table = Path(out.removeprefix("--out="))
lines = table.read_text().splitlines() if table.exists() else []
before = ["{row}/{seed}".format(**json.loads(line)) for line in lines]
if (row, seed) != ("rl", "1"):
    result = {"task": task, "row": row, "seed": int(seed), "before": sorted(before), "options": options}
    table.write_text("".join(f"{line}\\n" for line in (*lines, json.dumps(result))))
"""
"""A benchmark whose cells record which results existed at their start. The cell ``rl`` with seed 1 fails."""


@pytest.fixture
def bench(benchmark_module: Any) -> Any:
    results = benchmark_module("result_table")
    return SimpleNamespace(
        Cell=results.Cell,
        ResultTable=results.ResultTable,
        measure_cells=benchmark_module("scheduler").measure_cells,
    )


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return str(path)


def measure(bench: Any, script: str, cells: list[Any], table: Any, **more: Any) -> bool:
    return bool(bench.measure_cells(script, cells, table, jobs=1, settings=lambda cell: SETTINGS, **more))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"budget": 500}, r"budget=500 \(now 1000\)"),
        ({"iterations": 2}, r"iterations=2 \(now 1\)"),
        ({"trainer": "sample_factory"}, r"trainer=sample_factory \(now ppo\)"),
        ({"episodes": 50}, r"episodes=50 \(now 2\)"),
    ],
)
def test_measure_cells_refuses_results_of_other_settings(
    bench: Any, script: str, tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    table = bench.ResultTable(tmp_path / "grid.jsonl")
    measured, missing = (bench.Cell(TASK, "rl", seed) for seed in (0, 2))
    table.add(measured, {**SETTINGS, **changes})
    with pytest.raises(SystemExit, match=f"1 of the 1 results .*{said}.*another --out, or delete"):
        measure(bench, script, [measured, missing], table)
    assert missing not in table.load()


@pytest.mark.parametrize("settings", [SETTINGS, {"trainer": "ppo", "episodes": 2}, {}])
def test_a_benchmark_cell_with_a_result_is_not_measured_again(
    bench: Any, script: str, tmp_path: Path, settings: dict[str, Any]
) -> None:
    table, cell = bench.ResultTable(tmp_path / "grid.jsonl"), bench.Cell(TASK, "rl", 0)
    table.add(cell, settings)
    before = table.path.read_bytes()
    assert measure(bench, script, [cell], table)
    assert table.path.read_bytes() == before


@pytest.mark.slow
def test_benchmark_cells_are_measured_on_a_cluster_of_ray(
    bench: Any, script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'rlgpt[ray]'")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 4)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "benchmarks"))
    table = bench.ResultTable(tmp_path / "grid.jsonl")
    cells = [bench.Cell(TASK, "rl", seed) for seed in (0, 2)]
    try:
        assert measure(bench, script, cells, table, ray="local")
    finally:
        ray.shutdown()
    assert list(table.load()) == cells


def test_each_benchmark_cell_is_measured_with_the_settings_of_its_row(bench: Any, script: str, tmp_path: Path) -> None:
    table = bench.ResultTable(tmp_path / "grid.jsonl")
    cells = [bench.Cell(TASK, "rl", seed) for seed in (2, 3)]
    assert bench.measure_cells(script, cells, table, jobs=1, settings=lambda cell: {"budget": cell.seed})
    assert [r["options"] for r in table.load().values()] == [["--budget=2"], ["--budget=3"]]


def test_benchmark_cells_are_measured_after_the_cells_they_need_and_also_after_a_failed_cell(
    bench: Any, script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = bench.ResultTable(tmp_path / "grid.jsonl")
    derived, runs = ([bench.Cell(TASK, row, seed) for seed in (0, 1)] for row in ("code", "rl"))
    assert not measure(bench, script, [*derived, *runs], table, needs=dict(zip(derived, runs, strict=True)))
    results = table.load()
    assert results[runs[0]]["before"] == []
    assert results[derived[0]]["before"] == ["rl/0"]
    assert results[derived[1]]["before"] == ["code/0", "rl/0"]
    assert runs[1] not in results
    assert table.log(runs[1]).exists()
    assert not table.log(runs[0]).exists()
    assert "rl seed 1: FAILED" in capsys.readouterr().err
