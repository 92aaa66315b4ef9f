"""Defines the tasks, with their targets, starts, biomes and horizons. The definition of each task names the source of
its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from rlgpt.domain import Task
from rlgpt.errors import UnknownNameError
from voxeldojo.names import INVENTORY

NAME = "minecraft"
NOON = 6000
"""Time of day at the start of the listed tasks, in ticks, as in the official code (``set_time(6000)``)."""

_PLAN4MC = "Plan4MC (arXiv 2303.16563), envs/hard_task_conf.yaml"
_OFFICIAL = "horizon 200 as in the official code of RL-GPT (train.py)"

_WOOD = ("log", "leaves", "crafting_table", "drop", "water")
_ANIMALS = ("cow", "sheep", "drop", "water")
_STONE = ("log", "stone", "crafting_table", "furnace", "zombie", "drop", "water", "lava")
_MINE = ("log", "stone", "coal_ore", "iron_ore", "crafting_table", "furnace", "zombie", "drop", "water", "lava")

_TO_TABLE = ("planks", "crafting_table")
_TO_PICKAXE = ("planks", "stick", "crafting_table", "wooden_pickaxe")
_IRON = ("iron_ore", "iron_ingot")
_TO_STONE = (*_TO_PICKAXE, "stone_pickaxe")


@dataclass(frozen=True)
class Spec:
    """The definition of a task.

    :ivar kind: what is counted, as MineDojo counts it: with ``item``, the items ``target`` in the inventory; with
        ``kill``, the killed mobs ``target``; with ``use``, the uses of the item ``target``.
    :ivar quantity: by how much the count must grow during the episode, at least 1.
    :ivar biome: MineDojo's ``specified_biome``; an empty text means all biomes of MineDojo's default world.
    :ivar inventory: the items of the player at the start, with their quantities.
    :ivar slots: the slot of each of these items (``voxeldojo.mission.Stack``); by default, they are in the inventory in
        their order, and the first one is in the hand.
    :ivar time: the time of day at the start, in ticks (``voxeldojo.mission.Mission``).
    :ivar time_passes, mobs_spawn: whether the time of day advances, and whether mobs spawn by themselves.
    :ivar mobs: the mobs that are summoned around the player's start, up to ``spread`` blocks away along x and z.
    :ivar sights: the things that the view describes (``things.THINGS``).
    :ivar seek: those of ``sights`` for which the default rewards give a bonus.
    :ivar path: the items to obtain one after another; the last item is the target.
    :ivar needs: the needed quantity of each item on the path, for items of which more than one is needed.
    :ivar crafts: the items that the task crafts by hand or at a table.
    :ivar smelts: the items to smelt in a furnace.
    :ivar places, equips: the items that the base actions place, and the items that the base actions take into the hand.
    :ivar pixels: the default of the setting ``image_size``, if the task's policies observe the picture instead of lidar
        and voxels; an empty tuple if they observe numbers.
    :ivar source: the source of the task's target, biome, inventory, mobs and horizon.
    :ivar minedojo_id: MineDojo's id of the task, if the task is one of MineDojo's programmatic tasks, else "".
    """

    goal: str
    target: str
    horizon: int
    source: str
    kind: Literal["item", "kill", "use"] = "item"
    quantity: int = 1
    biome: str = "plains"
    inventory: tuple[tuple[str, int], ...] = ()
    slots: tuple[int, ...] = ()
    time: int = NOON
    time_passes: bool = True
    mobs_spawn: bool = True
    mobs: tuple[str, ...] = ()
    spread: int = 10
    sights: tuple[str, ...] = _WOOD
    seek: tuple[str, ...] = ("log",)
    path: tuple[str, ...] = ()
    needs: tuple[tuple[str, int], ...] = ()
    crafts: tuple[str, ...] = ()
    smelts: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    equips: tuple[str, ...] = ()
    pixels: tuple[int, ...] = ()
    minedojo_id: str = ""

    @property
    def makeable(self) -> tuple[str, ...]:
        """All items that the task crafts or smelts."""
        return (*self.crafts, *self.smelts)

    def need(self, item: str) -> int:
        """Return the quantity that is needed of an item on the task's path."""
        return dict(self.needs).get(item, 1)

    @property
    def carried(self) -> tuple[str, ...]:
        """The items that the player carries at the start, without worn armour."""
        slots = self.slots or range(len(self.inventory))
        return tuple(item for (item, _), slot in zip(self.inventory, slots, strict=True) if slot < INVENTORY)

    @property
    def counted(self) -> tuple[str, ...]:
        """Items whose counts the view shows."""
        return tuple(dict.fromkeys((*self.carried, *self.path)))


