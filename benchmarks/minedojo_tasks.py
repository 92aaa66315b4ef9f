"""Writes MineDojo's programmatic tasks, as tasks of the Minecraft plugin.

MineDojo states the target, the biome and the start of a task. The plugin also needs what a player makes, looks for and
places on the way to the target. Both follow from the way of least effort (``minedojo_rules.ways``).
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from minedojo_needs import Judge, inventory, listed
from minedojo_rules import Node, Rule
from rlgpt_minecraft.suite import COLUMNS
from rlgpt_minecraft.tasks import SPECS
from rlgpt_minecraft.things import FLUIDS, THINGS
from voxeldojo.names import EQUIPMENT_SLOTS, PLACEABLE
from voxeldojo.world import blocks, items
from voxeldojo.world.blocks import ITEM_OF
from voxeldojo.world.constants import SMELT_TICKS
from voxeldojo.world.voxels import NAMES

HEAD = """\
# MineDojo 0.1 (MIT licence), tasks/description_files: the programmatic tasks for which the embedded world has
# everything. Written by `python benchmarks/minedojo_suite.py --tasks`.
"""
SURVIVAL = "survival"
"""The kind of MineDojo's two tasks in which the player must live for many days. The plugin does not have them."""
NIGHT, MIDNIGHT = 13_000, 18_000
"""Start times of MineDojo's combat tasks at night (``CombatMeta``), ticks."""
SHORT, LONG, LONGER, GROWTH = 3_000, 10_000, 12_000, 72_000
"""Horizons in steps: those of Plan4MC for short and long tasks, that of DEPS if an iron tool is needed, and one hour at
20 steps a second if a crop must grow.
"""
MINERAL = frozenset(("stone", "iron", "diamond"))
"""Materials of tools. A task that needs a tool of one of these materials, an ore, or something smelted, is long."""
_WORKPLACES = frozenset(("crafting_table", "furnace"))
_KNOWN = {thing.seen_as: name for name, thing in THINGS.items() if thing.kind == "block"}


def rows(tasks: Iterable[Mapping[str, Any]], judge: Judge) -> Iterator[dict[str, str]]:
    """Yield a row for each task for which the world has everything. The plugin's listed tasks are left out.

    :param tasks: MineDojo's specifications, as plain data.
    """
    for task in tasks:
        if task["__cls__"] != SURVIVAL and task["id"] not in SPECS and not judge.lacks(task):
            yield row(task, judge.ways(task))


def table(tasks: Iterable[Mapping[str, Any]], judge: Judge) -> str:
    """Return the rows of all tasks as text."""
    text = io.StringIO()
    text.write(HEAD)
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(rows(tasks, judge), key=lambda entry: entry["id"]))
    return text.getvalue()


def row(task: Mapping[str, Any], ways: Mapping[Node, Rule | None]) -> dict[str, str]:
    """Return the row of a task.

    :raises ValueError: there is no way to the target.
    """
    kind = {"harvest": "item", "combat": "kill", "techtree": "use"}[task["__cls__"]]
    (target,) = listed(task.get("target_names") or task["tech_item"])
    quantity = int(task.get("target_quantities", 1))
    nodes = _on_the_way(_goal(kind, target, ways), ways)
    held = tuple(inventory(task).values())
    mobs = listed(task.get("initial_mobs"))
    made = {node: rule for node in nodes if (rule := ways[node]) is not None and node.kind == "item"}
    path = _names(made)
    crafts = _names(node for node, rule in made.items() if rule.recipe and not rule.recipe.smelted)
    smelts = _names(node for node, rule in made.items() if rule.recipe and rule.recipe.smelted)
    places, equips = _placed(nodes, ways), _held(nodes, ways)
    if kind == "use" and items.ID[target] in ITEM_OF:
        places = (*places, target)
    elif kind == "use":
        equips = (*equips, target)
    mobs_and_blocks = (
        *(n.name for n in nodes if n.kind == "mob"),
        *(_thing(n.name) for n in nodes if n.kind == "block"),
    )
    seek = tuple(name for name in dict.fromkeys(mobs_and_blocks) if name not in _WORKPLACES)
    spawns = bool(task.get("allow_mob_spawn", True))
    night = bool(task.get("start_at_night", False))
    mining = any(name.endswith("_pickaxe") for name in (*equips, *held))
    sights = (*seek, *(("leaves",) if "log" in seek else ()), *(p for p in places if p in _WORKPLACES))
    sights += (*(("zombie",) if spawns and (mining or night) else ()), "drop", "water", *(("lava",) if mining else ()))
    grows = any((rule := ways[n]) is not None and _soil(rule) for n in nodes if n.kind == "block")
    stacks = (task.get("initial_inventory") or {}).items()
    return {
        "id": task["id"],
        "goal": f"{task['prompt'][0].upper()}{task['prompt'][1:]}.",
        "kind": kind,
        "target": target,
        "quantity": str(quantity),
        "horizon": str(_horizon(path, seek, smelts, grows)),
        "biome": task.get("specified_biome") or "",
        "time": str(MIDNIGHT if task.get("always_night") else NIGHT if night else 0),
        "time_passes": str(int(not task.get("always_night", False))),
        "mobs_spawn": str(int(spawns)),
        "inventory": " ".join(f"{_slot(slot)}:{stack['name']}:{stack.get('quantity', 1)}" for slot, stack in stacks),
        "mobs": " ".join(mobs),
        "spread": str(int(task["initial_mob_spawn_range_high"][0]) if mobs else 0),
        "path": " ".join(path),
        "crafts": " ".join(crafts),
        "smelts": " ".join(smelts),
        "places": " ".join(dict.fromkeys(places)),
        "equips": " ".join(dict.fromkeys(equips)),
        "sights": " ".join(dict.fromkeys(sights)),
        "seek": " ".join(name for name in seek if name not in FLUIDS),
        "needs": " ".join(f"{name}:{count}" for name, count in _needed(nodes, ways, quantity).items() if count > 1),
    }


