"""Reward terms compared with success: trends, correlations, and terms that rise while success does not rise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.domain import CurvePoint, Episode, Evaluation, Score, TrainingRecord
from rlgpt.rl.terms import FEWEST, MOST, RISES, term_curves, trend

RISING = [0.1 * i for i in range(12)]
FLAT = [0.3, 0.2, 0.3, 0.1, 0.2, 0.3, 0.2, 0.1, 0.3, 0.2, 0.2, 0.3]


def trained(terms: dict[str, Sequence[float]], success: Sequence[float], **more: Any) -> TrainingRecord:
    curve = [
        CurvePoint(
            primitive_steps=100 * (i + 1),
            episodes=2,
            success=won,
            total_reward=0,
            decisions=i,
            reward_terms={name: values[i] for name, values in terms.items()},
            **{key: values[i] for key, values in more.items()},
        )
        for i, won in enumerate(success)
    ]
    return TrainingRecord(trainer="ppo", primitive_steps=1, decisions=1, seconds=0, curve=curve)


def judged(pays: Sequence[float], success: Sequence[bool], **more: Any) -> Evaluation:
    episodes = [
        Episode(seed=i, success=won, total_reward=0, primitive_steps=1, decisions=1, reward_terms={"near": paid})
        for i, (paid, won) in enumerate(zip(pays, success, strict=True))
    ]
    return Evaluation(mode="sampled", episodes=episodes, **more)


EMPTY = judged([], [])


def test_term_curves_finds_a_reward_term_that_rises_while_success_does_not() -> None:
    near, cost = term_curves(trained({"near": RISING, "cost": FLAT}, FLAT), EMPTY)
    assert (near.name, near.rises, near.without_success) == ("near", True, True)
    assert (cost.name, cost.rises, cost.without_success) == ("cost", False, False)
    assert near.points[0] == (100, pytest.approx(0.0))
    assert near.points[-1] == (1200, pytest.approx(1.1))
    (with_success,) = term_curves(trained({"near": RISING}, RISING), EMPTY)
    assert with_success.rises
    assert not with_success.without_success


def test_term_curves_compares_reward_terms_with_the_score_of_a_task_without_success() -> None:
    scored = judged([], [], has_success=False, score=Score(maximize=False))
    none = [0.0] * 12
    (falls,) = term_curves(trained({"near": RISING}, none, score=[-x for x in RISING]), scored)
    assert not falls.without_success, "a lower score is better, and the score falls"
    (rises,) = term_curves(trained({"near": RISING}, none, score=RISING), scored)
    assert rises.without_success


def test_correlation_of_a_reward_term_with_success_is_over_evaluated_episodes() -> None:
    def correlation(pays: Sequence[float], success: Sequence[bool], **more: Any) -> float | None:
        (curve,) = term_curves(None, judged(pays, success, **more))
        return curve.correlation

    assert correlation([1, 2, 1, 2], [False, True, False, True]) == pytest.approx(1)
    assert correlation([2, 1], [False, True]) == pytest.approx(-1)
    assert correlation([2, 1], [False, True], score=Score(maximize=False)) == pytest.approx(-1), "success has priority"
    assert correlation([1, 1], [False, True]) is None
    assert correlation([1, 2], [True, True]) is None
    assert correlation([1e308, -1e308], [True, False]) in (None, pytest.approx(1))


@settings(max_examples=50)
@given(st.lists(st.floats(-1e6, 1e6), max_size=30), st.floats(0.1, 100), st.floats(-1e3, 1e3))
def test_trend_of_reversed_values_has_the_opposite_sign_and_scaling_does_not_change_it(
    values: list[float], scale: float, shift: float
) -> None:
    assert trend(values) == pytest.approx(-trend(values[::-1]))
    doubled = [2 * x for x in values]
    assert trend(doubled) == trend(values)
    if len(values) < FEWEST:
        assert trend(values) == 0


def test_trend_of_random_values_exceeds_its_threshold_in_about_one_of_twenty_cases() -> None:
    import random

    rng = random.Random(0)
    found = sum(trend([rng.random() for _ in range(12)]) > RISES for _ in range(1000))
    assert 20 < found < 80, "about one of twenty"
    assert trend([0.0] * 20) == 0
    assert trend([*[0.0] * 10, *[1.0] * 10]) > RISES, "equal values do not prevent a trend"


def test_term_curves_averages_neighbouring_points_of_a_long_curve() -> None:
    (curve,) = term_curves(trained({"near": list(range(1000))}, [0.0] * 1000), EMPTY)
    assert len(curve.points) == MOST
    assert curve.points[0] == (2500, pytest.approx(12))
