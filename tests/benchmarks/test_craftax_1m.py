"""benchmarks/craftax_1m.py: its cells, and the lines that it prints."""

from __future__ import annotations

import json
from typing import Any

import pytest


@pytest.fixture
def craftax(benchmark_module: Any) -> Any:
    return benchmark_module("craftax_1m")


def printed(craftax: Any, results: dict[Any, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    lines = [json.loads(text) for text in craftax.CRAFTAX.report_lines(results, list(results))]
    return {line["name"]: line for line in lines}


def test_craftax_benchmark_has_five_seeds_of_four_rows_at_three_budgets(craftax: Any) -> None:
    comparison = craftax.CRAFTAX
    cells = comparison.cells(comparison.tasks, comparison.rows, comparison.seeds)
    assert len(cells) == 5 * 4 * 3
    assert {cell.seed for cell in cells} == set(range(30, 35))
    assert comparison.budget["craftax/1m"] == 1_000_000


def test_figures_of_the_craftax_benchmark_include_means_margins_and_published_results(craftax: Any) -> None:
    cell = craftax.Cell
    results = {}
    for seed, (ours, code) in enumerate([(20.0, 12.0), (22.0, 11.0)]):
        results[cell("craftax/1m", "rlgpt", seed)] = {"seed": seed, "sampled": 5.0, "kept": ours}
        results[cell("craftax/1m", "code", seed)] = {"seed": seed, "sampled": code}
    results[cell("craftax/100k", "rl", 0)] = {"seed": 0, "sampled": 2.0}
    lines = printed(craftax, results)
    assert lines["craftax/rlgpt"]["value"] == 21
    assert lines["craftax/code"]["range"] == [11, 12]
    assert lines["craftax/margin/code"]["value"] == 9.5
    assert lines["craftax/rl/100k"]["value"] == 2
    assert lines["craftax/published/1b/ppo_gtrxl"]["value"] == 18.3


def test_craftax_value_of_an_evaluation_is_its_mean_return_in_percent_of_226(craftax: Any) -> None:
    from rlgpt.domain import Episode, Evaluation, Score

    episodes = tuple(
        Episode(seed=seed, success=False, total_reward=score, primitive_steps=10, decisions=1, score=score)
        for seed, score in enumerate((11.3, 33.9))
    )
    evaluation = Evaluation(mode="sampled", episodes=episodes, score=Score())
    assert craftax.CraftaxRunner.result(None, evaluation) == pytest.approx(10)
