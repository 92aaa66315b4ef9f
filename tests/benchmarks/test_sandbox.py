"""benchmarks/sandbox.py runs and says what it should; what it measures is no matter for a test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "sandbox.py"
SIZES = ("small", "large", "limit")
CALLS = (
    *("plain/primitive", "plain/fresh", "plain/small", "plain/large", *(f"plain/look/{size}" for size in SIZES)),
    *("primitive", "chunk", "small", "large", *(f"look/{size}" for size in SIZES)),
    *("call", "can_start", "can_start/large", "can_start/six", "fresh"),
)
NAMES = {
    *(f"sandbox/calls/{name}" for name in CALLS),
    *(f"sandbox/workers/{name}" for name in ("plain", "primitive", "large", "ratio")),
    *(f"sandbox/memory/{name}" for name in ("runtime", "instance", "plain", "mapped")),
}
GOALS = {"small": 40, "large": 90, "chunk": 6, "fresh": 3000}


def lines(*arguments: str) -> dict[str, dict[str, object]]:
    done = subprocess.run([sys.executable, str(SCRIPT), "--quick", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}


def test_a_quick_run_ends_with_lines_of_json() -> None:
    found = lines()
    assert set(found) == NAMES
    assert all(line["unit"] and line["rows"] for line in found.values())
    for name, goal in GOALS.items():
        assert found[f"sandbox/calls/{name}"]["goal"] == goal
        assert (
            0
            < float(str(found[f"sandbox/calls/{name}"]["least"]))
            <= float(str(found[f"sandbox/calls/{name}"]["value"]))
        )


@pytest.mark.slow
def test_both_ways_train() -> None:
    found = lines("--parts", "training")
    assert set(found) == {"sandbox/training/plain", "sandbox/training/guarded"}
    assert all(float(str(line["value"])) > 0.3 for line in found.values())
