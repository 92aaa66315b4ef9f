"""Measures Sample Factory and the built-in PPO with lanes and with single environments, at 1 and 2 workers.

    python benchmarks/lane_trainers.py                 # the voxel worlds, then Craftax; can be interrupted and resumed
    python benchmarks/lane_trainers.py --parts voxels

All trainers of a part take turns of one rollout (see ``trainer_process.py``), with the same hyperparameters. A trainer
with 1 worker plays its environments in the process that learns; a trainer with 2 workers plays them in two other
processes. The voxel worlds have the default setup without coded actions; Craftax has the six coded actions of
``lanes.py``.

Each turn of all trainers of a part is one line of ``results/lane_trainers.jsonl``. A measurement that was interrupted
continues after the turns that are stored for its commit, and prints the figures over all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")})

from interleaved import block_order, bootstrap_median
from lanes import ACTIONS, LANES
from reporting import commit, emit, line
from rlgpt.domain import Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.manager import PluginManager
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.step_counter import STEPS_FILE
from trainer_process import trainer_processes

RESULTS = Path(__file__).with_name("results") / "lane_trainers.jsonl"
TASKS = {"voxels": "minecraft/harvest_log", "craftax": "craftax/symbolic"}
SETTINGS = Hyperparameters(num_envs=LANES, num_steps=16, minibatch_size=256, update_epochs=4)
SLICE = SETTINGS.num_envs * SETTINGS.num_steps
TURNS = {"voxels": 13, "craftax": 8}
"""Number of turns. In the voxel worlds, 13 turns contain one reset of each environment, because an episode has 200
steps.
"""
NAMES = {
    "voxels": ("ppo-1-lanes", "sf-1-lanes", "sf-1-single", "sf-2-lanes", "sf-2-single", "ppo-2-lanes", "ppo-2-single"),
    "craftax": ("ppo-1-lanes", "sf-1-lanes", "sf-1-single"),
}
UNIT = "primitive steps per CPU-second, all processes, resets included, start-up not included"


def without_lanes(task: Task) -> EnvironmentPlugin:
    """Make the plugin of ``task`` without its batch simulator."""
    plugin = PluginManager().plugin(task.plugin)
    plugin.make_vector = lambda task, *, count, seed: None  # type: ignore[method-assign]
    return plugin


def spec_of(part: str, kind: str) -> EnvSpec:
    """Return the recipe of a part.

    :param kind: ``lanes`` or ``single``.
    """
    plugin, task = PluginManager().task(TASKS[part])
    actions = ACTIONS if part == "craftax" else ()
    setup = plugin.default_setup(task).model_copy(update={"coded_actions": tuple(a.name for a in actions)})
    return EnvSpec(task, setup, actions, factory=without_lanes if kind == "single" else plugin.name)


def train(name: str, folder: Path, seed: int) -> None:
    """Run one trainer until another process ends it.

    :param name: the part, the trainer, the number of workers and the kind of environments, as ``voxels-sf-2-lanes``.
    """
    part, trainer, workers, kind = name.split("-")
    made: Any
    if trainer == "ppo":
        from rlgpt.rl.ppo import PPO

        made = PPO(workers=int(workers) if int(workers) > 1 else 0, segments=1)
    else:
        from rlgpt.rl.sample_factory import SampleFactory, SampleFactorySettings

        more: dict[str, Any] = {"mode": "parallel", "workers": int(workers)} if int(workers) > 1 else {}
        # A suspended trainer must not count as hung.
        made = SampleFactory(SampleFactorySettings(heartbeat_timeout=7200, startup_grace=7200, **more))
    made.train(spec_of(part, kind), budget=10**9, seed=seed, folder=folder, hyperparameters=SETTINGS)


def measure(part: str, turns: int, stored: Path) -> None:
    """Let the trainers of a part take turns until ``turns`` turns are stored, then print the figures of the part."""
    names, now = [f"{part}-{name}" for name in NAMES[part]], commit()
    done = _stored(part, now, stored)
    place: dict[str, Any] = {"steps_file": f"run/{STEPS_FILE}", "steps": SLICE, "warm_up": 2}
    if len(done) < turns:
        with (
            tempfile.TemporaryDirectory() as folder,
            trainer_processes(Path(__file__), names, Path(folder), len(done), **place) as trainers,
        ):
            for number in range(len(done), turns):
                costs = {name: trainers[name].turn()[0] for name in block_order(names, number)}
                rates = {name.removeprefix(f"{part}-"): round(1 / costs[name], 1) for name in names}
                with stored.open("a") as file:
                    file.write(
                        line(f"lanes/trainers/{part}/turn", None, UNIT, turn=number, rates=rates, commit=now) + "\n"
                    )
                print(f"{part}: turn {number + 1} of {turns}", file=sys.stderr, flush=True)
                done.append(rates)
    for name in NAMES[part]:
        point, low, high = bootstrap_median([rates[name] / rates["sf-1-single"] for rates in done])
        emit(
            f"lanes/trainers/{part}/{name}",
            round(len(done) / sum(1 / rates[name] for rates in done)),
            UNIT,
            turns=len(done),
            over_single_sample_factory=round(point, 2),
            interval=[round(low, 2), round(high, 2)],
            commit=now,
        )


def _stored(part: str, now: str, path: Path) -> list[dict[str, float]]:
    rows = [json.loads(row) for row in path.read_text().splitlines()] if path.exists() else []
    return [row["rates"] for row in rows if row["name"] == f"lanes/trainers/{part}/turn" and row["commit"] == now]


def main() -> int:
    if len(sys.argv) == 5 and not sys.argv[1].startswith("--"):  # NAME STEPS_FILE FOLDER SEED
        train(sys.argv[1], Path(sys.argv[3]), int(sys.argv[4]))
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="two turns, not stored: a smoke test")
    parser.add_argument("--parts", nargs="+", choices=list(TASKS), default=list(TASKS), help="what to measure")
    given = parser.parse_args()
    for part in given.parts:
        if given.quick:
            with tempfile.TemporaryDirectory() as folder:
                measure(part, 2, Path(folder) / "turns.jsonl")
        else:
            measure(part, TURNS[part], RESULTS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
