"""Compares RL-GPT with its baselines in the embedded Minecraft world, with the same budget of primitive steps for all.

    python benchmarks/minecraft.py                      # all cells, two at a time; run it again to resume
    python benchmarks/minecraft.py --report             # measure nothing, print the figures of the table

comparison.py explains the methods. ``harvest_log`` is also measured with four iterations of the outer loop, as in the
paper, whose figure comes from the real game. Policies observe numbers; with ``harvest_milk_rgb`` they observe pixels.
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
