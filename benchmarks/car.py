"""RL-GPT beside its baselines with the car, every row at the same total of primitive steps.

    python benchmarks/car.py                      # all cells, two at a time; start it again to go on
    python benchmarks/car.py --report             # only the summary of what is there

contest.py tells the rows. Roads of the evaluation are none that a policy was trained or selected on.
"""

from __future__ import annotations

import sys

from contest import Contest

CAR = Contest(name="mujoco_car", tasks=("mujoco_car/blocked_start", "mujoco_car/parking"), budget=60_000)

if __name__ == "__main__":
    sys.exit(CAR.main(__file__))
