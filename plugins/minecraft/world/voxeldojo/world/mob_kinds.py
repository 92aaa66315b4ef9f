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
from voxeldojo.world.constants import MELEE_REACH, STEP_HEIGHT
from voxeldojo.world.items import ID as ITEM


class Loot(NamedTuple):
    """A drop of a mob. A mob drops a uniformly distributed quantity, from ``least`` to ``most``, of ``item``; a burning
    mob drops the item ``cooked`` instead.

    :ivar odds: 0 for a drop of every death. Otherwise the mob leaves the drop only if the player killed the mob, with
        the probability ``1 / odds``.
    """

    item: int
    cooked: int
    least: int
    most: int
    odds: int


class Kind(NamedTuple):
    """One kind of mob.

    :ivar half: half the width of the mob's box in blocks.
    :ivar tall: the height of the mob's box in blocks.
    :ivar eyes: the height of the mob's eyes above its feet in blocks.
    :ivar life: the initial health of the mob in half hearts.
    :ivar more_life: the health that a new mob gets in addition is the sum of uniformly distributed numbers from 0 to
        each of these numbers.
    :ivar armor: the mob's armour points.
    :ivar speed: the game's attribute for the mob's walking speed.
    :ivar strolls: the factor by which the mob's speed changes while the mob walks around.
    :ivar flees: the factor by which the mob's speed changes after a damage; 0 means that the mob does not flee.
    :ivar shy: the distance in blocks within which the mob flees from a player that it sees.
    :ivar step: the height in blocks that the mob walks up without a jump.
    :ivar falls: the share of the height of a fall that counts for the damage.
    :ivar sight: the maximal distance in blocks at which the mob follows the player; 0 means that the mob never follows
        the player.
    :ivar burns: whether the mob burns in sunlight.
    :ivar attack: the damage of the mob's attack in half hearts.
    :ivar reach: the reach of the mob's attack in blocks, to whose square the width of the player is added.
    :ivar plunge: the height in blocks that a hunting mob jumps down.
    :ivar calm_light: the light, 0 to 15, from which on the mob does not begin to hunt; 16 means that the mob hunts in
        any light.
    :ivar climbs: whether the mob climbs a wall in its path.
    :ivar leaps: whether a hunting mob leaps at the player.
    :ivar hops: whether the mob moves in hops.
    :ivar spits: whether the mob spits at a player who hit the mob.
    :ivar neutral: whether the mob hunts the player only after an attack of the player.
    :ivar pack: whether mobs of the kind help each other after an attack of the player.
    :ivar weight: how often the kind spawns, relative to other kinds; 0 means that only missions and ``/summon`` bring
        the kind.
    :ivar group: the number of mobs in a spawned group.
    :ivar rolls: the least and the largest number of draws among the drops, each of which gives one of them; 0 means
        that a mob leaves every drop.
    :ivar rare: the rare drops; a killed mob can leave one of them in addition to its other drops.
    :ivar xp: the minimal and maximal experience that the player gets for killing the mob.
    """

    name: str
    half: float
    tall: float
    eyes: float
    life: float
    more_life: tuple[int, ...]
    armor: float
    speed: float
    strolls: float
    flees: float
    shy: float
    step: float
    falls: float
    sight: float
    burns: bool
    attack: float
    reach: float
    plunge: int
    calm_light: int
    climbs: bool
    leaps: bool
    hops: bool
    spits: bool
    neutral: bool
    pack: bool
    weight: int
    group: int
    loot: tuple[Loot, ...]
    rolls: tuple[int, int]
    rare: tuple[int, ...]
    xp: tuple[int, int]

    @property
    def monster(self) -> bool:
        """Whether the mob hunts the player without a cause."""
        return self.sight > 0 and not self.neutral


def _loot(text: str) -> Loot:
    what, counts = text.split("*")
    item, _, cooked = what.partition(">")
    quantity, _, odds = counts.partition("/")
    least, most = quantity.split("-")
    return Loot(ITEM[item], ITEM[cooked or item], int(least), int(most), int(odds or 0))


