"""Metrics and scores of an episode, computed from the infos of its steps."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.domain import Metric, Score, Task
from rlgpt.errors import PluginError
from rlgpt.options.measurement import Measurement
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.evaluation import evaluate_code
from rlgpt.rl.policy_env import build
from rlgpt.testing.counting import action
from rlgpt.testing.scored import TASK, WalkPlugin, walk_plugin

KINDS = ("last", "sum", "max", "min", "mean")
METRICS = tuple(Metric(name=kind, reduce=kind) for kind in KINDS)


@given(st.lists(st.none() | st.floats(-1e3, 1e3), max_size=20))
def test_metric_of_an_episode_is_the_reduction_of_the_reported_numbers(steps: list[float | None]) -> None:
    measurement = Measurement(Task(id="a/b", goal="", horizon=9, success="x", metrics=METRICS))
    measurement.reset({})
    for number in steps:
        measurement.add({} if number is None else {"metrics": dict.fromkeys(KINDS, number)}, 0.0)
    info: dict[str, Any] = {}
    measurement.report(info)
    numbers = [n for n in steps if n is not None]
    if not numbers:
        assert info["metrics"] == {}
        return
    expected = (numbers[-1], sum(numbers), max(numbers), min(numbers), statistics.fmean(numbers))
    assert info["metrics"] == pytest.approx(dict(zip(KINDS, expected, strict=True)), abs=1e-6)


@pytest.mark.parametrize("given", [float("nan"), float("inf"), "far", None])
def test_error_about_a_metric_that_is_not_a_finite_number_names_the_metric(given: Any) -> None:
    measurement = Measurement(TASK)
    with pytest.raises(PluginError, match=r"grid/walk: info\['metrics'\]\['row'\] is .*finite number"):
        measurement.reset({"metrics": {"row": given}})


def test_score_with_metric_return_is_the_sum_of_the_environments_rewards() -> None:
    measurement = Measurement(Task(id="a/b", goal="", horizon=9, score=Score()))
    measurement.reset({})
    for reward in (1.0, -3.0):
        measurement.add({}, reward)
    info: dict[str, Any] = {}
    measurement.report(info)
    assert info == {"score": -2.0}


def test_episode_info_has_score_and_metrics_over_all_decisions() -> None:
    """The coded action walks two cells in one decision, and each base action walks one cell. The wall stops moves."""
    climb = action("climb", "def run():\n    yield go(direction='up', cells=2)\n")
    setup = WalkPlugin().default_setup(TASK).model_copy(update={"coded_actions": ("climb",)})
    env = build(EnvSpec(TASK, setup, (climb,), factory=walk_plugin), seed=0)
    _, info = env.reset(seed=3)
    rows = [env.unwrapped.agent[0]]  # type: ignore[attr-defined]
    walked, over = 0, False
    while not over:
        before = env.unwrapped.agent  # type: ignore[attr-defined]
        _, _, _, over, info = env.step(env.form.coded("climb") if env.extended.context.step < 2 else np.int64(1))
        after = env.unwrapped.agent  # type: ignore[attr-defined]
        walked += abs(after[0] - before[0])
        rows.append(after[0])
    assert info["episode"]["score"] == walked == info["episode"]["metrics"]["walked"]
    assert info["episode"]["metrics"]["row"] == max(rows)
    assert info["episode"]["success"] is False
    env.close()


def test_evaluation_of_a_task_without_success_has_scores_and_no_success() -> None:
    climb = action("climb", "def run():\n    yield go(direction='up', cells=2)\n")
    spec = EnvSpec(TASK, WalkPlugin().default_setup(TASK), (climb,), factory=walk_plugin)
    found = evaluate_code(spec, (climb,), seeds=range(5))
    assert not found.has_success
    assert found.score == TASK.score
    assert found.mean_score == statistics.fmean(e.metrics["walked"] for e in found.episodes)
    assert found.rank == (0.0, found.mean_score)


def test_metrics_in_info_that_are_not_a_mapping_raise_a_plugin_error() -> None:
    measurement = Measurement(Task(id="a/b", goal="", horizon=9, success="x", metrics=METRICS))
    with pytest.raises(PluginError, match=r"info\['metrics'\] is \[1\]; it must be a mapping"):
        measurement.reset({"metrics": [1]})
