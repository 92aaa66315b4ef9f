"""Reads MineDojo's names of items, crafts, biomes and statistics.

The names are those of MineDojo 0.1 and Minecraft 1.11.2. This module reads the names from ``data/*_names.csv``; the
first line of each file names its source. In this package, the words of an item's name are joined by underscores
(``milk_bucket``); in observations, they are separated by spaces (``spaced``).
"""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Final, Literal

Where = Literal["hand", "table", "furnace"]


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of ``data/NAME``. Lines of the file that begin with ``#`` are comments."""
    text = files("voxeldojo").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def spaced(name: str) -> str:
    """Return an item's name in the form of observations, with spaces."""
    return name.replace("_", " ")


_ITEMS = rows("item_names.csv")
_CRAFTS = rows("craft_names.csv")
_STATS = rows("stat_names.csv")

ITEMS: Final = tuple(row["name"] for row in _ITEMS)
"""Every item including "air", sorted: MineDojo's ``ALL_ITEMS``."""
PLACEABLE: Final = frozenset(row["name"] for row in _ITEMS if row["placeable"] == "1")
"""Items whose slots the mask of ``place`` allows."""
WORN: Final = {row["name"]: row["slot"] for row in _ITEMS if row["slot"] != "mainhand"}
"""Wearable item -> its slot (``head``, ``chest``, ``legs``, ``feet``, ``offhand``). All other items go to the hand."""
CRAFTS: Final = tuple(row["name"] for row in _CRAFTS)
"""The choices of head 6 of the action, in order: crafted by hand, at a table, in a furnace."""
HAND, TABLE, FURNACE = (
    frozenset(row["name"] for row in _CRAFTS if row["where"] == where) for where in ("hand", "table", "furnace")
)
BIOMES: Final = {row["name"]: int(row["id"]) for row in rows("biome_names.csv")}
"""Biome -> the game's id."""
STATS, ACHIEVEMENTS, ENTITIES = (
    tuple(row["name"] for row in _STATS if row["group"] == group) for group in ("stat", "achievement", "kill_entity")
)
INVENTORY: Final = 36
"""Number of slots of ``inventory``: the hotbar (0 to 8, the hand first) and the rest."""
EQUIPMENT: Final = (0, 36, 37, 38, 39, 40)
"""Slots of ``equipment``: hand, feet, legs, chest, head, off hand."""
EQUIPMENT_SLOTS: Final = {"mainhand": 0, "offhand": 40, "head": 39, "chest": 38, "legs": 37, "feet": 36}
"""Names of slots in the initial inventory of a task."""


def craft_place(craft: str) -> Where:
    """Return the place (hand, table or furnace) at which an item of ``CRAFTS`` is crafted."""
    return "hand" if craft in HAND else "table" if craft in TABLE else "furnace"
