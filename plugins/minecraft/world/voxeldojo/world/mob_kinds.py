"""The kinds of mobs from ``data/mobs.csv``, as a table for Python code and as arrays for kernels (compiled functions).
The index of an array is the kind's id.

A new kind is a new row of the table. The constants at the end of ``mob_kinds.py`` select further behaviour in
``mobs.py``, ``interact.py`` and ``spawn.py``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voxeldojo.names import rows
from voxeldojo.world.items import ID as ITEM


class Loot(NamedTuple):
    """A drop of a mob. A mob drops a uniformly distributed quantity, from ``least`` to ``most``, of ``item``; a burning
    mob drops the item ``cooked`` instead.
    """

    item: int
    cooked: int
    least: int
    most: int


class Kind(NamedTuple):
    """One kind of mob.

    :ivar half: half the width of the mob's box in blocks.
    :ivar tall: the height of the mob's box in blocks.
    :ivar eyes: the height of the mob's eyes above its feet in blocks.
    :ivar life: the initial health of the mob in half hearts.
    :ivar armor: the mob's armour points.
    :ivar speed: the game's attribute for the mob's walking speed.
    :ivar flees: the factor by which the mob's speed changes after a damage; 0 means that the mob does not flee.
    :ivar sight: the maximal distance in blocks at which the mob follows the player; 0 means that the mob never follows
        the player.
    :ivar burns: whether the mob burns in sunlight.
    :ivar attack: the damage of the mob's attack in half hearts.
    :ivar weight: how often the kind spawns, relative to other kinds.
    :ivar group: the number of mobs in a spawned group.
    :ivar rare: the rare drops; a killed mob can leave one of them in addition to its other drops.
    :ivar xp: the minimal and maximal experience that the player gets for killing the mob.
    """

    name: str
    half: float
    tall: float
    eyes: float
    life: float
    armor: float
    speed: float
    flees: float
    sight: float
    burns: bool
    attack: float
    weight: int
    group: int
    loot: tuple[Loot, ...]
    rare: tuple[int, ...]
    xp: tuple[int, int]


def _loot(text: str) -> Loot:
    what, counts = text.split("*")
    item, _, cooked = what.partition(">")
    least, most = counts.split("-")
    return Loot(ITEM[item], ITEM[cooked or item], int(least), int(most))


def _kind(row: dict[str, str]) -> Kind:
    least, most = row["xp"].split("-")
    return Kind(
        name=row["name"],
        half=float(row["half"]),
        tall=float(row["tall"]),
        eyes=float(row["eyes"]),
        life=float(row["life"]),
        armor=float(row["armor"]),
        speed=float(row["speed"]),
        flees=float(row["flees"]),
        sight=float(row["sight"]),
        burns=row["burns"] == "1",
        attack=float(row["attack"]),
        weight=int(row["weight"]),
        group=int(row["group"]),
        loot=tuple(_loot(text) for text in row["drops"].split()),
        rare=tuple(ITEM[name] for name in row["rare"].split()),
        xp=(int(least), int(most)),
    )


TABLE: Final = tuple(_kind(row) for row in rows("mobs.csv"))
"""Every kind; its index is its id minus 1."""
NAMES: Final = ("", *(kind.name for kind in TABLE))
"""Names by id; 0 means that there is no mob."""
ID: Final = {name: index for index, name in enumerate(NAMES) if name}


def _floats(name: str) -> NDArray[np.float64]:
    return np.array([0.0, *(getattr(kind, name) for kind in TABLE)])


HALF, TALL, EYES, LIFE, ARMOR, SPEED, FLEES, SIGHT, ATTACK = (
    _floats(name) for name in ("half", "tall", "eyes", "life", "armor", "speed", "flees", "sight", "attack")
)
BURNS = np.array([False, *(kind.burns for kind in TABLE)])
XP = np.array([(0, 0), *(kind.xp for kind in TABLE)])
WEIGHT, GROUP = (np.array([0, *(getattr(kind, name) for kind in TABLE)]) for name in ("weight", "group"))
LOOT = np.zeros((len(NAMES), max(len(kind.loot) for kind in TABLE), 4), np.int64)
"""By kind: item, item if the mob burns, minimum, maximum; padded with zeros."""
RARE = np.zeros((len(NAMES), max(len(kind.rare) for kind in TABLE)), np.int64)
"""By kind: items of which one can drop in addition; padded with zeros."""
for _id, _row in enumerate(TABLE, start=1):
    LOOT[_id, : len(_row.loot)] = _row.loot
    RARE[_id, : len(_row.rare)] = _row.rare
for _array in (HALF, TALL, EYES, LIFE, ARMOR, SPEED, FLEES, SIGHT, ATTACK, BURNS, XP, WEIGHT, GROUP, LOOT, RARE):
    _array.flags.writeable = False

COW, SHEEP, CHICKEN = ID["cow"], ID["sheep"], ID["chicken"]
"""Cows give milk. Sheep give wool, have a colour and eat grass. Chickens lay eggs, flutter and take no fall damage."""
