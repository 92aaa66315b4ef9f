"""The choice of the best policy of a training by its performance (success rate, then return or score)."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.domain import CurvePoint, Score
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.best import FEWEST, WINDOW, is_best, recent_performance
from rlgpt.rl.checkpoint import BEST, Checkpoint
from rlgpt.rl.ppo import PPO
from rlgpt.testing.grid import TASKS, GridPlugin, grid_plugin

points = st.builds(
    CurvePoint,
    primitive_steps=st.integers(0, 10_000),
    episodes=st.integers(1, 30),
    success=st.floats(0, 1),
    total_reward=st.floats(-100, 100),
    decisions=st.integers(0, 1000),
)


def point(episodes: int, success: float, reward: float = 0.0) -> CurvePoint:
    return CurvePoint(primitive_steps=0, episodes=episodes, success=success, total_reward=reward, decisions=0)


def test_recent_performance_uses_only_the_newest_episodes() -> None:
    assert recent_performance([point(50, 0.0), point(15, 1.0), point(5, 0.2)]) == (pytest.approx(0.8), 0.0)
    assert recent_performance([point(FEWEST - 1, 1.0)]) is None
    assert recent_performance([point(6, 1.0), point(6, 0.5, 3.0)]) == (pytest.approx(0.75), pytest.approx(1.5))


def test_recent_performance_negates_a_score_that_is_minimized() -> None:
    curve = [point(20, 0.0, reward=9.0).model_copy(update={"score": 3.0})]
    assert recent_performance(curve, Score()) == (0.0, 3.0)
    assert recent_performance(curve, Score(maximize=False)) == (0.0, -3.0)


@given(st.lists(points, max_size=8))
def test_recent_performance_is_between_the_lowest_and_the_highest_point(curve: list[CurvePoint]) -> None:
    score = recent_performance(curve)
    if sum(p.episodes for p in curve) < FEWEST:
        assert score is None
    else:
        assert score is not None
        low, high = min(p.success for p in curve), max(p.success for p in curve)
        assert low - 1e-9 <= score[0] <= high + 1e-9
        assert recent_performance([point(WINDOW, 0.0), *curve]) is not None


def test_is_best_prefers_the_later_of_two_points_of_equal_performance() -> None:
    assert is_best((0.5, 1.0), None)
    assert is_best((0.5, 1.0), (0.5, 1.0))
    assert is_best((0.5, 1.1), (0.5, 1.0))
    assert not is_best((0.5, 0.9), (0.5, 1.0))
    assert not is_best(None, None)


def test_evaluation_uses_the_best_and_not_the_last_policy(tmp_path: Path) -> None:
    """``PPO.load()`` returns the best checkpoint of the training, not the last checkpoint."""
    task = TASKS["grid/key"]
    spec = EnvSpec(task, GridPlugin().default_setup(task), factory=grid_plugin)
    seen: list[tuple[float, dict[str, torch.Tensor]]] = []

    def watch(_: CurvePoint) -> None:
        newest = Checkpoint.load(tmp_path)
        seen.append((newest.state.best[0] if newest.state.best else -1.0, newest.weights))

    wild = Hyperparameters(
        num_envs=4, num_steps=16, minibatch_size=16, update_epochs=8, learning_rate=0.05, hidden=(16,)
    )
    PPO(segments=20).train(spec, budget=4000, seed=3, folder=tmp_path, hyperparameters=wild, progress=watch)
    best = Checkpoint.load(tmp_path, BEST)
    scores = [score for score, _ in seen]
    assert scores == sorted(scores), "the performance of the best checkpoint never decreases"
    moments = [i for i, (_, weights) in enumerate(seen) if _same(weights, best.weights)]
    assert moments
    assert scores[moments[-1]] == scores[-1]
    assert _same(PPO().load(tmp_path, spec).network.state_dict(), best.weights)  # type: ignore[attr-defined]


def _same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(a[k], b[k]) for k in a)
