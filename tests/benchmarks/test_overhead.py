"""benchmarks/overhead.py runs and says what it should; what it measures is no matter for a test."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
STEP = ("bare", "control", "k0", "k0_generic", "k3", "k3_can_start", "default_setup")
WORKER = tuple(f"{seen}/{clock}" for seen in ("small", "image", "nested") for clock in ("cpu", "here", "wall"))


@pytest.fixture(scope="module")
def ratios() -> Any:
    found = importlib.util.spec_from_file_location("ratios", BENCHMARKS / "ratios.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_a_quick_run_ends_with_lines_of_json() -> None:
    command = [sys.executable, str(BENCHMARKS / "overhead.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}
    parts = {"step": STEP, "worker": WORKER}
    assert set(lines) == {f"overhead/{part}/{name}" for part, names in parts.items() for name in names}
    for name, line in lines.items():
        assert line["value"] > 0
        assert line["unit"]
        if name == "overhead/step/bare":
            continue
        low, high = line["interval"]
        assert low <= line["value"] <= high
        assert all(row["commit"] and row["blocks"] > 0 for row in line["rows"])
    assert lines["overhead/step/k0"]["goal"] == 1.03
    assert lines["overhead/step/k3"]["goal"] == 1.06


def test_each_takes_each_place_equally_often(ratios: Any) -> None:
    names = ("a", "b", "c", "d")
    orders = [ratios.turns(names, number) for number in range(8)]
    assert all(sorted(order) == sorted(names) for order in orders)
    for place in range(4):
        assert set(Counter(order[place] for order in orders).values()) == {2}
    after = Counter(pair for order in orders for pair in pairwise(order))
    assert after["a", "b"] == after["b", "a"]


def test_an_interval_holds_the_median_of_most_samples(ratios: Any) -> None:
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(60):
        point, low, high = ratios.median(rng.normal(1.02, 0.05, 60))
        assert low <= point <= high
        held += low <= 1.02 <= high
    assert 50 <= held <= 60


def test_neighbours_slowed_alike_keep_their_ratio(ratios: Any) -> None:
    load = np.random.default_rng(0).uniform(1.0, 5.0, 200)
    found = ratios.figures([[float(1.05 * x / x) for x in load]], "abc")
    assert found["value"] == 1.05
    assert found["rows"] == [{"repeat": 0, "value": 1.05, "blocks": 200, "commit": "abc"}]
