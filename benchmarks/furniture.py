"""RL-GPT beside its baselines with the furniture, every row at the same total of primitive steps.

    python benchmarks/furniture.py --out runs/furniture # all cells, two at a time; start it again to go on
    python benchmarks/furniture.py --report             # only the summary of what is there

contest.py tells the rows. 20,000 steps take one and a half to two hours on two cores; ``--budget 60000`` is that of the
kitchen. ``--tasks furniture/lamp`` measures the lamp, which takes as long again.
"""

from __future__ import annotations

import sys

from contest import Contest

FURNITURE = Contest(name="furniture", tasks=("furniture/one_leg_medium",), budget=20_000)

if __name__ == "__main__":
    sys.exit(FURNITURE.main(__file__))
