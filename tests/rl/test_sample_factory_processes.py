"""The child process of Sample Factory, its process group, and the error if the child cannot start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from rlgpt.errors import TrainerError
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.sample_factory import SampleFactory, supervisor
from rlgpt.rl.sample_factory.processes import child_environment, end_group, members, tail
from sample_factory_parts import FORK, job_of, opened


def test_child_environment_has_no_secrets_and_limits_threads() -> None:
    given = {"PATH": "/bin", "OPENAI_API_KEY": "x", "HF_TOKEN": "x", "db_password": "x", "OMP_NUM_THREADS": "8"}
    kept = child_environment(given, 1)
    assert kept["PATH"] == "/bin"
    assert kept["OMP_NUM_THREADS"] == kept["MKL_NUM_THREADS"] == "1"
    assert "x" not in kept.values()


@pytest.mark.parametrize("guarded", [True, False])
def test_child_process_starts_with_the_prepared_environment_variables(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A substitute child process prints its environment variables. If secrets were not removed, the output would
    contain the key.
    """
    monkeypatch.setenv("CANARY_API_KEY", "canary-31337")
    monkeypatch.setenv("CANARY_SETTING", "canary-1")
    if not guarded:
        monkeypatch.setattr(supervisor, "child_environment", lambda environment, threads: dict(environment))
    start, telling = subprocess.Popen, [sys.executable, "-c", "import os; print(dict(os.environ))"]
    monkeypatch.setattr(subprocess, "Popen", lambda command, **given: start(telling, **given))
    job = job_of(tmp_path)
    shared_status = opened(job)
    try:
        with (tmp_path / "lock").open("w") as lock, pytest.raises(TrainerError, match="canary-1") as caught:
            supervisor.supervise(job, shared_status, lock.fileno(), lambda point: None)
    finally:
        shared_status.close()
    assert ("canary-31337" in str(caught.value)) is not guarded
    assert ("CANARY_API_KEY" in str(caught.value)) is not guarded


def test_ending_a_process_group_ends_all_its_processes() -> None:
    script = (
        "import subprocess, sys, torch\n"
        "torch.multiprocessing.set_sharing_strategy('file_system')\n"
        "kept = torch.zeros(8).share_memory_()\n"
        "subprocess.Popen(['sleep', '600'])\n"
        "print(1, flush=True)\n"
        "sys.stdin.read()\n"
    )
    leader = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert leader.stdin is not None
    assert leader.stdout is not None
    leader.stdout.readline()
    below = psutil.Process(leader.pid).children()
    assert below
    assert list(Path("/dev/shm").glob(f"torch_{leader.pid}_*"))
    end_group(leader.pid)
    assert not list(Path("/dev/shm").glob(f"torch_{leader.pid}_*"))
    leader.wait()
    assert members(leader.pid) == []
    leader.stdin.close()
    leader.stdout.close()


def test_child_process_ends_when_its_parent_ends() -> None:
    script = (
        "import os, sys, threading\n"
        "from rlgpt.rl.sample_factory.processes import die_with_parent\n"
        "stop = threading.Event()\n"
        "die_with_parent(open(0, 'rb', buffering=0), stop, patience=0.1)\n"
        "print(1, flush=True)\n"
        "stop.wait(); threading.Event().wait()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdout.readline()
    child.stdin.close()
    assert child.wait(timeout=60) == -signal.SIGKILL
    child.stdout.close()


def test_tail_of_a_log_is_its_first_traceback_or_its_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("Traceback (most recent call last)\n  old\nValueError: old\n")
    start = log.stat().st_size
    with log.open("a") as file:
        file.write("\n".join(f"line {i}" for i in range(99)))
    assert tail(log, start, 3) == "line 96\nline 97\nline 98"
    with log.open("a") as file:
        file.write("\nTraceback (most recent call last):\n" + "".join(f"  frame {i}\n" for i in range(99)))
        file.write("\x1b[31mValueError: cause\x1b[0m\nnoise\nTraceback (most recent call last):\n  late\nKeyError: 1\n")
    assert tail(log, start, 4).splitlines() == [
        "Traceback (most recent call last):",
        "  ...",
        "  frame 98",
        "ValueError: cause",
    ]


def test_error_about_missing_sample_factory_gives_the_command_that_installs_it() -> None:
    script = (
        "import sys\n"
        "sys.modules['sample_factory'] = None\n"
        "from rlgpt.errors import TrainerError\n"
        "from rlgpt.rl.sample_factory import SampleFactory\n"
        "try: SampleFactory()\n"
        "except TrainerError as fault: print(fault)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert "uv pip install" in done.stdout
    assert "--overrides" in done.stdout


def test_sample_factory_explains_a_missing_main_guard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import multiprocessing

    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(TrainerError, match="__main__"):
        SampleFactory().train(FORK, budget=1, seed=0, folder=tmp_path, hyperparameters=Hyperparameters())
