"""benchmarks/learning.py prints figures for the results of several variants of training."""

from __future__ import annotations

import json
from typing import Any

import pytest

TASK = "design/mountain_car"
CELL = {"budget": 300, "steps_per_success": None, "decisions": 10}


@pytest.fixture
def learning(benchmark_module: Any) -> Any:
    return benchmark_module("learning")


def test_thirds_gives_the_success_rate_over_all_episodes_of_each_third_of_the_budget(learning: Any) -> None:
    curve = [[50, 1.0, 1], [100, 0.5, 3], [200, 0.25, 4], [301, 1.0, 2]]
    assert learning.thirds({"budget": 300, "curve": curve}) == [2.5 / 4, 0.25, 1.0]


def test_report_compares_each_variant_with_the_first_variant_on_the_same_seeds(
    learning: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {"options": (0.1, 0.2, 0.3, 0.4, 0.5), "guided": (0.2, 0.3, 0.4, 0.5, 0.6)}
    results = {
        learning.Cell(TASK, row, seed): {**CELL, "sampled": success, "curve": [[300, success, 5]]}
        for row, scores in rows.items()
        for seed, success in enumerate(scores)
    }
    learning.report(results, list(results))
    first, other = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert "minus_first" not in first
    assert other["minus_first"] == pytest.approx([0.1, 0.1, 0.1])
    assert other["interval"][0] < other["value"] < other["interval"][1]
    assert other["training_thirds"] == [0.0, 0.0, pytest.approx(0.4)]
