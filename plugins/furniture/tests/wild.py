"""Plays a million random actions and checks that the simulation is finite and bounded and gives no warnings.

    python plugins/furniture/tests/wild.py wild.jsonl              # a million steps, most of an hour on two cores
    python plugins/furniture/tests/wild.py wild.jsonl 10000        # 10,000

Every combination of furniture, joints and control gets an equal share of the steps. A share with a result in the file
is not played again.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from rlgpt_furniture.env import FurnitureTask
from rlgpt_furniture.tasks import make_tasks

KINDS, JOINTS, CONTROLS = ("one_leg", "square_table", "desk", "lamp"), ("peg", "connector"), ("hand", "joints")

LIMITS = {"arm": 50.0, "part": 20.0, "spin": 500.0}
"""The largest valid speeds: joints of the arm (rad/s, fingers m/s), parts (m/s) and their rotation (rad/s).

A leg of 3 cm width that the arm hits at 2 m/s turns at 130 rad/s. An unstable simulation exceeds these limits within
one step.
"""


def play(kind: str, joints: str, control: str, steps: int) -> dict[str, float]:
    """Play ``steps`` random actions, with a reset every 200 steps. Each action is held for one to ten steps, so that
    the arm moves far.

    :returns: the largest speed of each kind of :data:`LIMITS`, and the number of joints made.
    :raises AssertionError: an observation is not finite, the simulator warns, or a speed exceeds its limit.
    """
    task = make_tasks()[f"furniture/{kind}_high"]
    task = task.model_copy(update={"settings": {**task.settings, "joints": joints, "control": control}})
    env = FurnitureTask(task, seed=0)
    free = env.model.jnt_dofadr[env.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
    dofs = {"part": free[:, None] + np.arange(3), "spin": free[:, None] + np.arange(3, 6)}
    dofs["arm"] = np.setdiff1d(np.arange(env.model.nv), [*dofs["part"].flat, *dofs["spin"].flat])
    rng = np.random.default_rng(0)
    fastest, made, over, held = dict.fromkeys(LIMITS, 0.0), 0, True, 0
    for step in range(steps):
        if over or step % 200 == 0:
            env.reset(seed=step)
        if held == 0:
            action, held = rng.uniform(-1, 1, 8), int(rng.integers(1, 11))
        observation, reward, over, _, _ = env.step(action)
        held, made = held - 1, made + int(reward)
        where = (kind, joints, control, step)
        assert all(np.isfinite(v).all() for v in observation.values()), where
        assert not env.data.warning.number.any(), (*where, env.data.warning.number)
        fastest = {k: max(v, float(np.abs(env.data.qvel[dofs[k]]).max())) for k, v in fastest.items()}
        assert all(v < LIMITS[k] for k, v in fastest.items()), (*where, fastest)
    return {**{k: round(v, 1) for k, v in fastest.items()}, "made": made}


def play_share(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments and results of ``play``, with its CPU time in seconds."""
    start = time.process_time()
    return {**arguments, **play(**arguments), "seconds": round(time.process_time() - start)}


def main(file: Path, steps: int) -> None:
    known = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    every = list(product(KINDS, JOINTS, CONTROLS))
    shares = [{"kind": k, "joints": j, "control": c, "steps": steps // len(every)} for k, j, c in every]
    missing = [share for share in shares if not any(share.items() <= line.items() for line in known)]
    with Pool() as pool:
        for number, result in enumerate(pool.imap_unordered(play_share, missing), 1):
            with file.open("a") as out:
                out.write(json.dumps(result) + "\n")
            print(f"{number} of {len(missing)}: {result}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