_HERD = ("cow",) * 3 + ("sheep",) * 3

_MILK = Spec(
    "Milk a cow with the bucket in your hand.",
    "milk_bucket",
    200,
    f"MineDojo's harvest_milk_with_empty_bucket_and_cow, in plains; {_OFFICIAL}",
    inventory=(("bucket", 1),),
    mobs=("cow",),
    sights=_ANIMALS,
    path=("milk_bucket",),
    seek=("cow",),
)

SPECS: Mapping[str, Spec] = {
    "harvest_log": Spec(
        "Harvest a log from a tree, with bare hands.",
        "log",
        200,
        f"MineDojo's harvest_1_log_forest; {_OFFICIAL}",
        biome="forest",
        sights=("log", "leaves", "drop", "water"),
        path=("log",),
    ),
    "harvest_sand": Spec(
        "Dig up a block of sand, with bare hands.",
        "sand",
        500,
        "MineDojo's harvest with target sand; horizon 500 as in MineCLIP (conf.yaml)",
        biome="swampland",
        sights=("sand", "drop", "water"),
        path=("sand",),
        seek=("sand",),
    ),
    "harvest_milk": _MILK,
    "harvest_milk_rgb": replace(
        _MILK,
        goal="Milk a cow with the bucket in your hand; the policy sees the screen, coded actions see numbers.",
        pixels=(64, 64),
    ),
    "harvest_wool": Spec(
        "Get wool from a sheep with the shears in your hand.",
        "wool",
        200,
        f"MineDojo's harvest_wool_with_shears_and_sheep, in plains; {_OFFICIAL}",
        inventory=(("shears", 1),),
        mobs=("sheep",),
        sights=_ANIMALS,
        path=("wool",),
        seek=("sheep",),
    ),
    "harvest_beef": Spec(
        "Get beef from a cow with the diamond sword in your hand.",
        "beef",
        3000,
        f"{_PLAN4MC}: harvest_beef_with_diamond_sword",
        inventory=(("diamond_sword", 1),),
        mobs=_HERD,
        spread=30,
        sights=_ANIMALS,
        path=("beef",),
        seek=("cow", "drop"),
    ),
    "harvest_mutton": Spec(
        "Get mutton from a sheep with the diamond sword in your hand.",
        "mutton",
        3000,
        f"{_PLAN4MC}: harvest_mutton_with_diamond_sword",
        inventory=(("diamond_sword", 1),),
        mobs=_HERD,
        spread=30,
        sights=_ANIMALS,
        path=("mutton",),
        seek=("sheep", "drop"),
    ),
    "stick": Spec(
        "Make a stick, beginning with bare hands.",
        "stick",
        3000,
        f"{_PLAN4MC}: craft_stick",
        path=("log", "planks", "stick"),
        crafts=("planks", "stick"),
    ),
    "crafting_table": Spec(
        "Make a crafting table, beginning with bare hands.",
        "crafting_table",
        3000,
        f"MineDojo's harvest_1_crafting_table_forest; horizon of {_PLAN4MC}: get_crafting_table_nearby",
        biome="forest",
        path=("log", *_TO_TABLE),
        crafts=_TO_TABLE,
    ),
    "wooden_pickaxe": Spec(
        "Make a wooden pickaxe, beginning with bare hands.",
        "wooden_pickaxe",
        3000,
        f"{_PLAN4MC}: craft_wooden_pickaxe",
        biome="forest",
        path=("log", *_TO_PICKAXE),
        crafts=_TO_PICKAXE,
        places=("crafting_table",),
        needs=(("log", 3), ("planks", 4)),
    ),
    "furnace": Spec(
        "Make a furnace, beginning with ten logs.",
        "furnace",
        5000,
        f"{_PLAN4MC}: get_furnace_nearby_with_logs",
        biome="extreme_hills",
        inventory=(("log", 10),),
        sights=_STONE,
        path=(*_TO_PICKAXE, "cobblestone", "furnace"),
        crafts=(*_TO_PICKAXE, "furnace"),
        places=("crafting_table",),
        equips=("wooden_pickaxe",),
        seek=("stone",),
        needs=(("planks", 4), ("cobblestone", 8)),
    ),
    "stone_pickaxe": Spec(
        "Make a stone pickaxe, beginning with a wooden one.",
        "stone_pickaxe",
        10_000,
        f"{_PLAN4MC}: craft_stone_pickaxe_with_wooden_pickaxe",
        biome="forest_hills",
        inventory=(("wooden_pickaxe", 1),),
        sights=_STONE,
        path=("log", "planks", "stick", "crafting_table", "cobblestone", "stone_pickaxe"),
        crafts=("planks", "stick", "crafting_table", "stone_pickaxe"),
        places=("crafting_table",),
        equips=("wooden_pickaxe",),
        seek=("log", "stone"),
        needs=(("log", 2), ("planks", 4), ("cobblestone", 3)),
    ),
    "bed": Spec(
        "Make a bed, beginning with shears and a crafting table.",
        "bed",
        10_000,
        f"{_PLAN4MC}: craft_bed_with_crafting_table_and_shears",
        inventory=(("shears", 1), ("crafting_table", 1)),
        mobs=_HERD,
        spread=30,
        sights=("sheep", "log", "leaves", "crafting_table", "zombie", "drop", "water"),
        path=("wool", "log", "planks", "bed"),
        crafts=("planks", "bed"),
        places=("crafting_table",),
        equips=("shears",),
        seek=("sheep", "log"),
        needs=(("wool", 3), ("planks", 3)),
    ),
    "iron_ingot": Spec(
        "Make an iron ingot, beginning with a stone pickaxe.",
        "iron_ingot",
        3000,
        f"{_PLAN4MC}: craft_iron_ingot_with_stone_pickaxe",
        biome="forest",
        inventory=(("stone_pickaxe", 1),),
        sights=_MINE,
        path=("log", *_TO_TABLE, "cobblestone", "furnace", *_IRON),
        crafts=("planks", "stick", "crafting_table", "furnace"),
        smelts=("coal", "iron_ingot"),
        places=("crafting_table", "furnace"),
        equips=("stone_pickaxe",),
        seek=("log", "stone", "iron_ore"),
        needs=(("log", 2), ("planks", 4), ("cobblestone", 8)),
    ),
    "obtain_diamond": Spec(
        "Obtain a diamond, beginning with bare hands.",
        "diamond",
        12_000,
        "ObtainDiamond, as MineDojo's harvest_1_diamond; 12,000 steps: the ten minutes of DEPS (arXiv 2302.01560)",
        biome="",
        sights=(*_MINE[:4], "diamond_ore", *_MINE[4:]),
        path=("log", *_TO_PICKAXE, "cobblestone", "stone_pickaxe", "furnace", *_IRON, "iron_pickaxe", "diamond"),
        crafts=(*_TO_STONE, "furnace", "iron_pickaxe"),
        smelts=("coal", "iron_ingot"),
        places=("crafting_table", "furnace"),
        equips=("wooden_pickaxe", "stone_pickaxe", "iron_pickaxe"),
        seek=("log", "stone", "iron_ore", "diamond_ore"),
        needs=(("log", 5), ("planks", 4), ("cobblestone", 11), ("iron_ore", 3), ("iron_ingot", 3)),
    ),
}
"""Task name -> definition."""


