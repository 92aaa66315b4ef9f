"""Measures the speed of 64 environments on one core. The 64 environments are the lanes of a batch of Craftax, with six
coded actions, or of a batch of voxel worlds, without coded actions.

    python benchmarks/lanes.py                  # takes some minutes, mostly for JAX's compilation
    python benchmarks/lanes.py --parts voxels   # without JAX
    python benchmarks/lanes.py --profile        # also prints where the time of Craftax's rollout goes

================================  ==================================================================================
``lanes/craftax/simulator``       primitive steps per CPU-second of the batch alone, with random actions
``lanes/craftax/rollout``         with options, where every decision is drawn from the allowed choices
``lanes/craftax/rollout/share``   share of the rollout's CPU time that the simulator needs
``lanes/craftax/train``           with PPO's learning, by the built-in trainer
``lanes/voxels/rollout``          the policy acts in ``minecraft/harvest_log``
``lanes/voxels/train``            with PPO's learning
``lanes/voxels/train/ratio``      the same, divided by the figure of as many single environments in the same run
================================  ==================================================================================

JAX uses one thread. The script prints lines of JSON.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")})
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import numpy as np
from reporting import commit, emit
from rlgpt import CodedAction, extend_vector
from rlgpt.plugin.manager import PluginManager

TASK, LANES = "craftax/symbolic", 64
PARTS = ("voxels", "craftax")
Clock = Callable[[], float]
GATHER = """
def can_start(view):
    return view["{tool}"] >= {least} and view["inventory"]["{item}"] < 9 and "{thing}" in view["things"]

def run():
    outcome = yield approach(thing="{thing}")
    if outcome.get("reached"):
        yield collect(times=2)
"""
TOOLS = """
def can_start(view):
    return view["inventory"]["wood"] >= 5 and view["pickaxe"] == 0

def run():
    yield [place(what="table"), craft(what="wood_pickaxe"), craft(what="wood_sword")]
"""
DRINK = """
def can_start(view):
    return view["drink"] < 6 and "water" in view["things"]

def run():
    outcome = yield approach(thing="water")
    if outcome.get("reached"):
        yield collect(times=3)
"""
REST = """
def can_start(view):
    return view["energy"] < 3 and not view["monsters"]

def run():
    yield sleep(steps=50)
