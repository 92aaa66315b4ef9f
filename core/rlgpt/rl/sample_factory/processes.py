"""Functions for the process group of a training, which make the environment variables of the processes and end all
processes.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Mapping
from io import FileIO
from pathlib import Path

import psutil

from rlgpt.secrets import without_secrets

_FOLLOWER = "follow-parent"
_THREADS = ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "VECLIB_MAXIMUM")
_CLEANERS = ("resource_tracker", "torch_shm_manager")


def child_environment(environment: Mapping[str, str], threads: int) -> dict[str, str]:
    """A copy of the variables in ``environment`` without the variables that look like secrets. The copy limits
    numerical libraries to ``threads`` threads.

    Numerical libraries read the limit of threads when they are imported, so the limit must be set before the child
    process starts. With torch's default number of threads, several processes that share few cores are four times
    slower.
    """
    return {**without_secrets(environment), **{f"{library}_NUM_THREADS": str(threads) for library in _THREADS}}


def die_with_parent(control: FileIO, stop: threading.Event, *, patience: float = 5.0) -> None:
    """Set the event ``stop`` when the parent process sends a message or has ended. If the parent process has ended,
    also kill this process group after ``patience`` seconds.

    :param control: a pipe from the parent process, which closes when the parent process has ended.
    """

    def follow() -> None:
        while control.read(1 << 10):
            stop.set()
        stop.set()
        time.sleep(patience)
        end_group(os.getpgrp())

    threading.Thread(target=follow, name=_FOLLOWER, daemon=True).start()


def die_when_orphaned(interval: float = 1.0) -> None:
    """End this process when its parent has ended. (A child gets no signal when SIGKILL ends its parent.)"""
    if any(thread.name == _FOLLOWER for thread in threading.enumerate()):
        return
    parent = os.getppid()

    def follow() -> None:
        while os.getppid() == parent:
            time.sleep(interval)
        os._exit(1)

    threading.Thread(target=follow, name=_FOLLOWER, daemon=True).start()


def members(group: int) -> list[psutil.Process]:
    """The living processes of a process group."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.Error):
            continue
    return found


def end_group(group: int, *, patience: float = 3.0) -> None:
    """Kill a process group. Processes that unlink semaphores are killed after all other processes of the group. If the
    calling process belongs to the group, it is killed last.

    The processes that unlink semaphores end by themselves after all other processes have ended, so ``end_group`` waits
    ``patience`` seconds for them. ``end_group`` itself unlinks torch's shared memory.
    """
    left = members(group)
    for pid in {group, *(p.pid for p in left)}:  # A leader that has already ended may have left shared memory.
        for file in Path("/dev/shm").glob(f"torch_{pid}_*"):
            file.unlink(missing_ok=True)
    others = [p for p in left if p.pid != os.getpid()]
    _kill([p for p in others if not _cleans(p)])
    psutil.wait_procs(others, timeout=patience)
    _kill(members(group))


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue


def _cleans(process: psutil.Process) -> bool:
    try:
        return any(name in part for part in process.cmdline() for name in _CLEANERS)
    except psutil.Error:
        return False


def tail(log: Path, start: int, lines: int = 40) -> str:
    """The part of the log file ``log`` that an error message shows. It is the first traceback after byte ``start``,
    because this traceback shows the cause. If there is no traceback, it is the end of the log.
    """
    try:
        with log.open("rb") as file:
            file.seek(start)
            text = file.read(4 << 20).decode(errors="replace")
    except OSError as fault:
        return f"(the log cannot be read: {fault})"
    rows = [re.sub(r"\x1b\[[0-9;]*m", "", row) for row in text.splitlines()]
    first = next((i for i, row in enumerate(rows) if row.startswith("Traceback (most recent call last)")), None)
    if first is None:
        return "\n".join(rows[-lines:]) or "(the log is empty)"
    last = next((i for i in range(first + 1, len(rows)) if rows[i][:1] not in ("", " ")), len(rows) - 1)
    cause = rows[first : last + 1]
    return "\n".join(cause if len(cause) <= lines else [cause[0], "  ...", *cause[2 - lines :]])


def main_module_of(pickled: bytes) -> dict[str, object]:
    """The data with which the child process finds objects in the parent's script; empty if ``pickled`` refers to no
    such object.
    """
    if b"__main__" not in pickled:
        return {}
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return {"init_main_from_name": spec.name}
    path = getattr(main, "__file__", None)
    return {} if path is None else {"init_main_from_path": os.path.abspath(path)}
