"""The task of MineDojo that corresponds to each task of this plugin: a named task, or ``minedojo.make("harvest")``
with the options of a paper.

The values of Plan4MC are in ``envs/hard_task_conf.yaml`` and ``envs/minecraft_hard_task.py`` of its official code.
"""

from __future__ import annotations

from typing import Any

HERD: dict[str, Any] = {
    "initial_mobs": ["cow"] * 3 + ["sheep"] * 3,
    "initial_mob_spawn_range_low": [-30, 1, -30],
    "initial_mob_spawn_range_high": [30, 1, 30],
}


def harvest(target: str, biome: str, inventory: dict[str, int] | None = None, **more: Any) -> dict[str, Any]:
    """Return keyword arguments of MineDojo's ``HarvestMeta``, with its 27 voxels. Inventories fill slots 0, 1, ..."""
    stacks = [{"slot": i, "name": name, "quantity": n} for i, (name, n) in enumerate((inventory or {}).items())]
    return {
        "target_names": target,
        "target_quantities": 1,
        "specified_biome": biome,
        "use_voxel": True,
        **({"initial_inventory": stacks} if stacks else {}),
        **more,
    }


NAMED = {
    "harvest_log": "harvest_1_log_forest",
    "harvest_milk": "harvest_milk_with_empty_bucket_and_cow",
    "harvest_milk_rgb": "harvest_milk_with_empty_bucket_and_cow",
    "harvest_wool": "harvest_wool_with_shears_and_sheep",
    "crafting_table": "harvest_1_crafting_table_forest",
    "stick": "harvest_1_stick_plains",
    "obtain_diamond": "harvest_1_diamond",
}
"""Task of this plugin -> name of MineDojo's task."""
PLAN4MC = {
    "harvest_beef": harvest("beef", "plains", {"diamond_sword": 1}, **HERD),
    "harvest_mutton": harvest("mutton", "plains", {"diamond_sword": 1}, **HERD),
    "wooden_pickaxe": harvest("wooden_pickaxe", "forest"),
    "furnace": harvest("furnace", "extreme_hills", {"log": 10}),
    "stone_pickaxe": harvest("stone_pickaxe", "forest_hills", {"wooden_pickaxe": 1}),
    "bed": harvest("bed", "plains", {"crafting_table": 1, "shears": 1}, **HERD),
    "iron_ingot": harvest("iron_ingot", "forest", {"stone_pickaxe": 1}),
}
"""Task of this plugin -> the arguments with which Plan4MC makes the task."""
MINECLIP = {"harvest_sand": harvest("sand", "swampland")}
"""Task of this plugin -> options of MineDojo's harvest class, for tasks without a name in MineDojo."""

REFERENCES: dict[str, dict[str, Any]] = {
    **{ours: {"named": theirs} for ours, theirs in NAMED.items()},
    **{ours: {"options": options} for ours, options in {**PLAN4MC, **MINECLIP}.items()},
}
