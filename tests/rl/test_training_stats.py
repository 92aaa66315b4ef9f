"""Which verdicts count towards quarantine, and which ones a record stores."""

from __future__ import annotations

import pytest
from rlgpt.domain import Verdict
from rlgpt.domain.events import VerdictKind
from rlgpt.options.violations import QUARANTINE_AFTER
from rlgpt.rl.training_stats import KEPT_VERDICTS, TrainingStats, TrainingStatsState, worth_keeping


def verdict(action: str, kind: VerdictKind = "error") -> Verdict:
    return Verdict(kind=kind, action=action, message="")


@pytest.mark.parametrize(("kind", "counts"), [("fuel", True), ("error", True), ("wall", False), ("lint", False)])
def test_wall_clock_verdicts_do_not_count_as_violations(kind: VerdictKind, counts: bool) -> None:
    stats = TrainingStats(TrainingStatsState())
    stats.add_verdicts([verdict("a", kind)] * QUARANTINE_AFTER)
    assert stats.close_segment() is counts
    assert stats.quarantined == (["a"] if counts else [])
    assert len(stats.verdicts) == QUARANTINE_AFTER, "it is told all the same"


def test_verdicts_of_one_action_do_not_displace_those_of_another() -> None:
    many = [*[verdict("loud")] * 1000, *[verdict("late")] * 10]
    stats = TrainingStats(TrainingStatsState())
    stats.add_verdicts(many)
    assert worth_keeping(many) == tuple(stats.verdicts)
    assert [sum(v.action == name for v in stats.verdicts) for name in ("loud", "late")] == [
        KEPT_VERDICTS,
        QUARANTINE_AFTER,
    ]
