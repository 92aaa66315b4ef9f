"""Quarantine is the rule that masks a coded action whose calls often end with a violation."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rlgpt.domain import Verdict

log = logging.getLogger(__name__)

QUARANTINE_AFTER = 3
"""Least number of violations after which a coded action is masked."""

QUARANTINE_SHARE = 0.1
"""Least share of calls with a violation for which a coded action is masked. In a long training, an action that rarely
fails stays available."""

_NO_VIOLATION = ("lint", "quarantined", "wall")
"""Kinds of verdict that are not violations. A wall-clock timeout is not a violation, because on a busy machine it also
stops correct actions.
"""


def is_violation(verdict: Verdict) -> bool:
    """Whether ``verdict`` counts towards the quarantine of its action."""
    return verdict.kind not in _NO_VIOLATION


def to_quarantine(violations: Mapping[str, int], calls: Mapping[str, int]) -> tuple[str, ...]:
    """The coded actions and functions that have enough violations to be quarantined, in the order of ``violations``.

    :param violations: for each coded action or function, the number of its violations.
    :param calls: for each coded action, the number of its calls. Calls of functions are not counted, so a function is
        quarantined after three violations.
    """
    return tuple(
        name
        for name, count in violations.items()
        if count >= QUARANTINE_AFTER and count >= QUARANTINE_SHARE * calls.get(name, 0)
    )


class CallCounts:
    """Counts the calls of each action in one environment. A call may take several decisions (``interrupt_every``).

    :ivar counts: for each action, the number of its calls that have begun.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._running = ""

    def add(self, info: Mapping[str, Any]) -> str | None:
        """Count the call that began in a decision. A decision in which the action in progress goes on begins no call,
        and neither does a decision whose coded action was masked.

        :param info: the info dict of the decision, or of a reset.
        :returns: the name of the action whose call began; None if no call began.
        """
        action: str | None = info.get("action")
        began = None if action == self._running or info.get("ended") == "masked" else action
        self._running = info.get("running", "")
        if began is not None:
            self.counts[began] += 1
        return began


class Violations:
    """Counts the calls and the violations of the coded actions in one environment.

    :ivar caught: names of the coded actions and functions with so many violations that they must be masked.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._calls = CallCounts()
        self.caught: frozenset[str] = frozenset()

    def add(self, verdicts: Iterable[Verdict], info: Mapping[str, Any]) -> None:
        """Count the call that began in a decision and the violations among ``verdicts``. Log each action or function
        that now has too many violations.

        :param info: the info dict of the decision, or of a reset.
        """
        self._calls.add(info)
        for verdict in filter(is_violation, verdicts):
            self._counts[verdict.action] += 1
            caught = self.caught.union(to_quarantine(self._counts, self._calls.counts))
            if caught != self.caught:
                log.warning(
                    "%r is masked from the next episode on, after %d violations; the last: %s",
                    verdict.action,
                    self._counts[verdict.action],
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

    def add(self, verdicts: Iterable[Verdict], info: Mapping[str, Any]) -> None:
        """Count the call that began in a decision and the violations among ``verdicts``, unless the caller counts them.

        :param info: the info dict of the decision, or of a reset.
        """
        if self._violations is not None:
            self._violations.add(verdicts, info)
            self._next |= self._violations.caught
