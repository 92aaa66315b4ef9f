"""Lists the things that agents can look for, with their names for agents and their names in MineDojo's lidar and
voxels.

MineDojo names blocks by the game's English names in lower case ("wood" is the block of the item ``log``), and entities
by their class without ``Entity`` (MineDojo 0.1, ``JSONWorldDataHelper.java``, ``getLocalizedName().toLowerCase()``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rlgpt.errors import UnknownNameError


@dataclass(frozen=True)
class Thing:
    """A thing to look for.

    :ivar label: the thing's name in the texts that a language model reads.
    :ivar seen_as: the thing's name in MineDojo's observations.
    """

    name: str
    label: str
    kind: Literal["block", "entity"]
    seen_as: str


def _block(name: str, seen_as: str = "", label: str = "") -> Thing:
    seen_as = seen_as or name.replace("_", " ")
    return Thing(name, label or f"block of {seen_as}", "block", seen_as)


def _entity(name: str, seen_as: str = "", label: str = "") -> Thing:
    return Thing(name, label or name, "entity", seen_as or name)


MOBS = (
    *("cow", "sheep", "pig", "chicken", "zombie"),
    *("spider", "husk", "wolf", "horse", "donkey", "rabbit", "llama", "skeleton"),
    *("creeper", "enderman", "bat", "witch"),
)
"""Names of the mobs, which are also their names in MineDojo's observations."""
_ALL = (
    _block("log", "wood", "log of a tree"),
    _block("leaves", label="leaves of a tree"),
    _block("dirt"),
    _block("sand"),
    _block("gravel"),
    _block("clay"),
    _block("stone"),
    *(_block(f"{kind}_ore", label=f"{kind} ore") for kind in ("coal", "iron", "gold", "redstone", "diamond")),
    _block("crafting_table", label="crafting table"),
    _block("furnace", label="furnace"),
    *(_block(name) for name in ("emerald_ore", "obsidian", "cactus", "pumpkin", "melon", "mushroom", "flower")),
    *(_block(name) for name in ("grass", "grass_block", "farmland", "crops", "dead_bush", "sugar_cane", "snow", "ice")),
    _block("water", label="water"),
    _block("lava", label="lava"),
    *(_entity(name) for name in MOBS),
    _entity("drop", "item", "item lying on the ground"),
)

FLUIDS = frozenset(("water", "lava"))
"""Names of things that can be seen but not aimed at."""

THINGS = {thing.name: thing for thing in _ALL}
"""Name -> thing."""


def things(names: Sequence[str]) -> tuple[Thing, ...]:
    """Return the things that have these names, in the order of the names.

    :raises UnknownNameError: a name is unknown.
    """
    for name in names:
        if name not in THINGS:
            raise UnknownNameError("thing", name, THINGS)
    return tuple(THINGS[name] for name in names)
