"""Decides whether voxeldojo, the embedded Minecraft world, has everything that a programmatic task of MineDojo needs.

The decision reads MineDojo's specification of the task. A survey of generated land gives the blocks of a landscape, and
the rules of ``minedojo_rules.py`` give what a player can obtain from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from minedojo_rules import SOURCES, Lack, Node, Rule, resolve, rules, ways
from voxeldojo.names import BIOMES, ENTITIES, WORN
from voxeldojo.stats import TOTALS
from voxeldojo.world import biomes, blocks, items, mob_kinds
from voxeldojo.world.chunks import ensure, generate
from voxeldojo.world.spawn import NO_ANIMALS
from voxeldojo.world.state import CHUNK, SIZE

NEVER_USED = frozenset(("clock", "compass", *(name for name in WORN if items.ARMOR[items.ID[name]] > 0)))
"""Items whose use the game never counts, as the code of 1.10 and of 1.12 shows, which 1.11.2 lies between.
``ItemStack.onItemUse``, ``hitEntity`` and ``onBlockDestroyed`` count a use, which armour, clocks and compasses do not
have. Neither ``ItemArmor.onItemRightClick`` (the use key with armour in the hand) nor MineDojo's action ``equip``
(``EquipCommandsImplementation`` of MineDojo 0.1) counts one: both only move the armour to its slot.
"""
REACH = 8
"""Half the side of the surveyed square, in chunks."""


class Landscape(NamedTuple):
    """The keys of the blocks and the names of the biomes that a land contains."""

    blocks: frozenset[str]
    biomes: frozenset[str]


def survey(biome: str | None, seeds: Iterable[int]) -> Landscape:
    """Generate the land around the centre of one world for each seed, and return the blocks and biomes that occur."""
    seen, places = np.zeros(blocks.BLOCKS, np.bool_), set[int]()
    low, high = SIZE // 2 - REACH * CHUNK, SIZE // 2 + REACH * CHUNK
    for seed in seeds:
        world = generate(seed, biome)
        ensure(world, SIZE // 2, SIZE // 2, REACH)
        for x in range(low, high):
            seen[world.blocks[x, :, low:high]] = True
        places |= set(np.unique(world.biome[low:high, low:high]).tolist())
    return Landscape(
        frozenset(blocks.KEYS[n] for n in np.flatnonzero(seen)), frozenset(biomes.NAMES[n] for n in places)
    )


def natural_mobs(landscape: Landscape) -> frozenset[str]:
    """Return the mobs that spawn by themselves: monsters in the dark, and animals on grass of a suitable biome."""
    grass = blocks.KEYS[blocks.GRASS] in landscape.blocks
    animals = grass and not all(NO_ANIMALS[biomes.ID[biome]] for biome in landscape.biomes)
    return frozenset(k.name for k in mob_kinds.TABLE if k.weight > 0 and (k.monster or animals))


class Judge:
    """Decides for each task what the world lacks.

    :param landscape: a function that returns the landscape of a biome, or, for None, of a world of many biomes.
    """

    def __init__(self, landscape: Callable[[str | None], Landscape]) -> None:
        self._landscape = cache(landscape)
        self._known: dict[Any, dict[Node, frozenset[Lack]]] = {}
        self._ways: dict[Any, dict[Node, Rule | None]] = {}

    def lacks(self, task: Mapping[str, Any]) -> tuple[Lack, ...]:
        """Return what the world lacks for a task, sorted; nothing if the world has everything.

        :param task: MineDojo's specification of the task, as plain data.
        :raises ValueError: the kind of task is unknown, or ``minedojo_sources.csv`` lacks the source of an item.
        """
        if task["__cls__"] not in GOALS:
            raise ValueError(f"{task['__cls__']!r} is no kind of task; valid: {', '.join(GOALS)}")
        found: set[Lack] = set()
        biome = task.get("specified_biome")
        if biome is not None and biome not in biomes.ID:
            found.add(Lack("dimension" if biome in BIOMES else "biome", biome))
        found |= {Lack("mob", mob) for mob in listed(task.get("initial_mobs")) if mob not in mob_kinds.ID}
        found |= {Lack("item", name) for name in inventory(task).values() if name not in items.ID}
        if (key := _start(task)) not in self._known:
            self._known[key] = resolve(*self._given(key))
        return tuple(sorted(found | GOALS[task["__cls__"]](task, self._known[key])))

    def ways(self, task: Mapping[str, Any]) -> Mapping[Node, Rule | None]:
        """Return the way of least effort to each node that a player of the task can get (:func:`ways`)."""
        if (key := _start(task)) not in self._ways:
            self._ways[key] = ways(*self._given(key))
        return self._ways[key]

    def _given(self, start: Start) -> tuple[tuple[Rule, ...], tuple[Node, ...]]:
        """Return the rules of the task's world, and the nodes that are given at the start."""
        everywhere = self._landscape(None)
        land = everywhere if start.biome is None else Landscape(frozenset(), frozenset())
        if start.biome in biomes.ID:
            land = self._landscape(start.biome)
        wild = natural_mobs(land) if start.spawns else frozenset()
        elsewhere = (
            Rule(Node("block", key), (), Lack("biome", f"{key} in {start.biome}"))
            for key in sorted(everywhere.blocks - land.blocks)
        )
        given = (
            *(Node("block", key) for key in sorted(land.blocks)),
            *(Node("mob", name) for name in mob_kinds.ID if name in wild or name in start.has),
            *(Node("held", name) for name in sorted(start.has)),
        )
        return (*rules(), *elsewhere), given


