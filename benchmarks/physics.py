"""Measures the time of ``env.step`` divided by the time of MuJoCo's ``mj_step`` with the same controls.

    python benchmarks/physics.py               # a few minutes
    python benchmarks/physics.py --quick       # a smoke test, seconds

For each task, the script plays an episode with random actions and records the controls. Then the episode is played
twice more, in blocks of 20 steps: by ``env.step`` with the same actions, and in separate simulation data (``MjData``),
by ``mj_step`` with the recorded controls. The script compares the positions (``qpos``) of the two simulations after
each block, and prints lines of JSON.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")})

import numpy as np
from interleaved import block_figures
from reporting import commit, emit
from rlgpt.plugin.manager import PluginManager

GOALS = {"mujoco_car": 1.08, "furniture": 1.10}
BLOCK = 20


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="few blocks: a smoke test, its figures mean nothing")
    parser.add_argument("--tasks", nargs="+", help="default: every task of the car and of the furniture")
    arguments = parser.parse_args()
    known = PluginManager().tasks()
    measurable = [t for t in known if t.split("/")[0] in GOALS]
    for name in arguments.tasks or ():
        if name not in measurable:
            parser.error(f"--tasks: {name!r} is unknown; valid: {', '.join(measurable)}")
    for name in arguments.tasks or measurable:
        measure(name, quick=arguments.quick)
    return 0


def measure(name: str, *, quick: bool) -> None:
    plugin, task = PluginManager().task(name)
    repeats, episodes, length = (1, 1, 40) if quick else (3, 4, 200)
    now, ratios, micros = commit(), [], []
    for repeat in range(repeats):
        env = plugin.make_env(task, seed=0)
        blocks = [b for e in range(episodes) for b in _episode(env, repeat * episodes + e, length)]
        env.close()
        if not blocks:
            raise SystemExit(f"{name}: no episode lasted {BLOCK} steps, so there is nothing to compare.")
        ratios.append([step / raw for step, raw in blocks])
        micros += [1e6 * step / BLOCK for step, _ in blocks]
        print(f"{name}: repeat {repeat + 1} of {repeats}", file=sys.stderr, flush=True)
    rate = 1e6 / float(np.median(micros))
    emit(f"physics/{name}/rate", round(rate), "env steps per CPU-second", commit=now)
    goal = GOALS[plugin.name]
    emit(f"physics/{name}", unit="CPU time of env.step / mj_step", goal=goal, **block_figures(ratios, now))


def _episode(env: Any, seed: int, length: int) -> list[tuple[float, float]]:
    """Return the CPU seconds of ``env.step``, and of ``mj_step`` alone, in each block of one episode."""
    import mujoco

    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    model, raw = env.model, mujoco.MjData(env.model)
    start_state = _state(env.model, env.data)
    actions, controls = [], []
    for _ in range(length):
        action = rng.uniform(-1, 1, env.action_space.shape)
        over = env.step(action)
        actions.append(action)
        controls.append(env.data.ctrl.copy())
        if over[2] or over[3]:
            break
    env.reset(seed=seed)
    model = env.model
    mujoco.mj_setState(model, raw, start_state, mujoco.mjtState.mjSTATE_INTEGRATION)
    mujoco.mj_forward(model, raw)
    substeps = env.substeps
    seconds = []
    for number, start in enumerate(range(0, len(actions) - BLOCK + 1, BLOCK)):
        block = range(start, start + BLOCK)
        spent = {}
        for kind in ("env", "raw") if number % 2 else ("raw", "env"):
            before = time.process_time()
            if kind == "env":
                for i in block:
                    env.step(actions[i])
            else:
                for i in block:
                    raw.ctrl[:] = controls[i]
                    mujoco.mj_step(model, raw, nstep=substeps)
            spent[kind] = time.process_time() - before
        if not np.array_equal(env.data.qpos, raw.qpos):
            raise AssertionError(f"{env}: the replay is in another state, so its time cannot be compared")
        seconds.append((spent["env"], spent["raw"]))
    return seconds


def _state(model: Any, data: Any) -> Any:
    import mujoco

    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    flat = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, flat, kind)
    return flat


if __name__ == "__main__":
    sys.exit(main())
