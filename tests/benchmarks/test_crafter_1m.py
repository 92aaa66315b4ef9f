"""benchmarks/crafter_1m.py: its cells, its two scores, and the lines that it prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def crafter(benchmark_module: Any) -> Any:
    return benchmark_module("crafter_1m")


def test_score_over_a_run_weights_each_group_by_its_episodes(crafter: Any) -> None:
    every = dict.fromkeys(crafter.ACHIEVEMENTS, 1.0)
    assert crafter.score([(every, 3)]) == pytest.approx(100)
    assert crafter.score([(every, 1), ({}, 1)]) == pytest.approx(50)
    assert crafter.score([]) == 0
    assert crafter.over_run([(every, 1), ({}, 3)]) == {"run": pytest.approx(25), "run_episodes": 4}


def test_figures_of_the_crafter_benchmark_include_both_scores_and_published_results(crafter: Any) -> None:
    cell = crafter.Cell
    results = {}
    for seed, (ours, code) in enumerate([(50.0, 40.0), (60.0, 44.0)]):
        results[cell("crafter/all", "rlgpt", seed)] = {"seed": seed, "sampled": 5.0, "kept": ours, "run": ours - 20}
        results[cell("crafter/all", "code", seed)] = {"seed": seed, "sampled": code}
    lines = {line["name"]: line for line in map(json.loads, crafter.CRAFTER.report_lines(results, list(results)))}
    assert lines["crafter/rlgpt"]["value"] == 55
    assert lines["crafter/rlgpt/run"]["range"] == [30, 40]
    assert lines["crafter/margin/code"]["value"] == 13
    assert "crafter/code/run" not in lines
    assert lines["crafter/published/spring"]["value"] == 27.3


@pytest.mark.slow
def test_a_cell_of_rl_has_the_score_of_fresh_episodes_and_of_its_training(
    crafter: Any, benchmark_module: Any, tmp_path: Path
) -> None:
    pytest.importorskip("crafter")
    table = benchmark_module("result_table").ResultTable(tmp_path / "cells.jsonl")
    settings = {"budget": 2_000, "iterations": 1, "episodes": 2, "trainer": "ppo"}
    cell = crafter.CrafterRunner(crafter.Cell("crafter/all", "rl", 60), table, settings).measure()
    assert cell["run_episodes"] >= 1
    assert 0 <= cell["sampled"] <= 100
    assert 0 < cell["run"] <= 100
    assert set(cell["rates"]) == set(crafter.ACHIEVEMENTS)


@pytest.mark.slow
def test_a_cell_of_rlgpt_counts_the_episodes_of_code_training_and_selection(
    crafter: Any, benchmark_module: Any, tmp_path: Path
) -> None:
    pytest.importorskip("crafter")
    table = benchmark_module("result_table").ResultTable(tmp_path / "cells.jsonl")
    settings = {"budget": 12_000, "iterations": 1, "episodes": 2, "trainer": "ppo"}
    cell = crafter.CrafterRunner(crafter.Cell("crafter/all", "rlgpt", 60), table, settings).measure()
    (judged,) = cell["candidates"]
    assert cell["steps"]["training"] > 0
    assert cell["run_episodes"] > sum(episodes for _, episodes in judged.values())
    assert 0 < cell["run"] <= 100
