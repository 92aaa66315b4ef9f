"""The shared status, a file to which every process of a training writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from rlgpt.errors import TrainerError
from rlgpt.rl.sample_factory.job import STATUS_FILE
from rlgpt.rl.sample_factory.shared_status import (
    BEAT,
    BUSY,
    DECISIONS,
    FIRST_ENV,
    ITERATIONS,
    LEARNER,
    RUNNER,
    SharedStatus,
    stall,
)


def test_shared_status_of_a_new_session_keeps_the_counts_of_earlier_sessions(tmp_path: Path) -> None:
    path = tmp_path / STATUS_FILE
    for session in (1, 2, 3):
        shared_status = SharedStatus.open_session(path, 3, 1)
        shared_status.add(FIRST_ENV + 2, DECISIONS, 10)
        shared_status.add(LEARNER, ITERATIONS)
        shared_status.violation(FIRST_ENV, 0)
        assert (shared_status.spent(DECISIONS), shared_status.iterations(), shared_status.violations()) == (
            10 * session,
            session,
            [session],
        )
        assert shared_status.get(LEARNER, ITERATIONS) == 1
        shared_status.close()


def test_opening_a_damaged_shared_status_raises_an_error(tmp_path: Path) -> None:
    path = tmp_path / STATUS_FILE
    SharedStatus.open_session(path, 2, 1).close()
    with pytest.raises(TrainerError, match="1 coded actions; this training has 2"):
        SharedStatus.open_session(path, 2, 2)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(TrainerError, match="damaged"):
        SharedStatus.open_session(path, 2, 1)
    path.write_bytes(b"")
    with pytest.raises(TrainerError, match="cannot be read"):
        SharedStatus.open_session(path, 2, 1)


@pytest.mark.parametrize(
    ("beats", "busy", "serial", "said"),
    [
        ({RUNNER: 1, LEARNER: 1, FIRST_ENV: 1}, [], False, None),
        ({RUNNER: 1, LEARNER: 30, FIRST_ENV: 1}, [], False, None),
        ({RUNNER: 1, LEARNER: 30, FIRST_ENV: 1}, [LEARNER], False, "the learner has been busy for 30 s"),
        ({RUNNER: 1, LEARNER: 1, FIRST_ENV: 40}, [FIRST_ENV], True, "environment 0 has been busy for 40 s"),
        ({RUNNER: 50, LEARNER: 1, FIRST_ENV: 1}, [], False, "the runner"),
        ({RUNNER: 50, LEARNER: 1, FIRST_ENV: 1}, [LEARNER], True, None),
        ({RUNNER: 1, LEARNER: 30, FIRST_ENV: 30}, [], False, "neither"),
    ],
)
def test_stall_names_the_component_that_hangs(
    tmp_path: Path, beats: dict[int, int], busy: list[int], serial: bool, said: str | None
) -> None:
    shared_status, now = SharedStatus.open_session(tmp_path / STATUS_FILE, 1, 0), 10**12
    for row, age in beats.items():
        shared_status.put(row, BEAT, now - age * 10**9)
    for row in busy:
        shared_status.put(row, BUSY, 1)
    found = stall(shared_status, now=now, timeout=25, serial=serial)
    assert found is None if said is None else found is not None and said in found
    shared_status.close()
