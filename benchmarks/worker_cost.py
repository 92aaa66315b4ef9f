"""Measures the cost of an environment in another process, which is the additional time of a step, compared with a step
of the same environment in this process.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from interleaved import block_figures, block_order, cpu_seconds
from reporting import commit, emit
from rlgpt.envs import Recipe, WorkerEnv

BLOCK = 200
"""Number of steps in one block."""


class ConstantEnv(gymnasium.Env[Any, Any]):
    """An environment that always returns the same observation, so that only the communication takes time."""

    action_space = spaces.Box(-1, 1, (6,))

    def __init__(self, space: spaces.Space[Any]) -> None:
        self.observation_space = space
        space.seed(0)
        self.constant = space.sample()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self.constant, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.constant, 1.0, False, False, {"success": False}


def small() -> ConstantEnv:
    return ConstantEnv(spaces.Box(-10, 10, (17,), np.float64))


def image() -> ConstantEnv:
    return ConstantEnv(spaces.Box(0, 255, (3, 160, 256), np.uint8))


def nested() -> ConstantEnv:
    """Return the space of MineDojo's observations with voxels and lidar, which has 72 arrays of numbers and 9 arrays of
    text.
    """
    from voxeldojo.spaces import observation_space

    return ConstantEnv(observation_space(voxels=(3, 3, 3), rays=60))


MAKERS: dict[str, Callable[[], ConstantEnv]] = {"small": small, "image": image, "nested": nested}
OBSERVATIONS = {
    "small": "17 numbers",
    "image": "an image of 3 x 160 x 256 bytes",
    "nested": "MineDojo's dictionary with 3 x 3 x 3 voxels and 60 rays",
}
CLOCKS = {"cpu": "CPU microseconds, both processes", "here": "CPU microseconds, this process", "wall": "microseconds"}


def measure(*, quick: bool) -> None:
    repeats, blocks = (1, 4) if quick else (3, 100)
    now = commit()
    repeat_micros: dict[tuple[str, str], list[list[float]]] = {(name, clock): [] for name in MAKERS for clock in CLOCKS}
    for _ in range(repeats):
        for name in MAKERS:
            for clock, values in _repeat(name, blocks).items():
                repeat_micros[name, clock].append(values)
    print(f"worker: {repeats} repeats", file=sys.stderr, flush=True)
    for (name, clock), micros in repeat_micros.items():
        unit = f"{CLOCKS[clock]}, of a step over the plain one; {OBSERVATIONS[name]}"
        emit(f"overhead/worker/{name}/{clock}", unit=unit, **block_figures(micros, now, digits=1))


def _repeat(name: str, blocks: int) -> dict[str, list[float]]:
    """Return the additional microseconds of a step in the worker, compared with a step in this process, for each clock
    and each block.
    """
    worker = WorkerEnv(Recipe(factory=f"{Path(__file__).resolve()}:{name}", paths=(str(Path(__file__).parent),)))
    envs: dict[str, Any] = {"plain": MAKERS[name](), "worker": worker}
    clocks: dict[str, Callable[[], float]] = {
        "here": time.process_time,
        "wall": time.perf_counter,
        "there": partial(cpu_seconds, worker.pid),
    }
    action = np.zeros(6, np.float32)
    for env in envs.values():
        env.reset(seed=0)
        _play(env, action)
    micros: dict[str, list[float]] = {clock: [] for clock in CLOCKS}
    for number in range(blocks):
        times = {}
        for env in block_order(tuple(envs), number):
            before = {clock: read() for clock, read in clocks.items()}
            _play(envs[env], action)
            times[env] = {clock: 1e6 * (read() - before[clock]) / BLOCK for clock, read in clocks.items()}
        extra = {clock: times["worker"][clock] - times["plain"][clock] for clock in clocks}
        micros["cpu"].append(extra["here"] + extra["there"])
        micros["here"].append(extra["here"])
        micros["wall"].append(extra["wall"])
    worker.close()
    return micros


def _play(env: Any, action: Any) -> None:
    for _ in range(BLOCK):
        env.step(action)