def _kind(row: dict[str, str]) -> Kind:
    least, most = row["xp"].split("-")
    rolls = (row["rolls"] or "0-0").split("-")
    return Kind(
        name=row["name"],
        half=float(row["half"]),
        tall=float(row["tall"]),
        eyes=float(row["eyes"]),
        life=float(row["life"]),
        more_life=tuple(int(most) for most in row["more_life"].split()),
        armor=float(row["armor"]),
        speed=float(row["speed"]),
        strolls=float(row["strolls"]),
        flees=float(row["flees"]),
        shy=float(row["shy"]),
        step=float(row["step"] or STEP_HEIGHT),
        falls=float(row["falls"]),
        sight=float(row["sight"]),
        burns=row["burns"] == "1",
        attack=float(row["attack"]),
        reach=float(row["reach"] or MELEE_REACH * 2 * float(row["half"])),
        plunge=int(row["plunge"]),
        calm_light=int(row["calm_light"]),
        climbs=row["climbs"] == "1",
        leaps=row["leaps"] == "1",
        hops=row["hops"] == "1",
        spits=row["spits"] == "1",
        neutral=row["neutral"] == "1",
        pack=row["pack"] == "1",
        weight=int(row["weight"]),
        group=int(row["group"]),
        loot=tuple(_loot(text) for text in (*row["drops"].split(), *row["prizes"].split())),
        rolls=(int(rolls[0]), int(rolls[1])),
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


def _flags(name: str) -> NDArray[np.bool_]:
    return np.array([False, *(getattr(kind, name) for kind in TABLE)])


HALF, TALL, EYES, LIFE, ARMOR, SPEED = (_floats(name) for name in ("half", "tall", "eyes", "life", "armor", "speed"))
STROLLS, FLEES, SHY, STEP, FALLS = (_floats(name) for name in ("strolls", "flees", "shy", "step", "falls"))
SIGHT, ATTACK, REACH = (_floats(name) for name in ("sight", "attack", "reach"))
BURNS, CLIMBS, LEAPS, HOPS, SPITS, NEUTRAL, PACK, MONSTER = (
    _flags(name) for name in ("burns", "climbs", "leaps", "hops", "spits", "neutral", "pack", "monster")
)
PLUNGE, CALM_LIGHT = (np.array([0, *(getattr(kind, name) for kind in TABLE)]) for name in ("plunge", "calm_light"))
XP = np.array([(0, 0), *(kind.xp for kind in TABLE)])
ROLLS = np.array([(0, 0), *(kind.rolls for kind in TABLE)])
WEIGHT, GROUP = (np.array([0, *(getattr(kind, name) for kind in TABLE)]) for name in ("weight", "group"))
LOOT = np.zeros((len(NAMES), max(len(kind.loot) for kind in TABLE), 5), np.int64)
"""By kind: item, item if the mob burns, minimum, maximum, odds (``Loot``); padded with zeros."""
RARE = np.zeros((len(NAMES), max(len(kind.rare) for kind in TABLE)), np.int64)
"""By kind: items of which one can drop in addition; padded with zeros."""
MORE_LIFE = np.zeros((len(NAMES), max(len(kind.more_life) for kind in TABLE)), np.int64)
"""By kind: the numbers of ``Kind.more_life``; padded with zeros."""
for _id, _row in enumerate(TABLE, start=1):
    MORE_LIFE[_id, : len(_row.more_life)] = _row.more_life
    LOOT[_id, : len(_row.loot)] = np.array(_row.loot).reshape(-1, 5)
    RARE[_id, : len(_row.rare)] = _row.rare

COW, SHEEP, CHICKEN, ZOMBIE = (ID[name] for name in ("cow", "sheep", "chicken", "zombie"))
SKELETON, CREEPER, ENDERMAN, BAT, WITCH = (ID[name] for name in ("skeleton", "creeper", "enderman", "bat", "witch"))
"""Cows give milk. Sheep give wool, have a colour and eat grass. Chickens lay eggs and flutter. A zombie that
walks around ends its walk before it hunts. Skeletons shoot arrows. Creepers explode. Endermen teleport. Bats fly.
Witches throw potions.
"""
BUSY = (SIGHT > 0) | BURNS | (SHY > 0) | SPITS
"""Whether a mob of the kind has behaviour in every tick, in addition to its motion."""
BUSY[CHICKEN] = True
for _array in (
    *(HALF, TALL, EYES, LIFE, ARMOR, SPEED, STROLLS, FLEES, SHY, STEP, FALLS, SIGHT, ATTACK, REACH),
    *(BURNS, CLIMBS, LEAPS, HOPS, SPITS, NEUTRAL, PACK, MONSTER, PLUNGE, CALM_LIGHT, BUSY),
    *(MORE_LIFE, XP, ROLLS, WEIGHT, GROUP, LOOT, RARE),
):
    _array.flags.writeable = False
