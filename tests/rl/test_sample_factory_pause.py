"""A training after a suspension of the machine is not reported as hung."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from rlgpt.rl.sample_factory import SampleFactorySettings, supervisor


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now

    def monotonic_ns(self) -> int:
        return int(self.now * 1e9)


class Stale:
    """A shared status with only old heartbeats, in which the learner has started."""

    looks = 0

    def get(self, *_: Any) -> int:
        self.looks += 1
        return 1


def test_pause_of_the_machine_restarts_the_heartbeat_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, shared_status = Clock(), Stale()
    monkeypatch.setattr(supervisor, "time", clock)
    monkeypatch.setattr(supervisor, "stall", lambda *_, **__: "the learner: no beat for 93 s")
    job = SimpleNamespace(settings=SampleFactorySettings(heartbeat_timeout=25))
    watch = supervisor._ChildMonitor(job, shared_status, None, lambda _: None, 0)  # type: ignore[arg-type]

    def look(after: float) -> None:
        clock.now += after
        watch._judge()

    look(90.0)
    assert shared_status.looks == 0
    for _ in range(24):
        look(1.0)
    assert shared_status.looks == 0
    with pytest.raises(supervisor._ChildError, match="no beat for 93 s"):
        look(1.1)


def test_hung_training_is_reported_immediately_when_the_machine_was_not_suspended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, shared_status = Clock(), Stale()
    monkeypatch.setattr(supervisor, "time", clock)
    monkeypatch.setattr(supervisor, "stall", lambda *_, **__: "the learner: no beat for 26 s")
    job = SimpleNamespace(settings=SampleFactorySettings())
    watch = supervisor._ChildMonitor(job, shared_status, None, lambda _: None, 0)  # type: ignore[arg-type]
    clock.now += 0.1
    with pytest.raises(supervisor._ChildError, match="no beat for 26 s"):
        watch._judge()