def _goal(kind: str, target: str, ways: Mapping[Node, Rule | None]) -> Node:
    if kind == "kill":
        return Node("mob", target)
    found = [node for node in ways if node.kind == "item" and node.name == target]
    if not found:
        raise ValueError(f"there is no way to {target}")
    return min(found, key=lambda node: len(_on_the_way(node, ways)))


def _on_the_way(goal: Node, ways: Mapping[Node, Rule | None]) -> list[Node]:
    """Return everything that the way to ``goal`` needs, each thing after what it needs itself."""
    found: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node not in found:
            rule = ways[node]
            for (need,) in () if rule is None else rule.needs:
                visit(need)
            found[node] = None

    visit(goal)
    return list(found)


def _names(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(node.name for node in nodes))


def _placed(nodes: Iterable[Node], ways: Mapping[Node, Rule | None]) -> tuple[str, ...]:
    """The workplaces and other blocks to place."""
    found = []
    for node in nodes:
        rule = ways[node]
        if rule is not None and node.kind == "near":
            found.append(node.name)
        if rule is not None and node.kind == "block":
            found += [need.name for (need,) in rule.needs if need.kind == "item" and need.name in PLACEABLE]
    return tuple(found)


def _held(nodes: Iterable[Node], ways: Mapping[Node, Rule | None]) -> tuple[str, ...]:
    """The tools, containers and seeds to take into the hand. Fuel and workplaces are no such items."""
    rules = ((node, ways[node]) for node in nodes)
    uses = [(n, rule.needs) for n, rule in rules if rule is not None and rule.recipe is None and n.kind != "near"]
    return tuple(
        need.name
        for node, needs in uses
        for (need,) in needs
        if need.kind == "held" or (node.kind == "block" and need.kind == "item" and need.name not in PLACEABLE)
    )


def _soil(rule: Rule) -> bool:
    return any(need.kind == "block" and need.name == blocks.KEYS[blocks.FARMLAND] for (need,) in rule.needs)


def _thing(key: str) -> str:
    """Return the name of the thing to look for that a block is.

    :raises ValueError: a player cannot look for the block, because ``rlgpt_minecraft.things`` lacks it.
    """
    seen = str(NAMES[blocks.KEYS.index(key)])
    if seen not in _KNOWN:
        raise ValueError(f"rlgpt_minecraft.things has no block that is seen as {seen!r}")
    return _KNOWN[seen]


def _slot(slot: str) -> int:
    return EQUIPMENT_SLOTS[slot] if slot in EQUIPMENT_SLOTS else int(slot)


def _horizon(path: tuple[str, ...], seek: tuple[str, ...], smelts: tuple[str, ...], grows: bool) -> int:
    if grows:
        return GROWTH
    tools = {name.partition("_")[0] for name in path if name in items.ID and items.TOOL_CLASS[items.ID[name]] > 0}
    if "iron" in tools or "diamond" in tools:
        return LONGER
    return LONG if smelts or tools & MINERAL or any(name.endswith("_ore") for name in seek) else SHORT


def _needed(nodes: list[Node], ways: Mapping[Node, Rule | None], quantity: int) -> dict[str, int]:
    """Return how many of each item the way needs."""
    wanted: Counter[Node] = Counter({nodes[-1]: quantity})
    for node in reversed(nodes):
        rule = ways[node]
        if rule is None:
            continue
        for (need,), count in zip(rule.needs, _counts(node, rule, wanted[node]), strict=True):
            wanted[need] = wanted[need] + count if need.kind == "item" else max(wanted[need], count)
    return {node.name: wanted[node] for node in nodes if node.kind == "item" and ways[node] is not None}


def _counts(node: Node, rule: Rule, count: int) -> Iterator[int]:
    """Yield how many of each need it takes to get ``count`` of a node."""
    recipe = rule.recipe
    if recipe is None:
        yield from (count if need.kind == "item" else 1 for (need,) in rule.needs)
        return
    times = math.ceil(count / recipe.quantity)
    yield from (times * part.quantity for part in recipe.ingredients)
    for (need,) in rule.needs[len(recipe.ingredients) :]:
        burns = int(items.FUEL[items.ID[need.name]]) if recipe.smelted and need.kind == "held" else 0
        yield math.ceil(SMELT_TICKS * times / burns) if burns else 1
