"""Compares RL-GPT with its baselines on the Franka kitchen. Every method has the same budget of primitive steps.

    python benchmarks/kitchen.py                      # measures the missing cells, two at a time
    python benchmarks/kitchen.py --report             # only prints the results

comparison.py explains the methods.
"""

from __future__ import annotations

import sys

from comparison import Comparison

NOISY = "kitchen/microwave_noisy"
KITCHEN = Comparison(
    name="kitchen",
    tasks=("kitchen/kettle", "kitchen/hinge_cabinet", NOISY, "kitchen/sequence_a"),
    budget=60_000,
    variants={"rlgpt_gamma": (NOISY,), "rlgpt_heads": (NOISY,)},
)

if __name__ == "__main__":
    sys.exit(KITCHEN.main(__file__))
