"""The verdicts that count for quarantine, and the verdicts that a record stores."""

from __future__ import annotations

import pytest
from rlgpt.domain import Verdict
from rlgpt.domain.events import VerdictKind
from rlgpt.options.violations import QUARANTINE_AFTER
from rlgpt.rl.training_stats import KEPT_VERDICTS, TrainingStats, TrainingStatsState, worth_keeping


def verdict(action: str, kind: VerdictKind = "error") -> Verdict:
    return Verdict(kind=kind, action=action, message="")


@pytest.mark.parametrize(("kind", "counts"), [("fuel", True), ("error", True), ("wall", False), ("lint", False)])
def test_verdicts_of_kind_wall_or_lint_do_not_count_as_violations(kind: VerdictKind, counts: bool) -> None:
    stats = TrainingStats(TrainingStatsState())
    stats.add_verdicts([verdict("a", kind)] * QUARANTINE_AFTER)
    assert stats.close_segment() is counts
    assert stats.quarantined == (["a"] if counts else [])
    assert len(stats.verdicts) == QUARANTINE_AFTER, "verdicts of every kind are stored"


def called(stats: TrainingStats, times: int) -> None:
    for _ in range(times):
        stats.add_call("a")


def test_action_that_rarely_fails_is_not_quarantined_and_leaves_the_quarantine() -> None:
    stats = TrainingStats(TrainingStatsState())
    stats.add_verdicts([verdict("a")] * QUARANTINE_AFTER)
    assert stats.close_segment()
    assert stats.quarantined == ["a"]
    called(stats, 10 * QUARANTINE_AFTER)
    assert not stats.close_segment(), "a tenth of the calls had a violation"
    called(stats, 1)
    assert stats.close_segment()
    assert stats.quarantined == []
    resumed = TrainingStats(stats.state())
    resumed.add_verdicts([verdict("a")])
    assert resumed.close_segment()
    assert resumed.quarantined == ["a"]


def test_record_stores_verdicts_of_each_action_up_to_a_limit_per_action() -> None:
    many = [*[verdict("loud")] * 1000, *[verdict("late")] * 10]
    stats = TrainingStats(TrainingStatsState())
    stats.add_verdicts(many)
    assert worth_keeping(many) == tuple(stats.verdicts)
    assert [sum(v.action == name for v in stats.verdicts) for name in ("loud", "late")] == [
        KEPT_VERDICTS,
        QUARANTINE_AFTER,
    ]
