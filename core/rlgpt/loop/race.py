"""Races between candidates. A race decides which of several candidates is the best, and ends as soon as the evidence
suffices.

In a race (Maron and Moore 1994; for policies Heidrich-Meisner and Igel 2009), all candidates play episodes with the
same seeds. A candidate is dropped from the race when another candidate is better at a given error probability. The
Hoeffding and Bernstein bounds of these two papers seldom decide within the few tens of episodes that a run can afford.
Results of two candidates on the same seeds are paired, which gives more evidence than separate seeds. Only the seeds on
which two candidates *differ* show which candidate is better (McNemar 1947). If neither candidate is better, each
candidate wins a seed on which they differ with probability 1/2. The hypothesis that neither candidate is better is
tested with the mixture martingale of Robbins (1970). By Ville's inequality, the error bound of this test is valid at
every time, so a race may test after every episode.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import comb

ERROR = 0.1
"""Upper bound of the probability that a race drops the best candidate."""


def evidence(wins: int, losses: int) -> float:
    """The evidence that the first of two candidates is better, as a likelihood ratio of "better" to "not better".

    The evidence for the first candidate is the mean of ``(2 p)^wins (2 (1 - p))^losses`` over all p from 1/2 to 1. In
    this mean, p is the probability that the first candidate wins a seed on which the results differ. With n = wins +
    losses, the evidence is ``sum_{j <= wins} C(n + 1, j) / ((n + 1) C(n, wins))``. If p is at most 1/2, the probability
    that the evidence ever reaches 1 / error is at most ``error`` (Robbins 1970; Ville 1939).

    :param wins: number of seeds on which the first candidate did better.
    :param losses: number of seeds on which the first candidate did worse. Seeds on which both candidates have equal
        results are not counted.
    """
    n = wins + losses
    return sum(comb(n + 1, j) for j in range(wins + 1)) / ((n + 1) * comb(n, wins))


def is_better(ours: Sequence[float], theirs: Sequence[float], *, error: float = ERROR) -> bool:
    """Whether the candidate with the results ``ours`` is better than the candidate with the results ``theirs``. A
    candidate is better if the evidence of the pairs of results reaches 1 / ``error``, and the mean of its results in
    these pairs is higher.

    For successes, both conditions agree. For a score, the higher mean is needed too, because a few large losses can
    outweigh many small wins.

    :param ours: the results of the first candidate, one for each seed. Higher results are better.
    :param theirs: the results of the other candidate for the same seeds, in the same order. Seeds for which only one
        candidate has a result are ignored.
    """
    pairs = list(zip(ours, theirs, strict=False))
    wins, losses = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    return evidence(wins, losses) * error >= 1 and sum(a for a, _ in pairs) > sum(b for _, b in pairs)


class Race:
    """A race between candidates. Each call of :meth:`look` may drop candidates, and a dropped candidate never returns.

    :ivar open: the candidates that are still in the race.
    :param error: upper bound of the probability that the best candidate is dropped, over all pairs of candidates and
        all calls of :meth:`look`.
    """

    def __init__(self, candidates: Sequence[str], *, error: float = ERROR) -> None:
        self.open = tuple(candidates)
        self._error = error / max(1, len(candidates) - 1)

    def look(self, results: Mapping[str, Sequence[float]]) -> None:
        """Drop each candidate that is worse than another candidate in the race.

        :param results: for each candidate, its results, one for each seed. The results of all candidates have the same
            order of seeds.
        """
        self.open = tuple(
            name
            for name in self.open
            if not any(is_better(results[other], results[name], error=self._error) for other in self.open)
        )

    def withdraw(self, candidates: Collection[str]) -> None:
        """Remove ``candidates`` from the race without a comparison."""
        self.open = tuple(name for name in self.open if name not in candidates)
