"""Plays recorded code for all seven elements of the kitchen, without a policy and without a language model.

    python benchmarks/kitchen_seven.py > benchmarks/results/kitchen_seven.jsonl     # seven minutes
    python benchmarks/kitchen_seven.py --episodes 2                                 # a check that it runs

The code is the bundle ``bundles/kitchen_seven``. A language model wrote it for another task, FrankaKitchen of
EvoPolicyGym (``evopolicygym.py``): to complete as many of the seven elements as possible within 280 steps, without
noise. Here, the same code plays the tasks ``kitchen/sequence_all`` and ``kitchen/sequence_all_noisy``, in which an
episode succeeds if all seven elements are complete at some time within 980 steps. Each printed line has the success
rate of one task, with its 95 % interval, and the steps of each episode.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from reporting import commit, emit

BUNDLE = Path(__file__).with_name("bundles") / "kitchen_seven"
TASKS = ("kitchen/sequence_all", "kitchen/sequence_all_noisy")
RUN = 951
"""The seed of the run whose report seeds are used. No run of the recording and no other benchmark has used them."""


def main() -> None:
    from rlgpt.loop import Seeds
    from rlgpt.options import load_bundle
    from rlgpt.plugin.manager import PluginManager
    from rlgpt.report.figures import success_range
    from rlgpt.rl.base import EnvSpec
    from rlgpt.rl.evaluation import evaluate_code

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--tasks", nargs="+", default=TASKS)
    parser.add_argument("--episodes", type=int, default=50)
    arguments = parser.parse_args()
    actions, seeds, now = load_bundle(BUNDLE).actions, Seeds(RUN).report(arguments.episodes), commit()
    for name in arguments.tasks:
        plugin, task = PluginManager().task(name)
        spec = EnvSpec(task, plugin.default_setup(task), actions, plugin.name)
        found = evaluate_code(spec, actions, seeds=seeds)
        low, high = success_range(found)
        steps = [e.primitive_steps for e in found.episodes if e.success]
        emit(
            f"kitchen_seven/{name.split('/')[1]}",
            found.success_rate,
            "success rate",
            interval=[round(low, 3), round(high, 3)],
            median_steps=None if not steps else float(np.median(steps)),
            episodes=[{"seed": e.seed, "success": e.success, "steps": e.primitive_steps} for e in found.episodes],
            commit=now,
        )


if __name__ == "__main__":
    main()
