"""Compares RL-GPT with its baselines on the furniture tasks. Every method has the same budget of primitive steps.

    python benchmarks/furniture.py --out runs/furniture.jsonl # all cells, two at a time; run it again to resume
    python benchmarks/furniture.py --report                   # measure nothing, print the figures of the table

comparison.py explains the methods. All cells take one and a half to two hours on two cores; ``--budget 60000`` is the
kitchen's budget. ``--tasks furniture/lamp`` measures the lamp, which takes one and a half to two hours, too.
"""

from __future__ import annotations

import sys

from comparison import Comparison

FURNITURE = Comparison(name="furniture", tasks=("furniture/one_leg_medium",), budget=20_000)

if __name__ == "__main__":
    sys.exit(FURNITURE.main(__file__))
