"""The live page stops and resumes runs of this user, and refuses to start runs made by others."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from folders import make_run
from rlgpt.errors import ConfigError
from rlgpt.runs import Run
from rlgpt.view.library import Library


def only(library: Library) -> str:
    (line,) = library.runs()
    return str(line["id"])


def test_running_run_without_a_process_has_the_status_killed(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", status="running")
    library = Library([tmp_path])
    assert library.runs()[0]["status"] == "running", "its record has just changed"
    os.utime(run.folder / "run.json", (1, 1))
    assert library.runs()[0]["status"] == "killed"
    with (run.folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert library.runs()[0]["status"] == "running"
    assert library.run(only(library))["status"] == "killed"


def test_stop_request_interrupts_a_running_run_and_refuses_other_runs(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", status="running")
    library = Library([tmp_path])
    library.stop(only(library))
    assert run.stop_requested
    assert library.run(only(library))["stopping"]
    run.forget_stop()
    run.update(status="finished")
    with pytest.raises(ConfigError, match="does not run: its status is finished"):
        library.stop(only(library))
    assert not run.stop_requested


def test_live_page_does_not_resume_a_run_made_by_others(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", status="stopped")
    path = run.folder / "run.json"
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
    library = Library([tmp_path])
    assert library.run(only(library))["own"] is False
    with pytest.raises(ConfigError, match="made elsewhere"):
        library.resume(only(library))


@pytest.mark.parametrize("status", ["finished", "running"])
def test_live_page_does_not_resume_a_finished_or_running_run(tmp_path: Path, status: str) -> None:
    make_run(tmp_path / "run", status=status)
    library = Library([tmp_path])
    with pytest.raises(ConfigError, match=f"its status is {status}"):
        library.resume(only(library))


def test_live_page_shows_the_output_of_a_run_that_it_resumed(tmp_path: Path) -> None:
    """The run has a setting that rlgpt does not know, so that its process ends with a message."""
    run = make_run(tmp_path / "run", status="stopped", wrong_setting=1)
    library = Library([tmp_path])
    key = only(library)
    library.resume(key)
    with pytest.raises(ConfigError, match="is being resumed already"):
        library.resume(key)
    process, _ = library.processes._started[Run.open(run.folder).folder]
    assert process.wait(100) == 2
    assert "wrong_setting" in library.run(key)["output"]
    library.processes.close()
