"""Measures the CPU time until an environment returns its first observation, for the first environment of a process and
for later environments in the same process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from reporting import commit, emit

TASKS = (
    "kitchen/kettle",
    "kitchen/sequence_a",
    "furniture/one_leg",
    "furniture/square_table",
    "mujoco_car/winding_road",
    "minecraft/harvest_log",
    "minecraft/obtain_diamond",
)

UNITS = {
    "first": "CPU seconds of a new process from its imports to its first observation, kernels in numba's cache",
    "again": "CPU seconds of making and resetting one more environment",
    "policy": "CPU seconds of making and resetting one more environment with the plugin's default setup",
}

START = """
import sys, time
from rlgpt.plugin.manager import PluginManager
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.policy_env import build

plugin, task = PluginManager().task(sys.argv[1])

def started(env, since):
    env.reset(seed=1)
    print(time.process_time() - since, flush=True)
    env.close()

started(plugin.make_env(task, seed=0), 0.0)
since = time.process_time()
started(plugin.make_env(task, seed=0), since)
spec = EnvSpec(task, plugin.default_setup(task), (), plugin.name)
build(spec, seed=0).close()
since = time.process_time()
started(build(spec, seed=0), since)
"""


def measure(*, quick: bool) -> None:
    now = commit()
    for task in TASKS[:1] if quick else TASKS:
        # The first process fills the caches.
        found = [_start(task) for _ in range(1 if quick else 4)][0 if quick else 1 :]
        for name, values in zip(UNITS, zip(*found, strict=True), strict=True):
            emit(f"overhead/start/{name}/{task}", round(float(np.median(values)), 4), UNITS[name], **_rows(values, now))
        print(f"start: {task} done", file=sys.stderr, flush=True)


def _rows(values: Sequence[float], now: str) -> dict[str, Any]:
    return {"rows": [{"cpu": round(v, 4), "commit": now} for v in values]}


def _start(task: str) -> list[float]:
    """Return the start times of :data:`UNITS`, measured in one new process."""
    command = [sys.executable, "-c", START, task]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"a new process could not start {task}: {result.stderr[-500:]}")
    return [float(json.loads(line)) for line in result.stdout.split()]
