"""Writes facts about items, blocks and mobs for the prompts of MineDojo's own tasks. The facts come from the tables of
the embedded world. For the listed tasks, the pages in the folder ``knowledge`` have these facts.
"""

from __future__ import annotations

from collections.abc import Iterator

from voxeldojo.names import craft_place
from voxeldojo.world import blocks, items
from voxeldojo.world.blocks import Block, Drop
from voxeldojo.world.mob_kinds import ID as MOBS
from voxeldojo.world.mob_kinds import TABLE, Kind
from voxeldojo.world.recipes import RECIPES, Recipe

from rlgpt_minecraft.tasks import Spec
from rlgpt_minecraft.things import THINGS

_BEHAVIOUR = {
    "creeper": "swells for 30 ticks within 3 m of the player, and explodes",
    "skeleton": "shoots an arrow every 60 ticks from up to 15 m",
    "enderman": "teleports, and also hunts who looks at its head",
    "witch": "throws harmful potions from up to 10 m, and drinks healing ones",
}
_PLACES = {"hand": "By hand", "table": "At a crafting table", "furnace": "In a furnace"}
_TIERS = ("", "a stone", "an iron", "a diamond")
"""The weakest material of a tool, by the level of a block."""


def facts(spec: Spec) -> str:
    """Return the sources of the items of a task, the mobs that it looks for, and the strength of its weapons."""
    sources = dict.fromkeys(said for item in spec.path for said in (*_made(item, spec), *_dropped(item, spec)))
    mobs = [TABLE[MOBS[name] - 1] for name in spec.sights if name in MOBS]
    weapons = [
        f"{name} {items.DAMAGE[number]:g} ({items.ATTACK_SPEED[number]:g} times a second)"
        for name in spec.carried
        if items.DAMAGE[number := items.ID[name]] > 1
    ]
    said = [f"Sources. {' '.join(sources)}"] if sources else []
    if mobs:
        said.append(f"Mobs (life and blows in half hearts; the player has 20). {' '.join(map(_mob, mobs))}")
        carried = f" of {', '.join(weapons)}; the bare hand has 1" if weapons else " of the bare hand is 1"
        said.append(f"The damage of a blow at full strength{carried}.")
    return "\n".join(said)


def _made(item: str, spec: Spec) -> Iterator[str]:
    if item not in spec.makeable:
        return
    place, known = craft_place(item), {*spec.path, *spec.carried}
    for recipe in RECIPES:
        parts = {items.NAMES[part.item] for part in recipe.ingredients}
        if items.NAMES[recipe.item] == item and recipe.smelted == (place == "furnace") and parts <= known:
            yield f"{_PLACES[place]}: {_ingredients(recipe)} = {recipe.quantity} {item}."
            return


def _ingredients(recipe: Recipe) -> str:
    return " + ".join(f"{part.quantity} {items.NAMES[part.item]}" for part in recipe.ingredients)


def _dropped(item: str, spec: Spec) -> Iterator[str]:
    seen = {THINGS[name].seen_as for name in spec.sights}
    for block in blocks.TABLE:
        if block.name in seen:
            for drop in (*((block.drop,) if block.drop else ()), *block.rare):
                if drop.item == item and drop.most:
                    yield _drop(block, drop)
    for kind in TABLE:
        if kind.name in spec.sights:
            for part in kind.loot:
                if items.NAMES[part.item] == item:
                    yield f"A killed {kind.name} drops {_range(part.least, part.most)} {item}."
    if item == "egg":
        yield "A chicken lays an egg every five to ten minutes (6,000 to 12,000 ticks)."


def _drop(block: Block, drop: Drop) -> str:
    chance = f" with probability {drop.chance:g}" if drop.chance < 1 else ""
    tool = "" if block.tool_free else f" if it is broken with {_tool(block)}"
    return f"A block of {block.name} drops {_range(drop.least, drop.most)} {drop.item}{chance}{tool}."


def _tool(block: Block) -> str:
    return f"{_TIERS[block.level]} {block.tool} or a better one" if block.level > 0 else f"a {block.tool}"


def _mob(kind: Kind) -> str:
    size = f"{2 * kind.half:.1f} m wide, {kind.tall:g} m high"
    if kind.neutral:
        does = "hunts a player who hurt it"
    elif kind.sight:
        does = f"hunts a player within {kind.sight:g} m"
    else:
        does = "flees when it is hurt" if kind.flees else "flies"
    blow = f", its blow takes {kind.attack:g}" if kind.attack else ""
    more = f", {_BEHAVIOUR[kind.name]}" if kind.name in _BEHAVIOUR else ""
    return f"{kind.name}: {kind.life:g} of life, {size}, {does}{blow}{more}."


def _range(least: int, most: int) -> str:
    return str(most) if least == most else f"{least} to {most}"
