"""Supervises a training with Sample Factory from the parent process. The supervisor starts the child, reads the child's
messages, and ends the child's process group when the training crashes, hangs or finishes.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import selectors
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import IO, Any

from rlgpt.domain import CurvePoint
from rlgpt.errors import ConfigError, TrainerError, TrainingFolderError
from rlgpt.files import Folder
from rlgpt.rl.base import Progress
from rlgpt.rl.sample_factory.job import LOG, Job
from rlgpt.rl.sample_factory.processes import child_environment, end_group, main_module_of, tail
from rlgpt.rl.sample_factory.shared_status import ITERATIONS, LEARNER, SAVED, SharedStatus, stall

_POLL = 0.1
_FAREWELL = 5.0
"""Time after which the processes of a finished training are ended, if they have not ended by themselves, in seconds."""
_PAUSE = 5.0
"""Maximal time between two checks, in seconds. If more time passes, this process was suspended, for example together
with the machine.
"""


def supervise(job: Job, shared_status: SharedStatus, lock: int, progress: Progress) -> None:
    """Run a training in a child process and wait for the end of the child.

    The child process is the leader of a process group. When the training ends, the whole process group is ended in
    every case, so that no simulator and no learner continues to run.

    :param lock: file descriptor of the lock on the training's folder. The child process holds the lock on the folder,
        too.
    :param progress: a function that gets each point of the learning curve. If the function ``progress`` returns True,
        the training stops.
    :raises TrainerError: the child process crashed or hung; the message contains the end of its log.
    :raises ConfigError: the child process reported that the job's settings are not valid.
    """
    payload = _payload(job)
    log = job.folder / LOG
    with Folder(job.folder, TrainingFolderError).open_in_place(LOG, append=True) as output:
        start = output.seek(0, os.SEEK_END)
        receiver, sender = os.pipe()
        child = subprocess.Popen(
            [sys.executable, "-m", "rlgpt.rl.sample_factory.child", str(sender)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            pass_fds=(sender, lock),
            start_new_session=True,
            env=child_environment(os.environ, job.settings.threads),
        )
    os.close(sender)
    try:
        _send_job(child, payload)
        _ChildMonitor(job, shared_status, child, progress, receiver).follow()
    except _ChildError as fault:
        raise TrainerError(f"Sample Factory {fault}. The end of {log}:\n{tail(log, start)}") from None
    finally:
        end_group(child.pid)
        child.wait()
        os.close(receiver)
        with contextlib.suppress(BrokenPipeError):
            _control(child).close()


class _ChildError(Exception):
    """The child process failed. The text of the error continues a sentence that begins with "Sample Factory"."""


class _ChildMonitor:
    def __init__(
        self, job: Job, shared_status: SharedStatus, child: subprocess.Popen[bytes], progress: Progress, receiver: int
    ) -> None:
        self._settings, self._shared_status, self._child, self._progress = job.settings, shared_status, child, progress
        self._receiver, self._began = receiver, time.monotonic()
        self._pending = b""
        self._done = self._closing = False
        self._done_at = 0.0
        self._last_look = self._judging_from = self._began

    def follow(self) -> None:
        """Wait until the training in the child process is done."""
        os.set_blocking(self._receiver, False)
        with selectors.DefaultSelector() as selector:
            selector.register(self._receiver, selectors.EVENT_READ)
            while True:
                selector.select(_POLL)
                status = self._child.poll()
                for message in self._messages():
                    self._handle(message)
                if self._done and (status is not None or time.monotonic() - self._done_at > _FAREWELL):
                    return
                if self._done:
                    continue
                if status is not None:
                    raise _ChildError(
                        f"ended by signal {-status}" if status < 0 else f"failed with exit status {status}"
                    )
                self._judge()

    def _judge(self) -> None:
        if self._was_paused():  # The heartbeats are old because all processes were suspended, not because one hangs.
            self._judging_from = self._last_look + self._settings.heartbeat_timeout
        if self._last_look < self._judging_from:
            return
        started = self._shared_status.get(LEARNER, ITERATIONS) > 0
        if not started and time.monotonic() - self._began < self._settings.startup_grace:
            return
        found = stall(
            self._shared_status,
            now=time.monotonic_ns(),
            timeout=self._settings.heartbeat_timeout,
            serial=self._settings.mode == "serial",
        )
        if found is None:
            return
        if self._closing and self._shared_status.get(LEARNER, SAVED):
            self._end()  # The training is saved, but its processes do not end by themselves.
            return
        if not started:
            grace = self._settings.startup_grace
            found = f"{found}, and no update came within {grace:g} s. On a busy machine raise startup_grace"
        raise _ChildError(
            f"hung: {found}. If a primitive step or a reset normally takes that long, raise heartbeat_timeout"
        )

    def _was_paused(self) -> bool:
        """Whether this process was suspended since the last check, for example together with the machine."""
        before, self._last_look = self._last_look, time.monotonic()
        return self._last_look - before > _PAUSE

    def _messages(self) -> Iterator[dict[str, Any]]:
        try:
            while chunk := os.read(self._receiver, 1 << 16):
                self._pending += chunk
        except BlockingIOError:
            pass
        *lines, self._pending = self._pending.split(b"\n")
        yield from map(json.loads, lines)

    def _handle(self, message: dict[str, Any]) -> None:
        if "point" in message and self._progress(CurvePoint.model_validate(message["point"])):
            _say_stop(self._child)
        if "error" in message:
            raise (TrainerError if message["kind"] == "TrainerError" else ConfigError)(message["error"])
        self._closing = self._closing or "closing" in message
        if "done" in message:
            self._end()

    def _end(self) -> None:
        self._done, self._done_at = True, time.monotonic()


def _payload(job: Job) -> bytes:
    try:
        pickled = pickle.dumps(job)
    except Exception as fault:
        raise TrainerError(
            f"the environment's recipe cannot be pickled ({fault}), so no worker process can use it. Make its factory "
            "a function at the top level of a module, not a lambda or a local function."
        ) from fault
    prepared = json.dumps({"sys_path": sys.path, **main_module_of(pickled)}).encode()
    return struct.pack("<QQ", len(prepared), len(pickled)) + prepared + pickled


def _send_job(child: subprocess.Popen[bytes], payload: bytes) -> None:
    control = _control(child)
    try:
        control.write(payload)
        control.flush()
    except BrokenPipeError:
        raise _ChildError("ended before it received the job") from None


def _say_stop(child: subprocess.Popen[bytes]) -> None:
    control = _control(child)
    with contextlib.suppress(BrokenPipeError):  # The child has already ended; the next check reports the exit status.
        control.write(b"stop\n")
        control.flush()


def _control(child: subprocess.Popen[bytes]) -> IO[bytes]:
    assert child.stdin is not None
    return child.stdin
