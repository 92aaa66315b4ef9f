"""Stops and resumes runs, and finds the runs that a process of this machine is executing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

from rlgpt.errors import ConfigError
from rlgpt.runs import Run
from rlgpt.view.plain import plain

_TAIL = 4_000


def locked_inodes() -> set[int]:
    """The inodes of all files that processes of this machine have locked, as Linux lists them."""
    try:
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return set()
    # "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF"
    fields = [line.split() for line in lines]
    return {int(f[5].rpartition(":")[2]) for f in fields if len(f) > 5 and f[1] == "FLOCK" and f[2] == "ADVISORY"}


class Processes:
    """The processes that the page has started. A process that the page has started continues after the
    page's own process has ended.
    """

    def __init__(self) -> None:
        self._started: dict[Path, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}

    def close(self) -> None:
        """Close the output files of the processes. The processes continue."""
        for _, output in self._started.values():
            output.close()

    def resume(self, run: Run) -> None:
        """Start a process ``rlgpt resume`` that resumes a run.

        :raises ConfigError: another user made the run, its ``run.json`` was changed, or a process that the page started
            is resuming the run already.
        """
        if not run.own:
            raise ConfigError(
                f"{run.folder} was made elsewhere, or its run.json was changed. Its settings need your approval: use "
                "rlgpt resume on the command line, which lists them."
            )
        process = self._started.get(run.folder)
        if process is not None and process[0].poll() is None:
            raise ConfigError(f"{run.folder} is being resumed already.")
        output = tempfile.TemporaryFile()  # noqa: SIM115 - the process writes to it while the page runs
        command = [sys.executable, "-m", "rlgpt", "resume", str(run.folder)]
        devnull = subprocess.DEVNULL
        started = subprocess.Popen(
            command, stdin=devnull, stdout=output, stderr=output, cwd=os.getcwd(), start_new_session=True
        )
        if process is not None:
            process[1].close()
        self._started[run.folder] = (started, output)

    def stop(self, run: Run) -> None:
        """Ask a run to stop, by a file in the run's folder. The process of the run finds the file with the request to
        stop at its next steps.

        :raises ConfigError: the status in the run's record is not ``running``.
        """
        if run.record.status != "running":
            raise ConfigError(f"{run.folder} does not run: its status is {run.record.status}.")
        run.request_stop()

    def output(self, folder: Path) -> str:
        """The last part of the output of the process that resumed the run; empty if the page did not resume the run."""
        if folder not in self._started:
            return ""
        process, file = self._started[folder]
        process.poll()  # This removes an ended process from the process table of the system.
        size = os.fstat(file.fileno()).st_size
        return str(plain(os.pread(file.fileno(), _TAIL, max(0, size - _TAIL)).decode(errors="replace")))
