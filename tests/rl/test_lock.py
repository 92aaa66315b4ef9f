"""The lock of a training folder permits one training at a time, even after a kill of the previous training."""

from __future__ import annotations

import errno
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from pathlib import Path

import pytest
from gated import gated_spec, train, train_with_a_worker
from holding import hold
from rlgpt.domain import CurvePoint
from rlgpt.errors import TrainerError
from rlgpt.rl import lock
from rlgpt.rl.lock import Shared, exclusive
from rlgpt.testing.counting import counted, grid_spec

LONG = 120.0
"""A time limit in seconds that no step of these tests reaches."""


@contextmanager
def told(act: Callable[[str], object]) -> Iterator[None]:
    """Call ``act`` with each message of the lock when it is logged."""

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            act(record.getMessage())

    handler = Handler()
    lock.log.addHandler(handler)
    try:
        yield
    finally:
        lock.log.removeHandler(handler)


def test_lock_refuses_a_second_training_and_names_the_holder(tmp_path: Path) -> None:
    said = rf"still runs in {tmp_path} \(process {os.getpid()}\)\. Wait until the process ends, end it, or train"
    with exclusive(tmp_path), pytest.raises(TrainerError, match=said), exclusive(tmp_path, patience=0):
        pass
    with exclusive(tmp_path, patience=0):
        pass


def test_lock_is_free_after_a_kill_of_its_holder_and_the_wait_is_logged(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from rlgpt.rl.lock import exclusive\n"
        "with exclusive(Path(sys.argv[1])):\n"
        "    print(1, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    lines: list[str] = []

    def kill(line: str) -> None:
        lines.append(line)
        holder.kill()

    try:
        assert holder.stdout.readline()
        with told(kill), exclusive(tmp_path, patience=LONG):
            assert lines == [f"{tmp_path} is in use (process {holder.pid}); waiting up to {LONG:g} s for its end"]
    finally:
        holder.kill()
        assert holder.wait() == -signal.SIGKILL
        holder.stdin.close()
        holder.stdout.close()


def test_lock_is_held_by_a_worker_after_its_parent_ends(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    with exclusive(tmp_path) as descriptor:
        worker = context.Process(target=hold, args=(theirs, Shared(descriptor)), daemon=True)
        worker.start()
        theirs.close()
        assert isinstance(ours.recv(), int)
    said = rf"a worker process of a killed training.*\(process {worker.pid}\)"
    with pytest.raises(TrainerError, match=said), exclusive(tmp_path, patience=0):
        pass
    ours.close()
    worker.join()
    with exclusive(tmp_path, patience=0):
        pass


def test_second_training_in_the_same_folder_raises_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "PATIENCE", 0.0)
    spec, folder = grid_spec(tmp_path / "count"), tmp_path / "train"
    seen: list[CurvePoint] = []

    def again(point: CurvePoint) -> None:
        seen.append(point)
        if len(seen) == 1:
            with pytest.raises(TrainerError, match="still runs"):
                train(folder, spec)

    record = train(folder, spec, progress=again)
    assert seen
    assert record.primitive_steps == counted(tmp_path / "count")
    assert train(folder, spec).primitive_steps == record.primitive_steps


@pytest.fixture
def orphan(tmp_path: Path) -> Iterator[int]:
    """A worker process of a killed training in the folder ``train``. The worker is in the middle of a step, which ends
    with a write to the pipe ``gate``.
    """
    entered, gate = tmp_path / "entered", tmp_path / "gate"
    os.mkfifo(entered)
    os.mkfifo(gate)
    listening = os.open(entered, os.O_RDONLY | os.O_NONBLOCK)
    spec = gated_spec(tmp_path / "count", 20, entered, gate)
    parent = multiprocessing.get_context("spawn").Process(target=train_with_a_worker, args=(tmp_path / "train", spec))
    parent.start()
    pid = 0
    try:
        assert listening in wait([listening, parent.sentinel], LONG), "the training ended early, or did not start"
        pid = int(os.read(listening, 32))
        parent.kill()
        parent.join()
        yield pid
    finally:
        os.close(listening)
        parent.kill()
        parent.join()
        with suppress(ProcessLookupError):
            os.kill(pid or parent.pid, signal.SIGKILL)  # type: ignore[arg-type]


@pytest.mark.slow
def test_resumed_training_waits_for_the_worker_of_a_killed_training(
    tmp_path: Path, orphan: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the wait takes too long, the training raises an error. The steps of the worker are counted, and no later
    process overwrites the counts.
    """
    spec, folder = grid_spec(tmp_path / "count"), tmp_path / "train"
    monkeypatch.setattr(lock, "PATIENCE", 0.0)
    with pytest.raises(TrainerError, match=rf"a worker process of a killed training.*\(process {orphan}\)"):
        train(folder, spec)
    assert counted(tmp_path / "count") == 20
    lines: list[str] = []

    def let_it_end(line: str) -> None:
        lines.append(line)
        (tmp_path / "gate").write_text("")

    monkeypatch.setattr(lock, "PATIENCE", LONG)
    with told(let_it_end):
        record = train(folder, spec)
    assert [f"(process {orphan})" in line for line in lines] == [True]
    assert record.primitive_steps == counted(tmp_path / "count") >= 100


def test_training_warns_if_the_file_system_has_no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", flock)
    lines: list[str] = []
    with told(lines.append), exclusive(tmp_path):
        pass
    assert len(lines) == 1
    assert "No locks available" in lines[0]
