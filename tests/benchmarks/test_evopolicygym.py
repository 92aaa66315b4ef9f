"""benchmarks/evopolicygym.py: its protocol, its environments, and the lines that it prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from rlgpt.agents.brief import make_brief
from rlgpt.llm.transcript import Transcript
from rlgpt.testing.contract.recordings import fingerprints, kind_of


@pytest.fixture
def evo(benchmark_module: Any) -> Any:
    return benchmark_module("evopolicygym")


@pytest.fixture
def make_table(benchmark_module: Any) -> Any:
    return benchmark_module("result_table").ResultTable


@pytest.fixture
def cases(benchmark_module: Any) -> Any:
    return benchmark_module("evopolicygym_cases").CASES


def test_budget_of_an_environment_is_128_episodes_of_full_length(evo: Any) -> None:
    budgets = {task.split("/")[1]: budget for task, budget in evo.BUDGETS.items()}
    lengths = {"fourrooms": 100, "fetch_push": 50, "pusher": 100, "bipedal": 1_600, "franka_kitchen": 280}
    assert {name: budgets[name] for name in lengths} == {name: 128 * length for name, length in lengths.items()}


def test_all_16_environments_of_the_paper_and_four_newer_ones_have_a_case(evo: Any) -> None:
    rows = [json.loads(text) for text in evo.PUBLISHED.read_text().splitlines()]
    ours = {board for task in evo.BUDGETS for board in evo.BOARDS.get(task.split("/")[1], (task.split("/")[1],))}
    assert {row["id"] for row in rows if row["board"] == "core16-paper-v1"} <= ours
    assert {"franka-kitchen-v1", "adroit-hand-relocate-v1", "racetrack-v1", "manipulator-bring-ball"} <= ours
    assert ours <= {row["id"] for row in rows}


@pytest.mark.parametrize(
    ("name", "model", "value"),
    [
        ("fetch_push", "GPT-5.5", -18.15625),
        ("halfcheetah", "GPT-5.6 Sol", 1149.423),
        ("fourrooms", "Claude Opus 4.7", 0.70103125),
        ("franka_kitchen", "GPT-5.6 Sol", 2.0),
    ],
)
def test_published_result_is_the_best_one_of_all_leaderboards(evo: Any, name: str, model: str, value: float) -> None:
    best = evo.published(name)
    assert (best.model, best.value) == (model, value)


def test_cells_of_evopolicygym_have_256_episodes_and_seeds_of_their_own(evo: Any) -> None:
    comparison = evo.EVO
    cells = comparison.cells(comparison.tasks, comparison.rows, comparison.seeds)
    assert {cell.seed for cell in cells} == set(range(40, 45))
    assert comparison.episodes == 256


@pytest.mark.parametrize("name", ["acrobot", "fourrooms", "reacher"])
def test_case_scores_the_return_within_the_protocols_horizon(cases: Any, name: str) -> None:
    plugin, task, factory = cases[name].find()
    assert (task.score.metric, task.success, task.horizon) == ("return", "", cases[name].horizon)
    assert factory(task) is plugin
    assert plugin.states(task) is None, "the protocol has only whole episodes"


def test_code_in_the_four_rooms_sees_what_the_benchmark_shows_and_nothing_else(cases: Any) -> None:
    plugin, task, _ = cases["fourrooms"].find()
    assert {key.name for key in plugin.view_keys(task)} == {"image_grid", "direction", "direction_onehot", "mission"}


def test_horizons_are_those_of_the_registered_environments(cases: Any) -> None:
    for name in ("acrobot", "continuouscar", "bipedal", "halfcheetah", "ant", "pusher", "reacher", "racing"):
        assert gymnasium.spec(cases[name].env).max_episode_steps == cases[name].horizon


def test_kitchen_task_has_all_seven_elements_and_scores_their_number(evo: Any) -> None:
    plugin, task, _ = evo.kitchen()
    assert len(task.settings["elements"]) == 7
    assert (task.horizon, task.score.metric) == (280, "return")
    assert plugin.states(task) is None


def test_figures_of_evopolicygym_are_means_margins_and_the_published_result(evo: Any) -> None:
    results = {}
    for seed, (ours, code) in enumerate([(-10.0, -14.0), (-12.0, -15.0)]):
        results[evo.Cell("evopolicygym/fetch_push", "rlgpt", seed)] = {"sampled": -30.0, "kept": ours}
        results[evo.Cell("evopolicygym/fetch_push", "code", seed)] = {"sampled": code}
    lines = {(found := json.loads(text))["name"]: found for text in evo.EVO.report_lines(results, list(results))}
    assert lines["evopolicygym/fetch_push/rlgpt"]["value"] == -11
    assert lines["evopolicygym/fetch_push/code"]["range"] == [-15, -14]
    assert lines["evopolicygym/fetch_push/margin/code"]["value"] == 3.5
    assert lines["evopolicygym/fetch_push/published"]["model"] == "GPT-5.5"


def test_table_of_evopolicygym_names_the_published_model(evo: Any, capsys: pytest.CaptureFixture[str]) -> None:
    cell = evo.Cell("evopolicygym/pusher", "rl", 40)
    evo.EVO.print_table({cell: {"sampled": -50.0, "greedy": -45.0}}, [cell])
    row = capsys.readouterr().out.splitlines()[-1]
    assert row.startswith("| pusher | 12,800 |")
    assert "-45.00" in row, "the better one of sampled and greedy actions"
    assert row.endswith("| 1 | -37.11 (GPT-5.5) |")


def test_random_row_plays_the_episodes_of_the_report(evo: Any, make_table: Any, tmp_path: Any) -> None:
    cell = evo.Cell("evopolicygym/acrobot", "random", 40)
    settings = {"budget": 64_000, "iterations": 2, "episodes": 2, "trainer": "sac"}
    runner = evo.EvoRunner(cell, make_table(tmp_path / "cells.jsonl"), settings)
    figures = runner.measure()
    assert len(figures["returns"]) == 2
    assert figures["sampled"] == sum(figures["returns"]) / 2 >= -500
    assert figures["mean_steps"] <= 500


def test_row_of_stable_baselines_trains_for_the_budget_and_plays_the_episodes_of_the_report(
    evo: Any, make_table: Any, tmp_path: Any
) -> None:
    cell = evo.Cell("evopolicygym/reacher", "sb3", 40)
    settings = {"budget": 60, "iterations": 2, "episodes": 2, "trainer": "sac"}
    figures = evo.EvoRunner(cell, make_table(tmp_path / "cells.jsonl"), settings).measure()
    assert (figures["primitive_steps"], len(figures["returns"]), figures["mean_steps"]) == (60, 2, 50)


def test_tasks_of_stable_baselines_have_continuous_actions(evo: Any, cases: Any) -> None:
    assert len(evo.CONTINUOUS) == 13
    for name in ("reacher", "halfcheetah", "continuouscar"):
        assert f"evopolicygym/{name}" in evo.CONTINUOUS
        assert isinstance(gymnasium.make(cases[name].env).action_space, gymnasium.spaces.Box)


RECORDINGS = Path(__file__).resolve().parents[2] / "examples" / "design" / "transcripts" / "evopolicygym"


def test_every_recording_belongs_to_an_environment_of_the_benchmark(evo: Any) -> None:
    assert evo.TRANSCRIPTS == RECORDINGS
    assert {f"evopolicygym/{path.parent.name}" for path in RECORDINGS.glob("*/*.jsonl")} <= set(evo.BUDGETS)


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(RECORDINGS.glob("*/*.jsonl")), ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_recordings_of_evopolicygym_match_the_fingerprints_of_the_current_prompts(
    evo: Any, make_table: Any, benchmark_module: Any, path: Path, tmp_path: Path
) -> None:
    extra = benchmark_module("evopolicygym_cases").EXTRA
    settings = {"budget": 1_000, "iterations": 2, "episodes": 1, "trainer": "sac"}
    cell = evo.Cell(f"evopolicygym/{path.parent.name}", "rlgpt", 40)
    if path.parent.name in ("parking", "racetrack", "roundabout", "bring_ball") and not extra.is_dir():
        pytest.skip("highway-env and dm-control are not installed")
    runner = evo.EvoRunner(cell, make_table(tmp_path / "cells.jsonl"), settings)
    transcript = Transcript.read(path)
    assert transcript.header.task == runner.task.id
    now = fingerprints(runner.plugin, make_brief(runner.plugin, runner.task))
    stale = {kind_of(e.key)[0] for e in transcript.entries if now.get(kind_of(e.key)) != e.fingerprint}
    assert not stale, f"record again: python benchmarks/record_evopolicygym.py {path.parent.name} --llm MODEL"


README = Path(__file__).resolve().parents[2] / "README.md"
SHOWN = [
    [cell.strip().replace("*", "") for cell in line.strip("|").split("|")]
    for line in README.read_text().splitlines()
    if line.startswith("| `")
]
"""The rows of the README's table of results: environment, number of seeds, RL-GPT, code, pure RL, published."""


@pytest.mark.parametrize("row", SHOWN, ids=lambda row: str(row[0]))
def test_readme_has_the_figures_that_the_benchmark_prints(evo: Any, make_table: Any, row: list[str]) -> None:
    task = f"evopolicygym/{row[0].strip('`')}"
    table = make_table(evo.RESULTS / "evopolicygym.jsonl")
    values = evo.EVO.values(task, table.load(), list(table.load()))
    ours = values["rlgpt"]
    methods = [values.get(method, {}) for method in ("rlgpt", "code", "rl")]
    figures = [str(evo.mean_of(by_seed)) if by_seed.keys() == ours.keys() else "" for by_seed in methods]
    assert row[1:] == [str(len(ours)), *figures, f"{evo.published(row[0].strip('`')).value:.4g}"]


def test_readme_shows_every_environment_with_at_least_three_seeds(evo: Any, make_table: Any) -> None:
    cells = list(make_table(evo.RESULTS / "evopolicygym.jsonl").load())
    seeds = {c.task: sum(o.task == c.task and o.row == "rlgpt" for o in cells) for c in cells}
    assert {row[0].strip("`") for row in SHOWN} == {task.split("/")[1] for task, n in seeds.items() if n >= 3}
