"""benchmarks/falls_short.py: its tasks, seeds and recordings."""

from __future__ import annotations

from typing import Any

import pytest
from rlgpt.agents.brief import make_brief
from rlgpt.llm.transcript import Transcript
from rlgpt.testing.contract.recordings import fingerprints, kind_of


@pytest.fixture
def suite(benchmark_module: Any) -> Any:
    return benchmark_module("falls_short")


def test_falls_short_cells_use_the_five_seeds_of_their_tasks(suite: Any) -> None:
    comparison = suite.FALLS_SHORT
    cells = comparison.cells(comparison.tasks, comparison.rows, comparison.seeds)
    seeds = {c.task: {d.seed for d in cells if d.task == c.task} for c in cells}
    assert seeds.pop("falls_short/lunar_lander") == set(range(25, 30))
    assert set(map(tuple, seeds.values())) == {tuple(range(20, 25))}
    names = [name for name, case in suite.CASES.items() if case.in_suite]
    assert {c.task for c in cells} == {f"falls_short/{name}" for name in names}
    assert len(cells) == 5 * 6 * len(names)


def test_falls_short_suite_has_at_least_eight_tasks_from_all_five_families(suite: Any) -> None:
    families = [case.task.split("/")[0] for case in suite.CASES.values() if case.in_suite]
    assert len(families) >= 8
    assert set(families) == {"kitchen", "mujoco_car", "furniture", "minecraft", "design"}


def test_case_of_the_falls_short_suite_finds_its_plugin_and_changes_the_task_settings(suite: Any) -> None:
    plugin, task, factory, recordings = suite.CASES["slippery_road"].find()
    assert [path.stem for path in recordings] == ["0", "1", "2"], "not the recording of one agent"
    assert (plugin.name, factory) == ("mujoco_car", "mujoco_car")
    assert task.settings["sensor_delay"] == suite.CASES["slippery_road"].settings["sensor_delay"]


@pytest.mark.parametrize("name", ["wool_1000", "seeds", "stick"])
def test_recordings_of_a_case_with_its_own_horizon_match_the_current_prompts(suite: Any, name: str) -> None:
    case = suite.CASES[name]
    plugin, task, _, recordings = case.find()
    assert (task.horizon, len(recordings)) == (case.horizon, 3)
    now = fingerprints(plugin, make_brief(plugin, task))
    entries = [entry for path in recordings for entry in Transcript.read(path).entries]
    assert {kind_of(e.key) for e in entries if now.get(kind_of(e.key)) != e.fingerprint} == set()
