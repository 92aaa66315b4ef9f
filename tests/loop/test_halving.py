"""Successive halving: how many episodes it plays, and which plans it keeps."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.loop.halving import Schedule, better_half, episodes, field_sizes

PLANS = st.integers(2, 16)
STEPS = st.integers(0, 10**6)


def halve(quality: dict[int, float], schedule: Schedule, noise: float = 0.0, seed: int = 0) -> tuple[int, list[int]]:
    """Halve plans whose episodes return their quality, with noise. Return the last plan, and for each round the number
    of episodes of all plans.
    """
    rng, remaining, played, number = random.Random(seed), tuple(quality), list[int](), 0
    sums = dict.fromkeys(quality, 0.0)
    while len(remaining) > 1:
        numbers = schedule.of_round(number)
        played.append(len(numbers) * len(remaining))
        for plan in remaining:
            sums[plan] += sum(quality[plan] + rng.gauss(0, noise) for _ in numbers)
        remaining, number = better_half({plan: sums[plan] for plan in remaining}), number + 1
    return remaining[0], played


@given(st.dictionaries(st.integers(0, 15), st.integers(-5, 5).map(float), min_size=2), st.randoms())
def test_halving_never_drops_the_better_plan_if_results_have_no_noise(
    quality: dict[int, float], shuffling: random.Random
) -> None:
    """The order in which the results arrive makes no difference."""
    schedule = Schedule.fitting(len(quality), most=10, steps=10**6, limit=100)
    best = max(quality, key=lambda plan: (quality[plan], -plan))
    assert halve(quality, schedule)[0] == best
    order = list(quality.items())
    shuffling.shuffle(order)
    assert halve(dict(order), schedule)[0] == best


@given(st.dictionaries(st.integers(), st.floats(allow_nan=False), min_size=1))
def test_every_plan_of_the_better_half_is_at_least_as_good_as_every_dropped_plan(results: dict[int, float]) -> None:
    kept = better_half(results)
    assert len(kept) == (len(results) + 1) // 2
    assert list(kept) == sorted(kept)
    assert all(results[k] >= results[d] for k in kept for d in results.keys() - set(kept))


@given(PLANS, st.integers(1, 100), STEPS, st.integers(1, 10_000))
def test_rounds_double_their_episodes_and_halve_their_plans_within_the_steps(
    plans: int, most: int, steps: int, limit: int
) -> None:
    schedule = Schedule.fitting(plans, most=most, steps=steps, limit=limit)
    rounds = [schedule.of_round(number) for number in range(len(field_sizes(plans)))]
    assert len(rounds) == (plans - 1).bit_length()
    assert [n for played in rounds for n in played] == list(range(rounds[-1].stop)), "a seed is left out or repeated"
    assert [len(played) for played in rounds] == [schedule.first << number for number in range(len(rounds))]
    total = sum(halve(dict.fromkeys(range(plans), 0.0), schedule)[1])
    smallest = schedule.first == 1
    assert 1 <= schedule.limit <= limit
    assert total * schedule.limit <= steps or (smallest and schedule.limit == 1)
    assert rounds[-1].stop <= most or smallest
    assert total <= episodes(plans, most)
    assert Schedule.fitting(plans, most=most, steps=10**9, limit=limit) == (
        episodes(plans, most) // (total // schedule.first),
        limit,
    )


@pytest.mark.parametrize(
    ("plans", "first", "sizes", "total"),
    [(1, 10, (), 0), (2, 10, (2,), 20), (3, 3, (3, 2), 21), (4, 3, (4, 2), 24), (5, 1, (5, 3, 2), 19)],
)
def test_number_of_episodes_of_a_few_schedules(plans: int, first: int, sizes: tuple[int, ...], total: int) -> None:
    assert field_sizes(plans) == sizes
    assert episodes(plans, 10) == total
    if sizes:
        assert Schedule.fitting(plans, most=10, steps=10**6, limit=280).first == first


def test_halving_finds_the_best_plan_more_often_than_equal_numbers_of_episodes() -> None:
    """Two of eight plans are close. The difference of the two frequencies is at least four standard errors."""
    quality, runs = {**dict.fromkeys(range(6), 0.0), 6: 0.8, 7: 1.0}, 1_000
    schedule = Schedule.fitting(len(quality), most=70, steps=10**6, limit=1)
    each = sum(halve(quality, schedule)[1]) // len(quality)

    def by_equal_numbers(seed: int) -> int:
        rng = random.Random(seed)
        return max(quality, key=lambda plan: sum(quality[plan] + rng.gauss(0, 1) for _ in range(each)))

    halved = sum(halve(quality, schedule, 1.0, seed)[0] == 7 for seed in range(runs)) / runs
    equal = sum(by_equal_numbers(seed) == 7 for seed in range(runs)) / runs
    error = ((halved * (1 - halved) + equal * (1 - equal)) / runs) ** 0.5
    assert halved - equal >= 4 * error
