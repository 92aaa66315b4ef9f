"""The child process in which a training with Sample Factory runs. Only :mod:`rlgpt.rl.sample_factory.supervisor` starts
the child process.

The parent writes the job to the child's standard input, and later a line if the child must stop. The end of the child's
standard input means that the parent process has ended. The child answers with JSON lines on a separate pipe; its
standard output goes to the log.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import struct
import sys
import threading
import traceback
from io import FileIO
from multiprocessing import spawn
from typing import Any, TextIO

from rlgpt.errors import RlgptError, TrainerError
from rlgpt.rl.sample_factory.job import Job
from rlgpt.rl.sample_factory.processes import die_with_parent


def main() -> None:
    """Train. After a failure, the process ends without a clean-up, because processes that clean up would wait for each
    other. The parent process ends the process group of the training.
    """
    stop = threading.Event()
    events = os.fdopen(int(sys.argv[1]), "w", buffering=1)
    os.set_inheritable(events.fileno(), False)
    control = open(0, "rb", buffering=0, closefd=False)  # noqa: SIM115 - The file stays open until the process ends.
    prepared, pickled = _receive(control)
    die_with_parent(control, stop)
    try:
        _prepare(prepared)
        _train(pickle.loads(pickled), stop, events)
        status = 0
    except RlgptError as fault:
        traceback.print_exc()
        kind = "TrainerError" if isinstance(fault, TrainerError) else "ConfigError"
        _send(events, error=str(fault), kind=kind)
        status = 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    if status:
        os._exit(status)


def _receive(control: FileIO) -> tuple[dict[str, Any], bytes]:
    head, size = struct.unpack("<QQ", _exactly(control, 16))
    prepared: dict[str, Any] = json.loads(_exactly(control, head))
    return prepared, _exactly(control, size)


def _exactly(control: FileIO, count: int) -> bytes:
    data = b""
    while len(data) < count:
        chunk = control.read(count - len(data))
        if not chunk:
            raise EOFError("the parent process has ended")
        data += chunk
    return data


def _prepare(prepared: dict[str, Any]) -> None:
    """Prepare imports as ``multiprocessing`` does for spawned processes. After ``_prepare``, the pickle of the job can
    refer to all modules of the parent process and to objects in the parent's script.
    """
    process: Any = multiprocessing.current_process()
    process._inheriting = True
    try:
        spawn.prepare(prepared)
    finally:
        del process._inheriting


def _train(job: Job, stop: threading.Event, events: TextIO) -> None:
    from rlgpt.rl.sample_factory.session import run

    run(job, stop, lambda message: _send(events, **message))
    _send(events, done=True)


def _send(events: TextIO, **message: Any) -> None:
    try:
        events.write(json.dumps(message) + "\n")
        events.flush()
    except BrokenPipeError:
        return  # The parent process has ended, so this process ends too.


if __name__ == "__main__":
    main()
