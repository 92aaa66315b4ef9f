"""Decides whether voxeldojo, the embedded Minecraft world, has everything that a programmatic task of MineDojo needs.

The decision reads MineDojo's specification of the task and the tables of voxeldojo: blocks, drops, mobs, recipes and
biomes. A survey of generated land gives the blocks of a landscape. From these, rules derive what a player can obtain:
a block drops items for a suitable tool, a mob drops loot, a recipe needs its ingredients and its place. For an item
without a source in the world, ``minedojo_sources.csv`` names the source in the game.

The rules count no quantities: an obtainable item counts as obtainable any number of times. An item of the initial
inventory serves as a tool, a workplace, fuel or a container, but never as an ingredient.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from voxeldojo.names import BIOMES, CRAFTS, ENTITIES, WORN, craft_place
from voxeldojo.stats import TOTALS
from voxeldojo.world import biomes, blocks, crops, farming, interact, items, loot, mob_kinds, mobs, place
from voxeldojo.world.chunks import ensure, generate
from voxeldojo.world.inventory import ANY
from voxeldojo.world.recipes import RECIPES, Recipe
from voxeldojo.world.spawn import NO_ANIMALS
from voxeldojo.world.state import CHUNK, SIZE

SOURCES = Path(__file__).with_name("minedojo_sources.csv")
NEVER_USED = frozenset(("clock", "compass", *(name for name in WORN if items.ARMOR[items.ID[name]] > 0)))
"""Items whose use the game never counts, as the code of 1.10 and of 1.12 shows, which 1.11.2 lies between.
``ItemStack.onItemUse``, ``hitEntity`` and ``onBlockDestroyed`` count a use, which armour, clocks and compasses do not
have. Neither ``ItemArmor.onItemRightClick`` (the use key with armour in the hand) nor MineDojo's action ``equip``
(``EquipCommandsImplementation`` of MineDojo 0.1) counts one: both only move the armour to its slot.
"""
WHITE = 0
"""The variant of wool that the rules give to sheep. Other colours are rarer, and no task needs them."""


RARE, FIGHT, FIND = 200, 3, 5
"""Efforts of a rare drop, of a fight, and of finding a block that is not everywhere, beside that of one block or
craft."""
EVERYWHERE = frozenset(("log", "leaves", "grass", "dirt", "stone", "sand", "gravel", "water"))
REACH = 8
"""Half the side of the surveyed square, in chunks."""


class Lack(NamedTuple):
    """Something that the world lacks.

    :ivar cause: the kind of thing, such as ``mob``, ``dimension`` or ``mechanic``. With ``not in the game``, the game
        that MineDojo runs lacks it, too.
    :ivar what: the thing, such as ``spider``.
    """

    cause: str
    what: str

    def __str__(self) -> str:
        return f"{self.cause}: {self.what}"


class Node(NamedTuple):
    """Something that a player can have or use: an ``item``, a ``held`` item (a tool, fuel or container, possibly of the
    initial inventory), a ``block`` in the land, a ``mob``, or a workplace that is ``near``.
    """

    kind: str
    name: str
    variant: int = 0


class Rule(NamedTuple):
    """A way to get ``product``. Each entry of ``needs`` is a tuple of alternatives. The rule also needs ``lack``, which
    the world does not have, unless ``lack`` is None. A rule of a recipe names the recipe. ``effort`` is the effort of
    the rule without that of its needs; of several ways, the one with the least effort is chosen.
    """

    product: Node
    needs: tuple[tuple[Node, ...], ...]
    lack: Lack | None = None
    recipe: Recipe | None = None
    effort: int = 1


FARMLAND = Node("block", blocks.KEYS[blocks.FARMLAND])


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


def _held_tools(tool: str, level: int = -1) -> tuple[Node, ...]:
    kinds = zip(items.NAMES, items.TOOL_CLASS, items.TOOL_LEVEL, strict=True)
    kind = items.TOOLS.index(tool)
    return tuple(Node("held", name) for name, own, tier in kinds if own == kind and tier >= level)


def _block_rules() -> Iterator[Rule]:
    """Broken blocks drop items, and placed items become blocks."""
    for number, block in enumerate(blocks.TABLE):
        here = (Node("block", block.key),)
        if block.item:
            soil = ((FARMLAND,),) if block.on == FARMLAND.name else ()
            yield Rule(here[0], ((Node("item", block.item, block.variant),), *soil))
        if block.hardness < 0 or block.liquid:
            continue
        tool = () if block.tool_free else (_held_tools(block.tool, block.level) if block.tool != "none" else (),)
        if block.drop and block.drop.most:
            yield Rule(Node("item", block.drop.item, block.drop.variant), (here, *tool))
        for drop in block.rare:
            yield Rule(Node("item", drop.item, drop.variant), (here, *tool), effort=RARE)
        if loot.SHEARED[number]:
            yield Rule(Node("item", block.item, block.variant), (here, _held_tools("shears")))


def _farming_rules() -> Iterator[Rule]:
    """Hoes till the soil, and ripe crops give their produce."""
    for soil in np.flatnonzero(farming.TILLED):
        made = Node("block", blocks.KEYS[farming.TILLED[soil]])
        yield Rule(made, ((Node("block", blocks.KEYS[soil]),), _held_tools("hoe")))
    for crop in crops.TABLE:
        for item in (crop.crop, *(drop.item for drop in crop.rare)):
            yield Rule(Node("item", item), ((Node("block", crop.block),),))


def _mob_rules() -> Iterator[Rule]:
    """Killed mobs leave loot. Cows, sheep and chickens also give milk, wool and eggs."""
    for kind in mob_kinds.TABLE:
        mob = (Node("mob", kind.name),)
        for part in kind.loot:
            yield Rule(Node("item", items.NAMES[part.item]), (mob,), effort=FIGHT)
        for number in kind.rare:
            yield Rule(Node("item", items.NAMES[number]), (mob,), effort=RARE)
    cow, sheep, chicken = ((Node("mob", mob_kinds.NAMES[n]),) for n in (interact.COW, interact.SHEEP, mobs.CHICKEN))
    yield Rule(Node("item", items.NAMES[interact.MILK]), (cow, (Node("held", items.NAMES[interact.BUCKET]),)))
    yield Rule(Node("item", items.NAMES[interact.WOOL], WHITE), (sheep,))
    yield Rule(Node("item", items.NAMES[mobs.EGG]), (chicken,))


def _fluid_rules() -> Iterator[Rule]:
    """Buckets take and pour fluids. Water turns a source of lava into obsidian, and flowing lava into cobblestone."""
    bucket = (Node("held", items.NAMES[place.BUCKET]),)
    for fluid, full in ((blocks.WATER, place.WATER_BUCKET), (blocks.LAVA, place.LAVA_BUCKET)):
        block, name = Node("block", blocks.KEYS[fluid]), items.NAMES[full]
        yield Rule(Node("item", name), ((block,), bucket))
        yield Rule(block, ((Node("held", name),),))
    water, lava = (Node("block", blocks.KEYS[fluid]) for fluid in (blocks.WATER, blocks.LAVA))
    poured = (Node("held", items.NAMES[place.WATER_BUCKET]),)
    for stone in (blocks.OBSIDIAN, blocks.COBBLESTONE):
        yield Rule(Node("block", blocks.KEYS[stone]), ((water,), (lava,), poured))
    yield Rule(water, ((Node("block", blocks.KEYS[loot.ICE]),),))


def _workplaces() -> Iterator[Rule]:
    for key in ("crafting_table", "furnace"):
        yield Rule(Node("near", key), ((Node("held", key), Node("block", key)),))


def _recipe_rules(variants: Mapping[str, frozenset[int]]) -> Iterator[Rule]:
    """The crafts and smelts of MineDojo's action space, with their workplace and fuel."""
    fuel = tuple(Node("held", items.NAMES[n]) for n in np.flatnonzero(items.FUEL > 0))
    near = {"hand": (), "table": ((Node("near", "crafting_table"),),), "furnace": ((Node("near", "furnace"),),)}
    for name in CRAFTS:
        where = craft_place(name)
        for recipe in RECIPES:
            if items.NAMES[recipe.item] == name and _made_at(recipe, where):
                parts = (_alternatives(items.NAMES[p.item], p.variant, variants) for p in recipe.ingredients)
                heat = (fuel,) if recipe.smelted else ()
                yield Rule(Node("item", name, recipe.variant), (*parts, *near[where], *heat), recipe=recipe)


