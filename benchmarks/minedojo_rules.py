"""The rules by which a player of voxeldojo, the embedded Minecraft world, gets items, blocks and workplaces.

The rules follow from the world's tables: a block drops items for a suitable tool, a mob drops loot, a recipe needs its
ingredients and its place. For an item without a source in the world, ``minedojo_sources.csv`` names the source in the
game.

The rules count no quantities: an obtainable item counts as obtainable any number of times. An item of the initial
inventory serves as a tool, a workplace, fuel or a container, but never as an ingredient.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from voxeldojo.names import CRAFTS, craft_place
from voxeldojo.world import blocks, crops, farming, interact, items, loot, mob_kinds, mobs, place
from voxeldojo.world.inventory import ANY
from voxeldojo.world.recipes import RECIPES, Recipe

SOURCES = Path(__file__).with_name("minedojo_sources.csv")
WHITE = 0
"""The variant of wool that the rules give to sheep. Other colours are rarer, and no task needs them."""

RARE, FIGHT, FIND = 200, 3, 5
"""Efforts of a rare drop, of a fight, and of finding a block that is not everywhere, beside that of one block or
craft."""
EVERYWHERE = frozenset(("log", "leaves", "grass", "dirt", "stone", "sand", "gravel", "water"))


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