class Start(NamedTuple):
    """The start of a task.

    :ivar spawns: whether mobs spawn by themselves.
    :ivar has: the names of the items in the inventory, and of the mobs around the player.
    """

    biome: str | None
    spawns: bool
    has: frozenset[str]


def _start(task: Mapping[str, Any]) -> Start:
    mobs = frozenset(listed(task.get("initial_mobs"))) & frozenset(mob_kinds.ID)
    has = frozenset(inventory(task).values()) | mobs
    return Start(task.get("specified_biome"), bool(task.get("allow_mob_spawn", True)), has)


def inventory(task: Mapping[str, Any]) -> dict[str, str]:
    """Return the slots of the initial inventory, each with the name of its item."""
    return {slot: stack["name"] for slot, stack in (task.get("initial_inventory") or {}).items()}


def listed(names: str | list[str] | None) -> list[str]:
    """Return one or several names as a list."""
    return [names] if isinstance(names, str) else list(names or ())


def _obtain(name: str, known: Mapping[Node, frozenset[Lack]]) -> frozenset[Lack]:
    found = [lacks for node, lacks in known.items() if node.kind == "item" and node.name == name]
    if not found:
        raise ValueError(f"no rule gives {name}; add a row for it or for its ingredients to {SOURCES.name}")
    return min(found, key=len)


def _harvest(task: Mapping[str, Any], known: Mapping[Node, frozenset[Lack]]) -> frozenset[Lack]:
    """The player must have more of each target item than at the start."""
    return frozenset().union(*(_obtain(name, known) for name in listed(task["target_names"])))


def _combat(task: Mapping[str, Any], known: Mapping[Node, frozenset[Lack]]) -> frozenset[Lack]:
    """The player must kill each target mob, and the statistics must count the kill."""
    targets = listed(task["target_names"])
    absent = {Lack("mob", name) for name in targets if known.get(Node("mob", name), {name})}
    return frozenset(absent | {Lack("statistic", f"kill {name}") for name in targets if name not in ENTITIES})


def _techtree(task: Mapping[str, Any], known: Mapping[Node, frozenset[Lack]]) -> frozenset[Lack]:
    """The player must obtain an item, and the statistics must count its use."""
    name = task["tech_item"]
    number = items.ID[name]
    counted = items.TOOL_CLASS[number] > 0 or items.FOOD[number] > 0 or items.DRINK[number] > 0
    counted = counted or number in blocks.ITEM_OF
    what = f"a count of the use of {'armour' if name in WORN else name}"
    use = frozenset() if counted else frozenset((Lack("not in the game" if name in NEVER_USED else "use", what),))
    return _obtain(name, known) | use


def _survival(task: Mapping[str, Any], known: Mapping[Node, frozenset[Lack]]) -> frozenset[Lack]:
    """The player must find food, and the statistics must count the time since death."""
    meals = (Node("item", items.NAMES[n]) for n in np.flatnonzero(items.FOOD > 0))
    food = min((known[meal] for meal in meals if meal in known), key=len)
    uncounted = frozenset(() if "time_since_death" in TOTALS else (Lack("statistic", "time_since_death"),))
    return food | uncounted


GOALS = {"harvest": _harvest, "combat": _combat, "techtree": _techtree, "survival": _survival}
"""MineDojo's kind of task -> function that returns what is lacking for the goal of such a task."""
