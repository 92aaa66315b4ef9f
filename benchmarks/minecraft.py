"""RL-GPT beside its baselines in Minecraft's embedded world, every row at the same total of primitive steps.

    python benchmarks/minecraft.py                      # all cells, two at a time; start it again to go on
    python benchmarks/minecraft.py --report             # only the summary of what is there

contest.py tells the rows. Harvest log is also run with four turns of the outer loop, to stand beside the paper's figure
(which was reached in the real game). Policies observe numbers; ``harvest_milk_rgb`` observes pixels.
"""

from __future__ import annotations

import sys

from contest import Contest

MINECRAFT = Contest(
    name="minecraft",
    tasks=(
        "minecraft/harvest_log",
        "minecraft/harvest_milk",
        "minecraft/harvest_wool",
        "minecraft/crafting_table",
        "minecraft/wooden_pickaxe",
        "minecraft/harvest_milk_rgb",
    ),
    budget=200_000,
    variants={"rlgpt_turns": ("minecraft/harvest_log",)},
)

if __name__ == "__main__":
    sys.exit(MINECRAFT.main(__file__))
