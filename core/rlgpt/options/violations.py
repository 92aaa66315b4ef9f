"""After how many violations a coded action is taken out, and the count of one environment."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable

from rlgpt.domain import Verdict

log = logging.getLogger(__name__)

QUARANTINE_AFTER = 3
"""Violations after which a coded action is masked."""
NO_VIOLATION = ("lint", "quarantined", "wall")
"""The wall clock counts towards nothing: on a busy machine it also stops what did no wrong."""


class Violations:
    """Counts the violations of one environment's coded actions.

    :ivar caught: names of the actions that reached :data:`QUARANTINE_AFTER`.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self.caught: frozenset[str] = frozenset()

    def add(self, verdicts: Iterable[Verdict]) -> None:
        for verdict in verdicts:
            if verdict.kind in NO_VIOLATION:
                continue
            self._counts[verdict.action] += 1
            if self._counts[verdict.action] == QUARANTINE_AFTER:
                self.caught |= {verdict.action}
                log.warning(
                    "coded action %r is masked from the next episode on, after %d violations; the last: %s",
                    verdict.action,
                    QUARANTINE_AFTER,
                    verdict.message,
                )
