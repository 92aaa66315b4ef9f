"""Which of several candidates is better: a race on the same episodes that ends when the evidence suffices.

In a race (Maron and Moore 1994; for policies Heidrich-Meisner and Igel 2009) all candidates play the same seeds, and
one is dropped as soon as another is better beyond a stated error. Their Hoeffding and Bernstein bounds decide little
within the few tens of episodes that a run can pay for. Results on the same seeds are paired, which gives more evidence:
only the seeds on which two candidates *differ* show which is better (McNemar 1947), and if neither is better, each
candidate wins such a seed with probability 1/2. This hypothesis is tested with the mixture martingale of Robbins
(1970). By Ville's inequality its error holds at every look, so a race may look after every episode.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import comb

ERROR = 0.1
"""Most probability with which evidence drops the best candidate."""


def evidence(wins: int, losses: int) -> float:
    """The evidence that one of two candidates is better, as a likelihood ratio against "it is not better".

    The mean of ``(2 p)^wins (2 (1 - p))^losses`` over all p from 1/2 to 1, where p is the probability to win a decided
    pair: with n = wins + losses, ``sum_{j <= wins} C(n + 1, j) / ((n + 1) C(n, wins))``. If p is at most 1/2, it ever
    reaches 1 / error with probability at most ``error`` (Robbins 1970; Ville 1939).

    :param wins: seeds on which it did better than the other.
    :param losses: seeds on which it did worse. Seeds on which both did equally well count for neither.
    """
    n = wins + losses
    return sum(comb(n + 1, j) for j in range(wins + 1)) / ((n + 1) * comb(n, wins))


def is_better(ours: Sequence[float], theirs: Sequence[float], *, error: float = ERROR) -> bool:
    """Whether ``ours`` is better than ``theirs`` beyond ``error``: by the pairs, and by the mean of these pairs.

    For successes both conditions agree. For a score the mean is needed, because many small wins can be outweighed by a
    few large losses.

    :param ours: a result for each seed, higher is better.
    :param theirs: of the same seeds, in the same order; what only one of the two has is left out.
    """
    pairs = list(zip(ours, theirs, strict=False))
    wins, losses = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    return evidence(wins, losses) * error >= 1 and sum(a for a, _ in pairs) > sum(b for _, b in pairs)


class Race:
    """The candidates that may still be the best. Each look may drop some, and none comes back.

    :param error: most probability with which the best candidate is dropped, over all pairs and looks.
    """

    def __init__(self, candidates: Sequence[str], *, error: float = ERROR) -> None:
        self.open = tuple(candidates)
        self._error = error / max(1, len(candidates) - 1)

    def look(self, results: Mapping[str, Sequence[float]]) -> None:
        """Drop each candidate if another candidate in the race is better.

        :param results: candidate -> a result for each seed, all in the same order of seeds.
        """
        self.open = tuple(
            name
            for name in self.open
            if not any(is_better(results[other], results[name], error=self._error) for other in self.open)
        )

    def withdraw(self, candidates: Collection[str]) -> None:
        """Take these candidates out of the race without a comparison."""
        self.open = tuple(name for name in self.open if name not in candidates)
