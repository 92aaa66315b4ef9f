"""Simulates selection rules, which choose between code and policy. The script prints how often a rule keeps the worse
candidate, and how many episodes the rule plays.

    nice python benchmarks/selection_rules.py > benchmarks/results/selection.jsonl     # a few minutes

The simulated episodes succeed independently, with the given success rates; ``greedy`` and ``sampled`` are two modes of
one policy, with the same success rate. The selection rule ``fixed`` plays ten episodes of code and ten episodes of the
sampled policy. The selection rule ``race`` is that of the outer loop (:mod:`rlgpt.loop.selection`). The selection rule
``hoeffding`` is a race over the same episodes with the bound of Maron and Moore (1994).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from reporting import commit, emit
from rlgpt.domain import Episode, Evaluation
from rlgpt.loop.race import ERROR
from rlgpt.loop.selection import CODE, Selection

RATES = [
    (0.0, 0.5),
    (0.5, 0.0),
    (0.3, 0.6),
    (0.6, 0.3),
    (0.5, 0.9),
    (0.9, 0.5),
    (0.7, 0.9),
    (0.9, 0.7),
    (0.8, 0.9),
    (0.9, 0.8),
]
LEAST, MOST, REPEATS = 10, 30, 1000


class Simulated:
    """Replaces the evaluator of the outer loop (``Judge``) by simulated episodes, whose results are drawn
    beforehand.
    """

    def __init__(self, mode: Any, wins: np.ndarray) -> None:
        self.mode, self.wins = mode, wins

    def play(self, acting: Any, seeds: tuple[int, ...]) -> Evaluation:
        episodes = tuple(
            Episode(seed=s, success=bool(self.wins[s]), total_reward=0, primitive_steps=1, decisions=1) for s in seeds
        )
        return Evaluation(mode=self.mode, episodes=episodes)


def race(code: np.ndarray, ways: dict[str, np.ndarray]) -> tuple[bool, int]:
    """Simulate the race of the outer loop. Return whether the race keeps code, and the number of episodes of all
    candidates together.
    """
    players: Any = {name: (Simulated(name, wins), None) for name, wins in ways.items()}
    judge = Simulated(CODE, code)
    players[CODE] = (judge, None)
    first = judge.play(None, tuple(range(LEAST)))
    selection = Selection(players, range(MOST), code=first, least=LEAST, steps=10**9, traces=0)
    selection.run(lambda number: None, lambda number, block: None)
    all_of_code, policy = selection.code, selection.policy
    assert all_of_code is not None
    count = sum(len(e.episodes) for e in (all_of_code, policy, *selection.rivals))
    return all_of_code.cautious_rank > policy.cautious_rank, count


def hoeffding(code: np.ndarray, policy: np.ndarray) -> tuple[bool, int]:
    """Simulate a race in which code and policy play until their confidence intervals do not overlap. Each interval has
    the error probability error / looks, where looks is the number of comparisons.
    """
    for n in range(LEAST, MOST + 1):
        half = math.sqrt(math.log(2 * (MOST - LEAST + 1) * 2 / ERROR) / (2 * n))
        if abs(code[:n].mean() - policy[:n].mean()) > 2 * half:
            break
    return bool(code[:n].mean() > policy[:n].mean()), 2 * n


def main() -> None:
    rng = np.random.default_rng(0)
    for of_code, of_policy in RATES:
        found: dict[str, list[tuple[bool, int]]] = {
            name: [] for name in ("fixed", "hoeffding", "race", "race of two ways")
        }
        for _ in range(REPEATS):
            code, sampled, greedy = (rng.random(MOST) < rate for rate in (of_code, of_policy, of_policy))
            found["fixed"].append((bool(code[:LEAST].sum() > sampled[:LEAST].sum()), 2 * LEAST))
            found["hoeffding"].append(hoeffding(code, sampled))
            found["race"].append(race(code, {"sampled": sampled}))
            found["race of two ways"].append(race(code, {"sampled": sampled, "greedy": greedy}))
        for rule, ends in found.items():
            false = [kept != (of_code > of_policy) for kept, _ in ends]
            emit(
                f"selection/{of_code}/{of_policy}/{rule.replace(' ', '_')}",
                round(float(np.mean(false)), 3),
                "share of false keeps",
                episodes=round(float(np.mean([count for _, count in ends])), 1),
                repeats=REPEATS,
                commit=commit(),
            )


if __name__ == "__main__":
    main()