def _made_at(recipe: Recipe, where: str) -> bool:
    return recipe.variant == 0 and where != "table" if recipe.smelted else where != "furnace"


def _alternatives(name: str, variant: int, variants: Mapping[str, frozenset[int]]) -> tuple[Node, ...]:
    return tuple(Node("item", name, v) for v in (sorted(variants[name]) if variant == ANY else (variant,)))


def _game_rules() -> Iterator[Rule]:
    """The sources of the game that the world lacks, from ``minedojo_sources.csv``."""
    lines = (line for line in SOURCES.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    for row in csv.DictReader(lines):
        needs = ((Node("held", row["with"]),),) if row["with"] else ()
        yield Rule(Node("item", row["item"], int(row["variant"])), needs, Lack(row["cause"], row["what"]))


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules that hold in every landscape."""
    found = [*_block_rules(), *_farming_rules(), *_mob_rules(), *_fluid_rules(), *_workplaces(), *_game_rules()]
    made = {(items.NAMES[recipe.item], recipe.variant) for recipe in RECIPES}
    made |= {(rule.product.name, rule.product.variant) for rule in found if rule.product.kind == "item"}
    variants = {name: frozenset(v for n, v in made if n == name) for name in items.NAMES}
    held = (Rule(Node("held", name), (_alternatives(name, ANY, variants),)) for name in items.NAMES)
    return (*found, *held, *_recipe_rules(variants))


def resolve(rules: Iterable[Rule], given: Iterable[Node]) -> dict[Node, frozenset[Lack]]:
    """Return what is lacking for each node that the rules reach from ``given``. The set is empty if a player can get
    the node. Of several ways to a node, the set is that of a way with few lacks.
    """
    known: dict[Node, frozenset[Lack]] = dict.fromkeys(given, frozenset())
    ordered = [(rule.product, sorted(rule.needs, key=len), rule.lack) for rule in rules]
    changed = True
    while changed:
        changed = False
        for product, needs, lack in ordered:
            found = _least(needs, known, frozenset(() if lack is None else (lack,)))
            if found is not None and (product not in known or len(found) < len(known[product])):
                known[product], changed = found, True
    return known


def _least(
    needs: Iterable[tuple[Node, ...]], known: Mapping[Node, frozenset[Lack]], lacks: frozenset[Lack]
) -> frozenset[Lack] | None:
    """Return ``lacks`` with what is lacking for the needs, or None if a need has no known alternative. Of each need's
    alternatives, take the one that adds the fewest lacks.
    """
    for need in needs:
        ways = [lacks | known[node] for node in need if node in known]
        if not ways:
            return None
        lacks = min(ways, key=len)
    return lacks


def ways(rules: Iterable[Rule], given: Iterable[Node]) -> dict[Node, Rule | None]:
    """Return the way of least effort to each node that a player can get from ``given``, if the world lacks nothing for
    it. The way to a given node is None. A way that needs a node twice counts its effort twice.
    """
    effort = {node: FIND * (node.kind == "block" and node.name not in EVERYWHERE) for node in given}
    chosen: dict[Node, Rule | None] = dict.fromkeys(effort)
    ordered = [rule for rule in rules if rule.lack is None]
    changed = True
    while changed:
        changed = False
        for rule in ordered:
            parts = [min((effort[node] for node in need if node in effort), default=None) for need in rule.needs]
            known = [part for part in parts if part is not None]
            total = rule.effort + sum(known)
            if len(known) == len(parts) and total < effort.get(rule.product, total + 1):
                effort[rule.product], chosen[rule.product], changed = total, rule, True
    return {node: rule and _easiest(rule, effort) for node, rule in chosen.items()}


def _easiest(rule: Rule, effort: Mapping[Node, int]) -> Rule:
    """Return the rule with only the easiest alternative of each need."""
    easiest = (min((node for node in need if node in effort), key=effort.__getitem__) for need in rule.needs)
    return rule._replace(needs=tuple((node,) for node in easiest))


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
