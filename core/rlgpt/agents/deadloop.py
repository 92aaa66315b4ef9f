"""Computes the dead-loop rate, which is the share of repairs that fail in the same way as the previous attempt.

The RL-GPT paper compares language models by their dead-loop rate and by their success rate. A language model that
repeats its mistake makes no progress, however many repairs it may make.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from rlgpt.domain import Iteration, Rehearsal

SAME_WORDS = 0.8
"""Minimal share of equal words, in the same order, at which two reviews report the same problem. The share is 0
to 1.
"""


@dataclass(frozen=True)
class DeadLoops:
    """The number of repairs, and the number of repairs that failed in the same way as the previous attempt.

    :ivar repairs: number of repairs, which are the attempts after the first attempt.
    :ivar repeated: number of repairs that failed in the same way as the previous attempt; at most ``repairs``.
    """

    repairs: int = 0
    repeated: int = 0

    @property
    def rate(self) -> float | None:
        """The dead-loop rate ``repeated / repairs``, from 0 to 1; None if no repair was made."""
        return self.repeated / self.repairs if self.repairs else None

    def __add__(self, other: DeadLoops) -> DeadLoops:
        return DeadLoops(self.repairs + other.repairs, self.repeated + other.repeated)


def same_failure(before: Rehearsal, after: Rehearsal) -> bool:
    """Whether the attempt ``after`` failed in the same way as the attempt ``before``.

    Two attempts failed in the same way in any of three cases. First, both attempts have the same source. Second, both
    attempts have a verdict of the same kind and message. Third, both attempts have a review, and the reviews share at
    least the share :data:`SAME_WORDS` of their words. The comparison of messages and reviews ignores numbers, such as
    line numbers, because a repair changes them.
    """
    if not (before.failed and after.failed):
        return False
    if before.action.source.strip() == after.action.source.strip():
        return True
    ours, theirs = before.stopped_by, after.stopped_by
    if ours is not None or theirs is not None:
        return (
            ours is not None
            and theirs is not None
            and ours.kind == theirs.kind
            and _words(ours.message) == _words(theirs.message)
        )
    return SequenceMatcher(None, _problem(before), _problem(after), autojunk=False).ratio() >= SAME_WORDS


def of_attempts(rehearsals: Sequence[Rehearsal]) -> DeadLoops:
    """Count the repairs among the attempts to write one coded action, which are in order of time."""
    pairs = list(pairwise(rehearsals))
    return DeadLoops(len(pairs), sum(same_failure(a, b) for a, b in pairs))


def of_iteration(iteration: Iteration) -> DeadLoops:
    """Count the repairs of all coded actions of an iteration."""
    return sum((of_attempts(r) for r in iteration.rehearsals.values()), DeadLoops())


def of_run(iterations: Iterable[Iteration]) -> DeadLoops:
    """Count the repairs of all ``iterations``."""
    return sum((of_iteration(i) for i in iterations), DeadLoops())


def _problem(rehearsal: Rehearsal) -> list[str]:
    assert rehearsal.review is not None
    return [word for finding in rehearsal.review.findings for word in _words(finding.problem)]


def _words(message: str) -> list[str]:
    """The words of ``message`` in lower case, with ``#`` for every number."""
    return re.findall(r"[a-z_]+|#", re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", message.lower()))
