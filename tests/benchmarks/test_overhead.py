"""benchmarks/overhead.py runs and prints its figures. Their values are not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "overhead.py"
STEP = ("bare", "control", "k0", "k0_generic", "k3", "k3_can_start", "default_setup")
START = tuple(f"{kind}/kitchen/kettle" for kind in ("first", "again", "policy"))
WORKER = tuple(f"{kind}/{clock}" for kind in ("small", "image", "nested") for clock in ("cpu", "here", "wall"))


@pytest.mark.slow
def test_quick_run_of_the_overhead_benchmark_prints_its_figures_as_json_lines() -> None:
    run = subprocess.run([sys.executable, str(SCRIPT), "--quick"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    lines = {line["name"]: line for line in map(json.loads, run.stdout.splitlines())}
    parts = {"step": STEP, "worker": WORKER, "start": START}
    assert set(lines) == {f"overhead/{part}/{name}" for part, names in parts.items() for name in names}
    for name, line in lines.items():
        assert line["value"] > 0
        assert line["unit"]
        if name == "overhead/step/bare" or name.startswith("overhead/start/"):
            continue
        low, high = line["interval"]
        assert low <= line["value"] <= high
        assert all(row["commit"] and row["blocks"] > 0 for row in line["rows"])
    assert lines["overhead/step/k0"]["goal"] == 1.03
    assert lines["overhead/step/k3"]["goal"] == 1.06