def make_tasks() -> dict[str, Task]:
    """Return every listed task by its id."""
    return {task.id: task for task in (_task(name, spec) for name, spec in SPECS.items())}


def make_suite() -> dict[str, Task]:
    """Return MineDojo's programmatic tasks (:mod:`rlgpt_minecraft.suite`) by their ids."""
    from rlgpt_minecraft.suite import suite

    return {task.id: task for task in (_task(name, spec) for name, spec in suite().items())}


def spec_of(task: Task) -> Spec:
    """Return the definition of a task.

    :raises UnknownNameError: this plugin has no such task.
    """
    name = task.id.partition("/")[2]
    if name in SPECS:
        return SPECS[name]
    from rlgpt_minecraft.suite import suite

    if name not in suite():
        raise UnknownNameError("Minecraft task", name, SPECS)
    return suite()[name]


_SUCCESS = {
    "item": "the inventory holds {count} {target} more than at the start, as MineDojo judges harvest tasks",
    "kill": "the player has killed {count} {target}, as MineDojo judges combat tasks",
    "use": "the player has used {count} {target}, as MineDojo judges tech-tree tasks: worked, tilled or hit something "
    "with a tool, placed a block, or eaten food",
}


def _task(name: str, spec: Spec) -> Task:
    count = "one" if spec.quantity == 1 else str(spec.quantity)
    return Task(
        id=f"{NAME}/{name}",
        goal=spec.goal,
        horizon=spec.horizon,
        success=_SUCCESS[spec.kind].format(count=count, target=spec.target),
        settings={
            "backend": "embedded",
            "port": 0,
            "actions": "default",
            "tier": "default",
            "image_size": spec.pixels,
            "biome": spec.biome,
            "source": spec.source,
        },
    )
