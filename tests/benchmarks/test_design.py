"""benchmarks/design.py measures an environment without a plugin. The values of its figures are not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "design.py"


@pytest.mark.slow
def test_small_run_of_the_design_benchmark_prints_its_figures_as_json_lines(tmp_path: Path) -> None:
    few = ["--tasks", "design/doorkey", "--rows", "rlgpt", "untrained", "--seeds", "1", "--episodes", "2"]
    command = [sys.executable, str(SCRIPT), *few, "--out", str(tmp_path / "design.jsonl")]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    lines = {line["name"]: line for line in map(json.loads, run.stdout.splitlines())}
    names = ("rlgpt", "untrained", "margin", "margin/untrained")
    assert lines.keys() == {f"design/doorkey/{name}" for name in names}
    assert all(0 <= lines[f"design/doorkey/{row}"]["value"] <= 1 for row in names[:2])
    (cell,) = lines["design/doorkey/rlgpt"]["rows"]
    assert cell["primitive_steps"] > 0
    assert cell["budget"] == 40_000
