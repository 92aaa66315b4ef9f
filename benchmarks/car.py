"""Compares RL-GPT with its baselines on the car's tasks. Every method has the same budget of primitive steps.

    python benchmarks/car.py                      # all cells, two at a time; run it again to resume
    python benchmarks/car.py --report             # measure nothing, print the figures of the table

comparison.py explains the methods. No policy was trained or selected on the roads of the evaluation.
"""

from __future__ import annotations

import sys

from comparison import Comparison

CAR = Comparison(name="mujoco_car", tasks=("mujoco_car/blocked_start", "mujoco_car/parking"), budget=60_000)

if __name__ == "__main__":
    sys.exit(CAR.main(__file__))
