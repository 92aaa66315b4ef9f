"""Compares RL-GPT with its baselines in the embedded Minecraft world, with the same budget of primitive steps for all.

    python benchmarks/minecraft.py                      # measures the missing cells, two at a time
    python benchmarks/minecraft.py --report             # only prints the results

comparison.py explains the methods. The task ``harvest_log`` is also measured with four iterations of the outer loop, as
in the paper. Policies observe numbers; in the task ``harvest_milk_rgb``, policies observe pixels.
"""

from __future__ import annotations

import sys

from comparison import Comparison

MINECRAFT = Comparison(
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
