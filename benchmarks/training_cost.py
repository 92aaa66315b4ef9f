"""Training throughput of each trainer over plain Sample Factory's, all on the kitchen with recorded actions.

The trainers run side by side but never at once: each in turn is let go for some updates' worth of steps and halted
again (SIGSTOP), so that all meet the machine in the same minutes. Start-up is not counted.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
from cells import commit, emit
from ratios import figures, turns
from rlgpt.rl.step_counter import StepCounter

REFERENCE = "plain_sample_factory"
NAMES = ("sample_factory", REFERENCE, "ppo", "stable_baselines3")
UNITS = {
    "sample_factory": "rlgpt's Sample Factory",
    "ppo": "rlgpt's built-in PPO",
    "stable_baselines3": "Stable-Baselines3's PPO on the flat view",
}
GOALS = {"sample_factory": 0.97}

SLICE = 512
"""Steps of one turn: four rollouts and their updates, one to two seconds."""

WARM_UP = 4 * SLICE
POLL = 0.003
PATIENCE = 300.0
"""Seconds that a trainer may take for its first steps, or for a slice."""


class Contestant:
    """A trainer in a process (and its children), halted but when it is its turn."""

    def __init__(self, name: str, folder: Path, seed: int) -> None:
        self.name, self._log = name, folder / "log.txt"
        ledger = folder / "steps.bin"
        self.ledger = StepCounter(ledger, 1)
        script = Path(__file__).with_name("contestants.py")
        command = [sys.executable, str(script), name, str(ledger), str(folder / "run"), str(seed)]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)

    def warm_up(self) -> None:
        self._until(WARM_UP)
        self._signal("suspend")

    def turn(self) -> tuple[float, float]:
        """Let it go for about :data:`SLICE` steps: its CPU seconds and wall seconds a step."""
        steps, cpu = self.ledger.total, self._cpu()
        began = time.monotonic()
        self._signal("resume")
        self._until((steps // SLICE + 1) * SLICE)
        self._signal("suspend")
        wall = time.monotonic() - began
        done = self.ledger.total - steps
        return (self._cpu() - cpu) / done, wall / done

    def close(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in self._tree():
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        self._process.wait()
        self.ledger.__exit__(None, None, None)

    def _tree(self) -> list[psutil.Process]:
        parent = psutil.Process(self._process.pid)
        return [parent, *parent.children(recursive=True)]

    def _signal(self, word: str) -> None:
        tree = self._tree()
        for process in tree if word == "suspend" else reversed(tree):
            getattr(process, word)()
        while word == "suspend" and any(p.status() != psutil.STATUS_STOPPED for p in tree):
            time.sleep(POLL)

    def _cpu(self) -> float:
        """CPU seconds of all its processes, to the nanosecond (the clock's number: clock_getcpuclockid(3))."""
        return sum(time.clock_gettime((~process.pid << 3) | 2) for process in self._tree())

    def _until(self, steps: int) -> None:
        end = time.monotonic() + PATIENCE
        while self.ledger.total < steps:
            if self._process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"{self.name} does not train; the end of its log:\n{self._log.read_text()[-3000:]}")
            time.sleep(POLL)


@contextlib.contextmanager
def contest(names: Sequence[str], folder: Path, seed: int) -> Iterator[list[Contestant]]:
    """The contestants, warmed up and halted; none is left behind."""
    made: list[Contestant] = []
    try:
        for name in names:
            own = folder / name
            own.mkdir(parents=True)
            made.append(Contestant(name, own, seed))
            made[-1].warm_up()
        yield made
    finally:
        for contestant in made:
            contestant.close()


def measure(*, quick: bool) -> None:
    repeats, slices = (1, 1) if quick else (3, 20)
    now = commit()
    spent: dict[str, list[list[tuple[float, float]]]] = {name: [] for name in NAMES}
    for seed in range(repeats):
        with tempfile.TemporaryDirectory() as folder, contest(NAMES, Path(folder), seed) as made:
            by_name = {c.name: c for c in made}
            for found in spent.values():
                found.append([])
            for number in range(slices):
                for name in turns(NAMES, number):
                    spent[name][-1].append(by_name[name].turn())
        print(f"training: repeat {seed + 1} of {repeats}", file=sys.stderr, flush=True)
    for name in NAMES:
        rates = [[1 / cpu for cpu, _ in found] for found in spent[name]]
        emit(f"overhead/training/{name}/rate", unit="primitive steps per CPU-second", **figures(rates, now, digits=1))
    for name, words in UNITS.items():
        pairs = [list(zip(a, b, strict=True)) for a, b in zip(spent[REFERENCE], spent[name], strict=True)]
        for i, kind in enumerate(("cpu", "wall")):
            ratios = [[plain[i] / own[i] for plain, own in found] for found in pairs]
            unit = f"{words}, steps per {kind} second / plain Sample Factory's"
            goal = GOALS.get(name) if kind == "cpu" else None
            emit(f"overhead/training/{name}/{kind}", unit=unit, goal=goal, **figures(ratios, now))
