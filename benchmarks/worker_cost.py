"""What it costs that an environment is played by another process: microseconds of a step over the plain one's."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from cells import commit, emit
from gymnasium import spaces
from ratios import figures, turns
from rlgpt.envs import Recipe, WorkerEnv

BLOCK = 200
"""Steps of one block."""


class Still(gymnasium.Env[Any, Any]):
    """Gives the same observation again and again: what is left is the way there and back."""

    action_space = spaces.Box(-1, 1, (6,))

    def __init__(self, space: spaces.Space[Any]) -> None:
        self.observation_space = space
        space.seed(0)
        self.seen = space.sample()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self.seen, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.seen, 1.0, False, False, {"success": False}


def small() -> Still:
    return Still(spaces.Box(-10, 10, (17,), np.float64))


def image() -> Still:
    return Still(spaces.Box(0, 255, (3, 160, 256), np.uint8))


def nested() -> Still:
    """MineDojo's dictionary with voxels and lidar: 72 arrays of numbers and 9 of text."""
    from rlgpt_minecraft.spaces import observation_space

    return Still(observation_space(voxels=(3, 3, 3), rays=60))


MAKERS: dict[str, Callable[[], Still]] = {"small": small, "image": image, "nested": nested}
SEEN = {
    "small": "17 numbers",
    "image": "an image of 3 x 160 x 256 bytes",
    "nested": "MineDojo's dictionary with 3 x 3 x 3 voxels and 60 rays",
}
CLOCKS = {"cpu": "CPU microseconds, both processes", "here": "CPU microseconds, this process", "wall": "microseconds"}


def measure(*, quick: bool) -> None:
    repeats, blocks = (1, 4) if quick else (3, 100)
    now = commit()
    found = {(name, clock): [] for name in MAKERS for clock in CLOCKS}
    for _ in range(repeats):
        for name in MAKERS:
            for clock, micros in _repeat(name, blocks).items():
                found[name, clock].append(micros)
    print(f"worker: {repeats} repeats", file=sys.stderr, flush=True)
    for (name, clock), micros in found.items():
        unit = f"{CLOCKS[clock]}, of a step over the plain one; {SEEN[name]}"
        emit(f"overhead/worker/{name}/{clock}", unit=unit, **figures(micros, now, digits=1))


def _repeat(name: str, blocks: int) -> dict[str, list[float]]:
    """Microseconds of a step over the plain one's, block by block, by each clock."""
    worker = WorkerEnv(Recipe(factory=f"{Path(__file__).resolve()}:{name}", paths=(str(Path(__file__).parent),)))
    envs: dict[str, Any] = {"plain": MAKERS[name](), "worker": worker}
    clocks = {"here": time.process_time, "wall": time.perf_counter, "there": partial(process_clock, worker.pid)}
    action = np.zeros(6, np.float32)
    for env in envs.values():
        env.reset(seed=0)
        _play(env, action)
    found: dict[str, list[float]] = {clock: [] for clock in CLOCKS}
    for number in range(blocks):
        spent = {}
        for who in turns(tuple(envs), number):
            before = {clock: read() for clock, read in clocks.items()}
            _play(envs[who], action)
            spent[who] = {clock: 1e6 * (read() - before[clock]) / BLOCK for clock, read in clocks.items()}
        more = {clock: spent["worker"][clock] - spent["plain"][clock] for clock in clocks}
        for clock, value in {"cpu": more["here"] + more["there"], "here": more["here"], "wall": more["wall"]}.items():
            found[clock].append(value)
    worker.close()
    return found


def _play(env: Any, action: Any) -> None:
    for _ in range(BLOCK):
        env.step(action)


def process_clock(pid: int) -> float:
    """Seconds of CPU time that another process has taken: its clock by Linux's numbering (``clock_getcpuclockid``)."""
    return time.clock_gettime((~pid << 3) | 2)
