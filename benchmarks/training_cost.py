"""Measures the training throughput of each trainer, relative to Sample Factory without rlgpt, on the kitchen with
recorded actions.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from interleaved import block_figures, block_order
from reporting import commit, emit
from trainer_process import trainer_processes

SCRIPT = Path(__file__).with_name("trainers.py")
REFERENCE = "plain_sample_factory"
NAMES = ("sample_factory", REFERENCE, "ppo", "stable_baselines3")
UNITS = {
    "sample_factory": "rlgpt's Sample Factory",
    "ppo": "rlgpt's built-in PPO",
    "stable_baselines3": "Stable-Baselines3's PPO on the flat view",
}
GOALS = {"sample_factory": 0.97}


def measure(*, quick: bool) -> None:
    repeats, slices = (1, 1) if quick else (3, 20)
    now = commit()
    costs: dict[str, list[list[tuple[float, float]]]] = {name: [] for name in NAMES}
    for seed in range(repeats):
        with tempfile.TemporaryDirectory() as folder, trainer_processes(SCRIPT, NAMES, Path(folder), seed) as trainers:
            for repeat_costs in costs.values():
                repeat_costs.append([])
            for number in range(slices):
                for name in block_order(NAMES, number):
                    costs[name][-1].append(trainers[name].turn())
        print(f"training: repeat {seed + 1} of {repeats}", file=sys.stderr, flush=True)
    for name in NAMES:
        rates = [[1 / cpu for cpu, _ in turns] for turns in costs[name]]
        emit(
            f"overhead/training/{name}/rate",
            unit="primitive steps per CPU-second",
            **block_figures(rates, now, digits=1),
        )
    for name, words in UNITS.items():
        pairs = [list(zip(a, b, strict=True)) for a, b in zip(costs[REFERENCE], costs[name], strict=True)]
        for i, kind in enumerate(("cpu", "wall")):
            ratios = [[plain[i] / own[i] for plain, own in turns] for turns in pairs]
            unit = f"{words}, steps per {kind} second / plain Sample Factory's"
            goal = GOALS.get(name) if kind == "cpu" else None
            emit(f"overhead/training/{name}/{kind}", unit=unit, goal=goal, **block_figures(ratios, now))
