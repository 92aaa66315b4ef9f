"""Compares RL-GPT with its baselines on the car's tasks. Every method has the same budget of primitive steps.

    python benchmarks/car.py                      # measures the missing cells, two at a time
    python benchmarks/car.py --report             # only prints the results

comparison.py explains the methods. The evaluation plays on roads on which no policy was trained or selected.
"""

from __future__ import annotations

import sys

from comparison import Comparison

CAR = Comparison(name="mujoco_car", tasks=("mujoco_car/blocked_start", "mujoco_car/parking"), budget=60_000)

if __name__ == "__main__":
    sys.exit(CAR.main(__file__))
