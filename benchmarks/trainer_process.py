"""Runs trainers in separate processes that take turns. Each trainer runs for some updates and is then suspended
(SIGSTOP). In this way, all trainers are measured within the same minutes, but never at the same time. The time of the
start-up is not counted.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
from interleaved import cpu_seconds
from rlgpt.rl.step_counter import steps_in

SLICE = 512
"""Number of steps of one turn: one rollout of 64 steps in 8 environments and its update, which take one to two
seconds.
"""
WARM_UP = 4
"""Number of turns' steps before the first turn."""
POLL_SECONDS = 0.003
TIMEOUT_SECONDS = 900.0
"""Time limit, in seconds, for the first step of a trainer and for each further step."""


class TrainerProcess:
    """A trainer in a process (and its children), suspended except during its turn.

    :param script: the script of the trainer, which is run as ``SCRIPT NAME STEPS_FILE FOLDER SEED``.
    :param steps_file: the file that counts primitive steps, a path in ``folder``.
    :param steps: number of steps of one turn.
    :param warm_up: number of turns' steps before the first turn.
    """

    def __init__(
        self,
        script: Path,
        name: str,
        folder: Path,
        seed: int,
        *,
        steps_file: str = "steps.bin",
        steps: int = SLICE,
        warm_up: int = WARM_UP,
    ) -> None:
        self.name, self._log, self._slice, self._warm_up = name, folder / "log.txt", steps, warm_up
        self._steps_file = folder / steps_file
        self._newest, self._end = 0, time.monotonic() + TIMEOUT_SECONDS
        command = [sys.executable, str(script), name, str(self._steps_file), str(folder / "run"), str(seed)]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)

    def is_warm(self) -> bool:
        """Whether the trainer has taken the steps of its warm-up. If it has, the trainer is suspended."""
        warm = self._has_taken(self._warm_up * self._slice)
        if warm:
            self._signal("suspend")
        return warm

    def turn(self) -> tuple[float, float]:
        """Let the trainer run until its next slice of steps is over.

        :returns: the CPU seconds and the wall seconds per primitive step.
        """
        steps, cpu = steps_in(self._steps_file), self._cpu_seconds()
        self._end = time.monotonic() + TIMEOUT_SECONDS
        start = time.monotonic()
        self._signal("resume")
        self._run_until((steps // self._slice + 1) * self._slice)
        self._signal("suspend")
        wall = time.monotonic() - start
        done = steps_in(self._steps_file) - steps
        return (self._cpu_seconds() - cpu) / done, wall / done

    def close(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in self._tree():
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        self._process.wait()

    def _tree(self) -> list[psutil.Process]:
        parent = psutil.Process(self._process.pid)
        return [parent, *parent.children(recursive=True)]

    def _signal(self, method: str) -> None:
        tree = self._tree()
        for process in tree if method == "suspend" else reversed(tree):
            getattr(process, method)()
        while method == "suspend" and any(p.status() != psutil.STATUS_STOPPED for p in tree):
            time.sleep(POLL_SECONDS)

    def _cpu_seconds(self) -> float:
        return sum(cpu_seconds(process.pid) for process in self._tree())

    def _run_until(self, steps: int) -> None:
        while not self._has_taken(steps):
            time.sleep(POLL_SECONDS)

    def _has_taken(self, steps: int) -> bool:
        taken = steps_in(self._steps_file)
        if taken > self._newest:
            self._newest, self._end = taken, time.monotonic() + TIMEOUT_SECONDS
        if self._process.poll() is not None or time.monotonic() > self._end:
            raise SystemExit(f"{self.name} does not train; the end of its log:\n{self._log.read_text()[-3000:]}")
        return taken >= steps


@contextlib.contextmanager
def trainer_processes(
    script: Path, names: Sequence[str], folder: Path, seed: int, **more: Any
) -> Iterator[dict[str, TrainerProcess]]:
    """Start the trainers together, suspend each after its warm-up, and yield each trainer by its name. All trainers are
    ended at the end of the ``with`` block.

    :param more: further arguments of :class:`TrainerProcess`.
    """
    trainers: dict[str, TrainerProcess] = {}
    try:
        for name in names:
            own = folder / name
            own.mkdir(parents=True)
            trainers[name] = TrainerProcess(script, name, own, seed, **more)
        cold = list(trainers.values())
        while cold := [trainer for trainer in cold if not trainer.is_warm()]:
            time.sleep(POLL_SECONDS)
        yield trainers
    finally:
        for trainer in trainers.values():
            trainer.close()
