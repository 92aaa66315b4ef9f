"""Measures the memory of the Craftax simulator, and the time of its start, of its resets, and of its steps in one
environment and in batches.

    python benchmarks/craftax_steps.py           # takes 10 minutes, half a minute or more for each compilation
    python benchmarks/craftax_steps.py --quick   # a smoke test

All times are CPU times. In this benchmark, JAX uses one thread for each array operation. The script prints lines of
JSON.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from reporting import commit, emit
from rlgpt.plugin.manager import PluginManager
from rlgpt.testing import Stage

TASK = "craftax/symbolic"
BATCHES = (8, 64, 256)
START = f"""
import time
from rlgpt.plugin.manager import PluginManager
plugin, task = PluginManager().task({TASK!r})
env = plugin.make_env(task, seed=0)
env.reset(seed=0)
env.step(0)
print(time.process_time())
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="few steps: a smoke test, its figures mean nothing")
    quick = parser.parse_args().quick
    measure_start()
    measure_one(200 if quick else 3000)
    for size in BATCHES[:1] if quick else BATCHES:
        measure_batch(size, 20 if quick else 300)
    report("memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB, of the process at its largest")
    return 0


def report(name: str, value: float, unit: str) -> None:
    emit(f"craftax_steps/{name}", round(value, 1 if value < 100 else None), unit, commit=commit())


def measure_start() -> None:
    """Measure the start of a process that makes a Craftax environment, first without and then with compiled functions
    on disk.
    """
    import os

    with tempfile.TemporaryDirectory() as folder:
        for name in ("start_first", "start_again"):
            environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": folder}
            command = [sys.executable, "-c", START]
            said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            report(name, float(said.split()[-1]), "CPU seconds until the first step")


def measure_one(steps: int) -> None:
    """Measure the steps of one Craftax environment with random actions, its resets, and the computation of views from
    its observations.
    """
    plugin, task = PluginManager().task(TASK)
    with Stage(plugin, task, seed=0) as stage:
        rng, episode = np.random.default_rng(0), 0

        def step() -> None:
            nonlocal episode
            stage.step(np.int64(rng.integers(43)))
            if stage.over:
                episode += 1
                stage.reset(episode)

        stage.random(5)
        report("one", 1 / cpu(step, steps), "steps per CPU-second, resets among them")
        report("reset", 1000 * cpu(lambda: stage.reset(1), max(10, steps // 30)), "CPU milliseconds")
        report("view", 1e6 * cpu(lambda: plugin.view(stage.context), steps), "CPU microseconds")
        keys = plugin.default_setup(task).observation_keys
        alone = [key.name for key in plugin.view_keys(task) if key.alone and key.name in keys]

        def numbers() -> None:
            values = plugin.policy_view(stage.context)
            for key in alone:
                values[key]

        report("policy_view", 1e6 * cpu(numbers, steps), "CPU microseconds, keys of the default setup")
        report("save", 1000 * cpu(lambda: stage.env.unwrapped.save(), 20), "CPU milliseconds")


def measure_batch(size: int, steps: int) -> None:
    """Measure the steps of a batch of Craftax environments that one call steps together, without resets."""
    import jax
    from rlgpt_craftax.simulator import functions

    reset, step = functions()
    options = {"xla_cpu_multi_thread_eigen": False}
    keys, state, _ = jax.jit(jax.vmap(reset), compiler_options=options)(jax.random.split(jax.random.PRNGKey(0), size))
    moved: Callable[..., Any] = jax.jit(jax.vmap(step), compiler_options=options)
    rng = np.random.default_rng(0)
    keys, state, *_ = moved(keys, state, rng.integers(43, size=size))

    def once() -> None:
        nonlocal keys, state
        keys, state, seen, reward, over = moved(keys, state, rng.integers(43, size=size))
        np.asarray(seen), np.asarray(reward), np.asarray(over)

    report(f"batch_{size}", size / cpu(once, steps), "steps per CPU-second, no resets")


def cpu(call: Callable[[], Any], times: int) -> float:
    """Return the CPU seconds of one call of the function ``call``."""
    began = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - began) / times


if __name__ == "__main__":
    sys.exit(main())
