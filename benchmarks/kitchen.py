"""RL-GPT beside its baselines on the Franka kitchen, every row at the same total of primitive steps.

    python benchmarks/kitchen.py                      # all cells, two at a time; start it again to go on
    python benchmarks/kitchen.py --report             # only the summary of what is there

contest.py tells the rows.
"""

from __future__ import annotations

import sys

from contest import Contest

NOISY = "kitchen/microwave_noisy"
KITCHEN = Contest(
    name="kitchen",
    tasks=("kitchen/kettle", "kitchen/hinge_cabinet", NOISY, "kitchen/sequence_a"),
    budget=60_000,
    variants={"rlgpt_gamma": (NOISY,), "rlgpt_heads": (NOISY,)},
)

if __name__ == "__main__":
    sys.exit(KITCHEN.main(__file__))
