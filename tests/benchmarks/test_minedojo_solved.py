"""benchmarks/minedojo_solved.py: the sample of MineDojo's tasks, and the table of the committed results."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def solved(benchmark_module: Any) -> Any:
    return benchmark_module("minedojo_solved")


def test_second_half_of_the_sample_is_played_with_a_library(solved: Any) -> None:
    lines = list(solved.commands(["llm.model=openai/gpt-5"]))
    assert len(lines) == solved.SAMPLE
    assert ["skills=my_skills" in line for line in lines] == [False] * 12 + [True] * 12
    assert all(line.endswith("llm.model=openai/gpt-5") for line in lines)


def test_committed_results_are_of_tasks_of_the_sample(solved: Any, capsys: pytest.CaptureFixture[str]) -> None:
    solved.main([])
    printed = capsys.readouterr().out.splitlines()
    names = [line.split(" ")[1] for line in printed[2:] if line.startswith("| ")]
    assert names
    assert set(names) <= set(solved.sample())


def test_a_task_counts_as_solved_if_the_interval_is_above_a_half(solved: Any) -> None:
    entry = {"steps": 1, "requests": 2, "prompt_tokens": 3, "completion_tokens": 4, "kept": 0, "acting": "code"}
    first, second, *_ = (f"minecraft/{name}" for name in solved.sample())
    results = {
        first: {**entry, "task": first, "success": 0.6, "episodes": 20, "library": False},
        second: {**entry, "task": second, "success": 0.8, "episodes": 20, "library": False},
    }
    lines = list(solved.table(results))
    assert "| 0.60 [0.39, 0.78] |" in lines[2].replace(" no |", "")
    assert lines[-2] == "without a library: 1 of 2 tasks solved, 2.0 requests for each task"
