"""Statistics of scores, compared with closed formulas and with their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rlgpt.report.stats import Interval, band, difference, interval, iqm, spread
from scipy.stats import trim_mean

unit = st.floats(0, 1, allow_subnormal=False)


@given(arrays(np.float64, st.integers(1, 40), elements=unit))
def test_iqm_equals_the_mean_trimmed_by_a_quarter_on_each_side(scores: np.ndarray) -> None:
    assert iqm(scores) == pytest.approx(trim_mean(scores, 0.25), abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_spread_is_a_range_for_two_to_four_scores_and_an_interval_for_more(scores: list[float]) -> None:
    told, around = spread(scores), interval(scores)
    assert told.point == around.point
    if len(scores) < 5:
        level = None if len(scores) == 1 else 1.0
        assert (told.low, told.high, told.level) == (min(scores), max(scores), level)
    else:
        assert told == around


def test_iqm_equals_a_known_result() -> None:
    assert iqm(np.array([0.0, 0.2, 0.4, 1.0])) == pytest.approx(0.3)
    assert iqm(np.array([0.0, 0.3, 0.9])) == pytest.approx(0.4)


@given(arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=unit), st.integers(0, 99))
def test_bootstrap_interval_is_within_the_scores_and_reproducible(scores: np.ndarray, seed: int) -> None:
    first = interval(scores, repetitions=200, seed=seed)
    assert scores.min() - 1e-12 <= first.low <= first.high <= scores.max() + 1e-12
    assert first == interval(scores, repetitions=200, seed=seed)


def test_bootstrap_interval_resamples_runs_within_their_task() -> None:
    scores = np.array([[0.0, 1.0]] * 6)
    found = interval(scores, statistic=lambda x: x.mean(axis=-1))
    assert (found.low, found.point, found.high) == (0.5, 0.5, 0.5)


def test_bootstrap_interval_of_a_mean_agrees_with_the_normal_approximation() -> None:
    scores = np.random.default_rng(1).normal(0.5, 0.1, size=400)
    found = interval(scores, statistic=lambda x: x.mean(axis=-1), repetitions=4000)
    half = 1.96 * scores.std() / 20
    assert found.low == pytest.approx(scores.mean() - half, abs=0.1 * half)
    assert found.high == pytest.approx(scores.mean() + half, abs=0.1 * half)


def test_difference_of_constant_scores_has_an_interval_of_zero_width() -> None:
    found = difference([0.9] * 5, [0.2] * 3)
    assert (found.low, found.point, found.high) == pytest.approx((0.7, 0.7, 0.7))
    noisy = difference([0.8, 0.9, 1.0, 0.85], [0.1, 0.6, 0.3, 0.9])
    assert noisy.low < noisy.point < noisy.high
    back = difference([0.1, 0.6, 0.3, 0.9], [0.8, 0.9, 1.0, 0.85])
    assert back.point == pytest.approx(-noisy.point)


def test_difference_of_paired_scores_resamples_pairs() -> None:
    theirs = np.array([0.1, 0.9, 0.4, 0.7, 0.3])
    always = difference(theirs + 0.05, theirs, paired=True)
    assert (always.low, always.point, always.high) == pytest.approx((0.05, 0.05, 0.05))
    apart = difference(theirs + 0.05, theirs)
    assert apart.low < 0 < apart.point < apart.high
    with pytest.raises(ValueError, match="paired scores must have the same shape"):
        difference([0.1, 0.2], [0.1, 0.2, 0.3], paired=True)


@pytest.mark.parametrize(("runs", "least", "most"), [(3, 0.70, 0.82), (5, 0.85, 0.93), (40, 0.91, 0.97)])
def test_bootstrap_interval_of_few_runs_covers_less_than_its_level(runs: int, least: float, most: float) -> None:
    """The coverage is the one that the docstring of ``interval`` and docs/benchmarks.md state."""
    rng = np.random.default_rng(1)
    truth = float(iqm(rng.beta(8, 2, 400_000)))
    found = [interval(rng.beta(8, 2, runs), repetitions=400, seed=n) for n in range(600)]
    assert least < np.mean([i.low <= truth <= i.high for i in found]) < most


def test_band_of_a_curve_has_the_interval_at_each_point() -> None:
    scores = np.random.default_rng(0).random((5, 7))
    middle, low, high = band(scores)
    assert middle == pytest.approx(np.array([iqm(column) for column in scores.T]))
    assert (low <= middle).all()
    assert (middle <= high).all()


@pytest.mark.parametrize("wrong", [[], [float("nan")], [[[1.0]]]])
def test_interval_refuses_scores_that_are_empty_not_finite_or_of_a_wrong_shape(wrong: list[object]) -> None:
    with pytest.raises(ValueError, match="scores must be finite"):
        interval(wrong)


@pytest.mark.parametrize(("scores", "text"), [([0.5], "0.50"), ([0.5, 0.5], "0.50 [0.50, 0.50]")])
def test_text_of_a_single_score_has_no_brackets(scores: list[float], text: str) -> None:
    assert str(spread(scores)) == text


@pytest.mark.parametrize(
    ("point", "text"),
    [(0.5, "0.50 [0.50, 0.50]"), (0.0, "0.00 [0.00, 0.00]"), (0.0042, "0.0042 [0.0042, 0.0042]"), (-3e8, "-3e+08 [")],
)
def test_text_of_an_interval_keeps_significant_digits_of_small_and_large_figures(point: float, text: str) -> None:
    assert str(Interval(point=point, low=point, high=point)).startswith(text)
