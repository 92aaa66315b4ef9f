"""Compares RL-GPT with its baselines on the furniture tasks. Every method has the same budget of primitive steps.

    python benchmarks/furniture.py --out runs/furniture.jsonl # measures the missing cells, two at a time
    python benchmarks/furniture.py --report                   # only prints the results

comparison.py explains the methods. All cells took 137 minutes on two cores under other load; ``--budget 60000`` sets
the kitchen's budget. With ``--tasks furniture/lamp``, the script measures the lamp, whose cells take about as long.
"""

from __future__ import annotations

import sys

from comparison import Comparison

FURNITURE = Comparison(name="furniture", tasks=("furniture/one_leg_medium",), budget=20_000)

if __name__ == "__main__":
    sys.exit(FURNITURE.main(__file__))
