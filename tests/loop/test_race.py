"""The race of code and policy: its evidence is a valid statistical test after every episode, favours no candidate,
and decides after few episodes if the difference is large.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.loop.race import ERROR, Race, evidence, is_better

RESULTS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30)
MOST = 30


def test_evidence_between_equal_candidates_has_a_constant_expectation() -> None:
    """If each candidate wins a pair with probability 1/2, the expected evidence after one more pair is equal to the
    evidence before that pair. Ville's inequality requires this property.
    """
    for wins, losses in itertools.product(range(12), range(12)):
        after = (evidence(wins + 1, losses) + evidence(wins, losses + 1)) / 2
        assert after == pytest.approx(evidence(wins, losses))
    assert evidence(0, 0) == 1


@given(RESULTS)
def test_race_gives_the_same_result_if_candidates_are_swapped(pairs: list[tuple[bool, bool]]) -> None:
    ours, theirs = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    one, other = Race(("a", "b")), Race(("b", "a"))
    for count in range(len(pairs) + 1):
        one.look({"a": ours[:count], "b": theirs[:count]})
        other.look({"a": theirs[:count], "b": ours[:count]})
        assert {"a": "b", "b": "a"}[one.open[0]] == other.open[0] if len(one.open) == 1 else len(other.open) == 2
    assert not (is_better(ours, theirs) and is_better(theirs, ours))


@given(RESULTS, st.floats(0.01, 100), st.floats(-50, 50))
def test_race_depends_only_on_the_order_of_results(pairs: list[tuple[bool, bool]], scale: float, shift: float) -> None:
    ours, theirs = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    moved = is_better([scale * a + shift for a in ours], [scale * b + shift for b in theirs])
    assert moved == is_better(ours, theirs)


def test_is_better_is_false_for_many_small_wins_and_one_large_loss() -> None:
    assert not is_better([1.0] * 19 + [0.0], [0.9] * 19 + [100.0])


def _dropped(p: float, *, looks: int = MOST) -> tuple[float, float]:
    """Return two exact probabilities for a candidate that wins each decided pair with probability ``p``: that the race
    drops this candidate, and that the race drops one of the two.
    """
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
def test_race_drops_the_better_candidate_with_at_most_the_stated_probability(p: float) -> None:
    """The probabilities are exact for every pair of success rates. ``p`` is the share of the better candidate's wins
    among the seeds on which the two candidates differ.
    """
    assert _dropped(p, looks=60)[0] <= ERROR
    assert _dropped(1.0)[1] == 1


@settings(max_examples=5, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**32))
def test_race_drops_the_best_of_three_with_at_most_the_stated_probability(
    a: float, b: float, c: float, seed: int
) -> None:
    """The results of the three candidates are independent. 0.06 is four standard errors of the estimate."""
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


def test_race_detects_a_large_difference_within_few_episodes() -> None:
    race = Race(("code", "policy"))
    for count in range(1, 8):
        race.look({"code": [1.0] * count, "policy": [0.0] * count})
        if len(race.open) == 1:
            break
    assert race.open == ("code",)
    assert count == 5


def test_dropped_or_withdrawn_candidate_never_returns() -> None:
    race = Race(("a", "b", "c"))
    race.look({"a": [1.0] * 9, "b": [0.0] * 9, "c": [1.0] * 9})
    assert race.open == ("a", "c")
    race.look({"a": [0.0] * 9, "b": [1.0] * 9, "c": [1.0] * 9})
    assert race.open == ("c",)
    race.withdraw(["c"])
    assert race.open == ()
