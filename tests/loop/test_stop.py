"""A run is stopped by a request in its folder, as by an interrupt, and can be resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rlgpt.loop import Observer, run, spending
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from story import SHORT, context


class Stopping(Observer):
    """Requests a stop at the first stage of a name."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name

    def stage(self, name: str, **facts: Any) -> None:
        if name == self.name:
            Run.open(self.folder).request_stop()


@pytest.mark.parametrize("stage", [pytest.param("rehearse", marks=pytest.mark.slow), "train"])
def test_requested_stop_ends_a_run_that_is_then_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    monkeypatch.setattr(spending, "TELL_SECONDS", 0.0)
    with pytest.raises(KeyboardInterrupt):
        run(context(tmp_path, PPO(), observer=Stopping(tmp_path, stage), settings=SHORT))
    record = Run.open(tmp_path).record
    assert (record.status, record.reason) == ("stopped", "interrupted")
    monkeypatch.undo()
    Run.open(tmp_path).request_stop()  # A request from before the run was resumed does not count.
    result = run(context(tmp_path, PPO(), settings=SHORT))
    assert len(result.history) == 2
    assert Run.open(tmp_path).record.status == "finished"
