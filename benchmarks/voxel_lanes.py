"""Measures trainings of the built-in PPO in the voxel world of the Minecraft plugin, in a batch of lanes and in as many
single environments. Both trainings take turns of one rollout and one update, with the same seeds and settings.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from interleaved import bootstrap_median
from reporting import emit
from rlgpt.plugin.manager import PluginManager
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.lanes import LaneVector
from rlgpt.rl.ppo import PPO
from rlgpt.rl.rollout import Collector
from rlgpt.rl.training_stats import TrainingStats, TrainingStatsState
from rlgpt.rl.vector import LocalVector

TASK = "minecraft/harvest_log"
STEPS, SETTINGS = 16, {"minibatch_size": 256, "update_epochs": 4}
UNIT = "primitive steps per CPU-second, numbers only, the default setup without coded actions"


class Training:
    """One of the two trainings that take turns.

    :param lanes: whether the environments are the lanes of the plugin's vector.
    """

    def __init__(self, task: str, count: int, folder: Path, *, lanes: bool) -> None:
        plugin, chosen = PluginManager().task(task)
        spec, ppo = EnvSpec(chosen, plugin.default_setup(chosen), ()), PPO()
        settings = Hyperparameters(num_envs=count, num_steps=STEPS, **SETTINGS)  # type: ignore[arg-type]
        network = ppo.network(spec, settings, 0)
        self._learner = ppo.learner(network, settings, spec.setup.gamma, 10**9)
        self._generator = torch.Generator().manual_seed(0)
        seeds, file = list(range(count)), folder / f"steps_{lanes}"
        venv = plugin.make_vector(chosen, count=count, seed=0) if lanes else None
        self.vector: Any = LocalVector(spec, seeds, file) if venv is None else LaneVector(spec, venv, seeds, file)
        self._collector = Collector(self.vector, network, self._generator, TrainingStats(TrainingStatsState()))

    def turn(self) -> tuple[float, float, torch.Tensor]:
        """Return the CPU seconds of a rollout and of an update, and the rewards of the rollout."""
        began = time.process_time()
        rollout = self._collector.collect(STEPS, lambda: False)
        acted = time.process_time()
        self._learner.update(rollout, self._generator)
        return acted - began, time.process_time() - acted, rollout.rewards


def measure(count: int, turns: int, commit: str, task: str = TASK) -> None:
    """Emit the steps per CPU-second in lanes, and the ratio to those of single environments.

    :param turns: number of turns; a turn has ``STEPS`` primitive steps in each environment, an episode at most 200.
    """
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        trainings = [Training(task, count, Path(folder), lanes=lanes) for lanes in (True, False)]
        seconds: list[list[tuple[float, float]]] = [[], []]
        for turn in range(turns + 1):
            results = [training.turn() for training in trainings]
            if not torch.equal(results[0][2], results[1][2]):
                raise AssertionError("the two trainings are no longer the same, so their times cannot be compared")
            if turn:
                for kept, (acting, learning, _) in zip(seconds, results, strict=True):
                    kept.append((acting, learning))
                print(f"voxels: turn {turn} of {turns}", file=sys.stderr, flush=True)
        for training in trainings:
            training.vector.close()
    _report("rollout", [[acting for acting, _ in kept] for kept in seconds], count, commit)
    _report("train", [[sum(pair) for pair in kept] for kept in seconds], count, commit)


def _report(name: str, seconds: list[list[float]], count: int, commit: str) -> None:
    """Emit the rates over all turns. The median of the turns leaves out most resets, which few turns contain."""
    rate, before = (STEPS * count * len(each) / sum(each) for each in seconds)
    emit(f"lanes/voxels/{name}", round(rate), UNIT, commit=commit, single_environments=round(before), lanes=count)
    point, low, high = bootstrap_median([single / lanes for lanes, single in zip(*seconds, strict=True)])
    medians = {"median_of_turns": round(point, 2), "interval": [round(low, 2), round(high, 2)]}
    goal = 2.0 if name == "train" else None
    unit = "steps per CPU-second in lanes / in single environments, over all turns"
    emit(f"lanes/voxels/{name}/ratio", round(rate / before, 2), unit, commit=commit, goal=goal, **medians)