"""


def _gather(name: str, thing: str, item: str, least: int) -> CodedAction:
    source = GATHER.format(tool="pickaxe", least=least, item=item, thing=thing)
    return CodedAction(name=name, doc="", source=source)


ACTIONS = (
    _gather("wood", "tree", "wood", 0),
    _gather("stone", "stone", "stone", 1),
    _gather("coal", "coal", "coal", 1),
    CodedAction(name="tools", doc="", source=TOOLS),
    CodedAction(name="drink", doc="", source=DRINK),
    CodedAction(name="recover", doc="", source=REST),
)


class Rollout:
    """Plays a rollout with random decisions, drawn by a generator with a fixed seed. If coded actions may start, the
    decision is one of these coded actions with probability 0.9. Otherwise the decision is a base action; all base
    actions are equally likely, because the mask never excludes them.
    """

    def __init__(self, plugin: Any, task: Any, lanes: int = LANES) -> None:
        self.steps = self.decisions = 0
        venv = plugin.make_vector(task, count=lanes, seed=0)
        self._env = extend_vector(venv, ACTIONS, plugin=plugin, task=task, on_step=self._count)
        self._offset, self._rng = self._env.setup.offset, np.random.default_rng(0)
        self._ready = self._env.begin({lane: lane for lane in range(lanes)})

    def play(self, steps: int) -> None:
        """Continue the rollout for at least ``steps`` primitive steps."""
        end = self.steps + steps
        while self.steps < end:
            over = {a.lane: None for a in self._ready if a.terminated or a.truncated}
            begun = self._env.begin(over) if over else []
            ready = [a for a in self._ready if a.lane not in over] + begun
            self._env.send({a.lane: self._choice(a.info["action_mask"]) for a in ready})
            self._ready = self._env.recv()
            self.decisions += len(self._ready)

    def _choice(self, mask: np.ndarray) -> int:
        coded = np.flatnonzero(mask[self._offset :]) + self._offset
        if len(coded) and self._rng.random() < 0.9:
            return int(coded[self._rng.integers(len(coded))])
        return int(self._rng.integers(self._offset))

    def _count(self, lane: int, step: int) -> None:
        self.steps += step > 0


def measure_simulator(
    plugin: Any, task: Any, calls: int, *, lanes: int = LANES, clock: Clock = time.process_time
) -> float:
    """Measure the primitive steps per second of the batch alone, without its resets."""
    venv, rng = plugin.make_vector(task, count=lanes, seed=0), np.random.default_rng(0)
    venv.reset(seed=0)
    seconds = 0.0
    for call in range(calls + 5):
        actions = rng.integers(venv.single_action_space.n, size=lanes)
        began = clock()
        _, _, terminated, truncated, _ = venv.step(actions)
        seconds += (clock() - began) * (call >= 5)
        if (over := terminated | truncated).any():
            venv.reset(options={"reset_mask": over})
    return lanes * calls / seconds


def measure_rollout(
    plugin: Any, task: Any, steps: int, *, profile: bool, lanes: int = LANES, clock: Clock = time.process_time
) -> tuple[float, float]:
    """Measure the primitive steps of a rollout per second and per decision."""
    rollout = Rollout(plugin, task, lanes)
    rollout.play(steps // 4)
    begun, decisions, began = rollout.steps, rollout.decisions, clock()
    rollout.play(steps)
    seconds, taken = clock() - began, rollout.steps - begun
    decided = rollout.decisions - decisions
    if profile:
        profiler = cProfile.Profile()
        profiler.runcall(rollout.play, steps // 2)
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(30)
    return taken / seconds, taken / decided


def measure_training(task: Any, plugin: Any, steps: int) -> float:
    from rlgpt.rl.base import EnvSpec, Hyperparameters
    from rlgpt.rl.ppo import PPO

    names = tuple(action.name for action in ACTIONS)
    setup = plugin.default_setup(task).model_copy(update={"coded_actions": names})
    spec = EnvSpec(task, setup, ACTIONS)
    settings = Hyperparameters(num_envs=LANES, num_steps=16, minibatch_size=256, update_epochs=4)
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        record = PPO(segments=2).train(spec, budget=steps, seed=0, folder=Path(folder), hyperparameters=settings)
        return record.primitive_steps / (time.process_time() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="few steps: a smoke test, its figures mean nothing")
    parser.add_argument("--profile", action="store_true", help="print a profile of the rollout")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to measure")
    given = parser.parse_args()
    if "voxels" in given.parts:
        import voxel_lanes

        voxel_lanes.measure(4 if given.quick else LANES, 2 if given.quick else 25, commit())
    if "craftax" in given.parts:
        measure_craftax(2_000 if given.quick else 40_000, profile=given.profile)
    return 0


def measure_craftax(steps: int, *, profile: bool) -> None:
    plugin, task = PluginManager().task(TASK)
    rate, now = "primitive steps per CPU-second", commit()
    alone = measure_simulator(plugin, task, steps // LANES)
    emit("lanes/craftax/simulator", round(alone), rate, commit=now)
    options, length = measure_rollout(plugin, task, steps, profile=profile)
    emit("lanes/craftax/rollout", round(options), rate, commit=now, goal=3000, steps_per_decision=round(length, 2))
    emit("lanes/craftax/rollout/share", round(options / alone, 2), "of the CPU time", commit=now)
    trained = measure_training(task, plugin, steps)
    emit("lanes/craftax/train", round(trained), rate, commit=now, goal=1500)


if __name__ == "__main__":
    sys.exit(main())
