"""Quarantine is the rule that masks a coded action after three violations."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping

from rlgpt.domain import Verdict

log = logging.getLogger(__name__)

QUARANTINE_AFTER = 3
"""Number of violations after which a coded action is masked."""

_NO_VIOLATION = ("lint", "quarantined", "wall")
"""Kinds of verdict that are not violations. A wall-clock timeout is not a violation, because on a busy machine it also
stops correct actions.
"""


def is_violation(verdict: Verdict) -> bool:
    """Whether ``verdict`` counts towards the quarantine of its action."""
    return verdict.kind not in _NO_VIOLATION


def to_quarantine(violations: Mapping[str, int]) -> tuple[str, ...]:
    """The coded actions that have enough violations to be quarantined, in the order of ``violations``.

    :param violations: for each coded action, the number of its violations.
    """
    return tuple(action for action, count in violations.items() if count >= QUARANTINE_AFTER)


class Violations:
    """Counts the violations of the coded actions in one environment.

    :ivar caught: names of the coded actions with so many violations that they must be masked.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self.caught: frozenset[str] = frozenset()

    def add(self, verdicts: Iterable[Verdict]) -> None:
        """Count the violations among ``verdicts``, and log each action that now has too many violations."""
        for verdict in filter(is_violation, verdicts):
            self._counts[verdict.action] += 1
            caught = frozenset(to_quarantine(self._counts))
            if caught != self.caught:
                log.warning(
                    "coded action %r is masked from the next episode on, after %d violations; the last: %s",
                    verdict.action,
                    QUARANTINE_AFTER,
                    verdict.message,
                )
            self.caught = caught


class Quarantine:
    """Decides which coded actions and functions of one environment are masked. The set of masked actions and functions
    changes only between episodes.

    :param names: the coded actions and functions that are masked from the first episode on; if they are given, the
        caller counts violations. If ``names`` is None, the ``Quarantine`` object counts violations.
    :ivar now: the names of the actions and functions that are masked in this episode.
    """

    def __init__(self, names: Iterable[str] | None) -> None:
        self.now: frozenset[str] = frozenset()
        self._next = frozenset(names or ())
        self._violations = Violations() if names is None else None

    def begin(self) -> None:
        """Begin an episode, and apply the changes of the quarantine since the last episode began."""
        self.now = self._next

    def set(self, names: Iterable[str]) -> None:
        """From the next episode on, mask exactly the actions and functions in ``names``. After a call of ``set``, the
        caller counts violations.
        """
        self._next, self._violations = frozenset(names), None

    def add(self, verdicts: Iterable[Verdict]) -> None:
        """Count the violations among ``verdicts``, unless the caller counts violations."""
        if self._violations is not None:
            self._violations.add(verdicts)
            self._next |= self._violations.caught
