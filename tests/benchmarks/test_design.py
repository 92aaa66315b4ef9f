"""benchmarks/design.py plays an environment without a plugin; what comes out is no matter for a test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "design.py"


def test_a_small_run_ends_with_lines_of_json(tmp_path: Path) -> None:
    few = ["--tasks", "design/doorkey", "--rows", "rlgpt", "untrained", "--seeds", "1", "--episodes", "2"]
    command = [sys.executable, str(SCRIPT), *few, "--out", str(tmp_path / "design")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found = {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}
    names = ("rlgpt", "untrained", "margin", "margin/untrained")
    assert found.keys() == {f"design/doorkey/{name}" for name in names}
    assert all(0 <= found[f"design/doorkey/{row}"]["value"] <= 1 for row in names[:2])
    assert found["design/doorkey/rlgpt"]["rows"][0]["primitive_steps"] > 0
