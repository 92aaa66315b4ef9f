"""Stops and resumes runs, and knows which of them a process of this machine works on."""

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
    """The inodes of all files that a process of this machine has locked (as Linux lists them)."""
    try:
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return set()
    # "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF"
    fields = [line.split() for line in lines]
    return {int(f[5].rpartition(":")[2]) for f in fields if len(f) > 5 and f[1] == "FLOCK" and f[2] == "ADVISORY"}


class Processes:
    """The processes that the page has started. They go on when the page ends."""

    def __init__(self) -> None:
        self._started: dict[Path, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}

    def close(self) -> None:
        """Close the outputs. The processes go on."""
        for _, output in self._started.values():
            output.close()

    def resume(self, run: Run) -> None:
        """Start ``rlgpt resume`` for the run.

        :raises ConfigError: another user made the run, or its ``run.json`` was changed; or the run is finished or runs.
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
        """Ask the run to stop, as an interrupt does. Its process notices that at its next steps.

        :raises ConfigError: the run does not run.
        """
        if run.record.status != "running":
            raise ConfigError(f"{run.folder} does not run: its status is {run.record.status}.")
        run.request_stop()

    def output(self, folder: Path) -> str:
        """The end of what the process that resumed the run has printed; empty if the page started none."""
        if folder not in self._started:
            return ""
        process, file = self._started[folder]
        process.poll()  # So that an ended process leaves no entry in the table of processes.
        size = os.fstat(file.fileno()).st_size
        return str(plain(os.pread(file.fileno(), _TAIL, max(0, size - _TAIL)).decode(errors="replace")))
