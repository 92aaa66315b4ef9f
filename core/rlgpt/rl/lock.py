"""A lock on a training's folder. Only one training at a time uses a folder, so each count in the folder's step file has
one writer.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any

import psutil

from rlgpt.errors import TrainerError, TrainingFolderError
from rlgpt.files import Folder

log = logging.getLogger(__name__)

LOCK = "lock"

PATIENCE = 15.0
"""Time that a training waits for the lock, in seconds. The workers of a killed training usually end by
themselves within this time.
"""

_INTERVAL = 0.1


@contextmanager
def exclusive(folder: Path, *, patience: float | None = None) -> Iterator[int]:
    """Hold the lock of ``folder`` in a ``with`` block, which gets the file descriptor of the lock.

    A child process that gets a copy of the lock's file descriptor holds the lock too. The operating system frees the
    lock when the last process with a copy of its file descriptor ends. If a training is killed while a worker process
    is in the middle of a decision, the worker holds the lock until it has counted its last step. (The package filelock
    is not used, because it does not give its file descriptor to other processes.)

    :param patience: maximal number of seconds to wait for the lock. If ``patience`` is None, :data:`PATIENCE` is used.
    :raises TrainerError: other processes hold the lock for longer than ``patience``. The message of the error names the
        processes that hold the lock.
    """
    descriptor = _acquired(folder / LOCK, PATIENCE if patience is None else patience)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class Shared:
    """Passes a copy of a file descriptor to a spawned process. The children of this process do not inherit the copy of
    the file descriptor.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (DupFd(self.descriptor),)


def _received(copy: Any) -> Shared:
    descriptor: int = copy.detach()
    os.set_inheritable(descriptor, False)
    return Shared(descriptor)


def _acquired(path: Path, patience: float) -> int:
    deadline, logged = time.monotonic() + patience, False
    while (descriptor := _tried(path)) is None:
        if time.monotonic() >= deadline:
            raise TrainerError(
                f"another training, or a worker process of a killed training, still runs in {path.parent} "
                f"({_holders(path)}). Wait until the process ends, end it, or train in another folder."
            )
        if not logged:
            log.warning("%s is in use (%s); waiting up to %g s for its end", path.parent, _holders(path), patience)
            logged = True
        time.sleep(_INTERVAL)
    return descriptor


def _tried(path: Path) -> int | None:
    """Try to take the lock on a training's folder once. Returns a file descriptor that holds the lock, or None. A
    failed try to take the lock keeps no file descriptor open, because an open copy would hold the lock.
    """
    with Folder(path.parent, TrainingFolderError).open_in_place(path.name) as file:
        descriptor = os.dup(file.fileno())
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError as fault:  # Locks do not exist on all network file systems.
        log.warning("%s cannot be locked (%s); make sure that no other training uses it", path.parent, fault)
    return descriptor


def _holders(path: Path) -> str:
    """The processes that hold the lock, without the processes whose parent process also holds it."""
    where, parents = os.path.realpath(path), {}
    for process in psutil.process_iter():
        try:
            if any(file.path == where for file in process.open_files()):
                parents[process.pid] = process.ppid()
        except (psutil.Error, OSError):
            continue
    heads = [str(pid) for pid, parent in parents.items() if parent not in parents]
    if not heads:
        return "by a process of another user, container or machine, which this process cannot see"
    return f"process {', '.join(heads)}"
