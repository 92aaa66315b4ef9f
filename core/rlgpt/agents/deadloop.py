"""The dead-loop rate: the share of repairs that bring the same failure again.

RL-GPT reports it beside success when it compares language models (its ablation on models): a model that repairs by
saying the same thing in other words gets nowhere, however many repairs it is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from rlgpt.domain import Iteration, Rehearsal

SAME_WORDS = 0.8
"""Two reviews name the same problem where this share of their words, in order, agrees (0 to 1)."""


@dataclass(frozen=True)
class DeadLoops:
    """Repairs made, and those of them that brought the failure back that they were to mend."""

    repairs: int = 0
    repeated: int = 0

    @property
    def rate(self) -> float | None:
        """None where nothing was repaired."""
        return self.repeated / self.repairs if self.repairs else None

    def __add__(self, other: DeadLoops) -> DeadLoops:
        return DeadLoops(self.repairs + other.repairs, self.repeated + other.repeated)


def same_failure(before: Rehearsal, after: Rehearsal) -> bool:
    """Whether ``after`` failed as ``before`` did.

    The same is: the same source; or verdicts of one kind whose messages agree but for numbers; or
    reviews whose problems agree in their words but for numbers. Lines are left out: a repair moves them.
    """
    if not (before.failed and after.failed):
        return False
    if before.action.source.strip() == after.action.source.strip():
        return True
    if before.verdict is not None or after.verdict is not None:
        return (
            before.verdict is not None
            and after.verdict is not None
            and before.verdict.kind == after.verdict.kind
            and _words(before.verdict.message) == _words(after.verdict.message)
        )
    return SequenceMatcher(None, _problem(before), _problem(after), autojunk=False).ratio() >= SAME_WORDS


def of_attempts(rehearsals: Sequence[Rehearsal]) -> DeadLoops:
    """Over the attempts at one coded action, in order."""
    pairs = list(pairwise(rehearsals))
    return DeadLoops(len(pairs), sum(same_failure(a, b) for a, b in pairs))


def of_iteration(iteration: Iteration) -> DeadLoops:
    return sum((of_attempts(r) for r in iteration.rehearsals.values()), DeadLoops())


def of_run(iterations: Iterable[Iteration]) -> DeadLoops:
    return sum((of_iteration(i) for i in iterations), DeadLoops())


def _problem(rehearsal: Rehearsal) -> list[str]:
    assert rehearsal.review is not None
    return [word for finding in rehearsal.review.findings for word in _words(finding.problem)]


def _words(message: str) -> list[str]:
    """Lower-case words; every number is ``#``."""
    return re.findall(r"[a-z_]+|#", re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", message.lower()))
