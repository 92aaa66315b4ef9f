"""The race: its evidence is a valid test at every look, favours no candidate, and decides soon if the gap is large."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.loop.race import ERROR, Race, evidence, is_better

RESULTS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30)
MOST = 30


def test_evidence_is_a_martingale_of_equals() -> None:
    """After one more pair it is on average what it was, if either wins with 1/2; Ville's inequality needs that."""
    for wins, losses in itertools.product(range(12), range(12)):
        after = (evidence(wins + 1, losses) + evidence(wins, losses + 1)) / 2
        assert after == pytest.approx(evidence(wins, losses))
    assert evidence(0, 0) == 1


@given(RESULTS)
def test_race_prefers_nobody(pairs: list[tuple[bool, bool]]) -> None:
    ours, theirs = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    one, other = Race(("a", "b")), Race(("b", "a"))
    for count in range(len(pairs) + 1):
        one.look({"a": ours[:count], "b": theirs[:count]})
        other.look({"a": theirs[:count], "b": ours[:count]})
        assert {"a": "b", "b": "a"}[one.open[0]] == other.open[0] if len(one.open) == 1 else len(other.open) == 2
    assert not (is_better(ours, theirs) and is_better(theirs, ours))


@given(RESULTS, st.floats(0.01, 100), st.floats(-50, 50))
def test_only_the_order_of_results_counts(pairs: list[tuple[bool, bool]], scale: float, shift: float) -> None:
    ours, theirs = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    moved = is_better([scale * a + shift for a in ours], [scale * b + shift for b in theirs])
    assert moved == is_better(ours, theirs)


def test_to_win_often_by_little_is_not_to_be_better() -> None:
    assert not is_better([1.0] * 19 + [0.0], [0.9] * 19 + [100.0])


def _dropped(p: float, *, looks: int = MOST) -> tuple[float, float]:
    """Exact probabilities for a candidate that wins each decided pair with p: that it is dropped; that either is."""
    alive = {(0, 0): 1.0}
    lost = won = 0.0
    for _ in range(looks):
        after: dict[tuple[int, int], float] = {}
        for (wins, losses), mass in alive.items():
            for state, part in (((wins + 1, losses), p), ((wins, losses + 1), 1 - p)):
                if evidence(*state) * ERROR >= 1:
                    won += mass * part
                elif evidence(*reversed(state)) * ERROR >= 1:
                    lost += mass * part
                else:
                    after[state] = after.get(state, 0) + mass * part
        alive = after
    return lost, won + lost


@pytest.mark.parametrize("p", [0.5, 0.55, 0.6, 0.7, 0.8, 0.95])
def test_the_better_one_is_dropped_with_the_stated_error_at_most(p: float) -> None:
    """Exact for every pair of success rates: p is the better one's share of the seeds on which the two differ."""
    assert _dropped(p, looks=60)[0] <= ERROR
    assert _dropped(1.0)[1] == 1


@settings(max_examples=5, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**32))
def test_the_best_of_three_is_dropped_with_the_stated_error_at_most(a: float, b: float, c: float, seed: int) -> None:
    """Over independent results. 0.06 is four standard errors of the estimate."""
    rates, rng = (a, b, c), np.random.default_rng(seed)
    best = max(range(3), key=lambda i: rates[i])
    drops = 0
    for _ in range(300):
        wins = (rng.random((3, MOST)) < np.array(rates)[:, None]).astype(float)
        race = Race(("0", "1", "2"))
        for count in range(5, MOST + 1, 5):
            race.look({str(i): wins[i, :count].tolist() for i in range(3)})
        drops += str(best) not in race.open and rates[best] > sorted(rates)[1]
    assert drops / 300 <= ERROR + 0.06


def test_a_large_gap_is_seen_within_few_episodes() -> None:
    race = Race(("code", "policy"))
    for count in range(1, 8):
        race.look({"code": [1.0] * count, "policy": [0.0] * count})
        if len(race.open) == 1:
            break
    assert race.open == ("code",)
    assert count == 5


def test_who_is_dropped_or_withdrawn_stays_out() -> None:
    race = Race(("a", "b", "c"))
    race.look({"a": [1.0] * 9, "b": [0.0] * 9, "c": [1.0] * 9})
    assert race.open == ("a", "c")
    race.look({"a": [0.0] * 9, "b": [1.0] * 9, "c": [1.0] * 9})
    assert race.open == ("c",)
    race.withdraw(["c"])
    assert race.open == ()
