"""The kinds of blocks, as a table for Python code and as arrays for kernels (compiled functions). An array of this
module is indexed by the id of a block.

The table of blocks is ``data/blocks.csv``, whose first lines name the sources. Kernels hold the arrays as constants.
The function ``jit.digest`` includes the table of blocks, so numba recompiles the kernels after a change of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from voxeldojo.names import rows
from voxeldojo.world.constants import FALL_DELAY, LAVA_DELAY, WATER_DELAY
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.items import NAMES, TOOLS

SHAPES: Final = ("none", "cube", "fluid", "cross", "torch", "flat", "wall", "slab", "stairs", "post", "box")
"""Shapes of blocks for rendering. ``top`` and ``half`` define the box for collisions."""
SUPPORTS: Final = (
    *("none", "soil", "desert", "cactus", "reeds", "full", "any", "water", "double_plant", "farmland"),
    *("wall_east", "wall_west", "wall_south", "wall_north"),
)
"""Supports of blocks. A block without its support breaks: nothing, dirt or grass, these or sand, sand or cactus, dirt
or sand at water or other reeds, a full block, any block, water, its own lower half, farmland. A torch needs a full
block opposite to its direction: ``wall_east`` points east and hangs on the block to its west.
"""
VARIANTS: Final = 16


class Drop(NamedTuple):
    """The drop of a block. With probability ``chance``, a broken block drops ``least`` to ``most`` of an item,
    uniformly distributed.
    """

    item: str
    variant: int
    least: int
    most: int
    chance: float


class Block(NamedTuple):
    """One kind of block.

    :ivar key: the unique key of the block.
    :ivar name: the block's name in MineDojo's voxels and lidar.
    :ivar meta: the block's metadata.
    :ivar hardness: the hardness of the block; a bare hand breaks the block in 1.5 times the hardness in seconds, or in
        5 times the hardness if the block requires a tool. -1 means that the block is unbreakable.
    :ivar tool: the kind of tool that digs the block faster, or "none".
    :ivar level: the minimal tier of the tool; -1 means that any tier suffices.
    :ivar tool_free: whether the block gives its drop without the required tool.
    :ivar collidable, solid, liquid, burns: flags of the block in MineDojo's voxels.
    :ivar blocks_movement, blocks_light: flags of the block in MineDojo's voxels.
    :ivar full: whether the block is an opaque full cube.
    :ivar opacity: the light that the block absorbs, 0 to 15.
    :ivar light: the light that the block emits, 0 to 15.
    :ivar replaceable: whether another block can be placed into the cell of the block.
    :ivar falls: whether the block falls like sand.
    :ivar shape: the shape of the block, one of ``SHAPES``.
    :ivar top: the height of the block's collision box in blocks; 0 means that the block has no collision box.
    :ivar half: half the width of the collision box in blocks.
    :ivar on: what the block must stand on, one of ``SUPPORTS``.
    :ivar slipperiness: the game's slipperiness of the block, 0.6 for most blocks.
    :ivar item: the item that places the block, or "" if no item does.
    :ivar variant: the variant of the item that places the block.
    :ivar drop: the block's drop, or None.
    :ivar rare: the drops that a broken block can give in addition to ``drop``; for gravel, a drop that replaces
        ``drop``.
    :ivar xp: the minimal and maximal experience that the player gets for breaking the block.
    """

    key: str
    name: str
    meta: int
    hardness: float
    tool: str
    level: int
    tool_free: bool
    collidable: bool
    solid: bool
    blocks_movement: bool
    blocks_light: bool
    liquid: bool
    burns: bool
    full: bool
    opacity: int
    light: int
    replaceable: bool
    falls: bool
    shape: str
    top: float
    half: float
    on: str
    slipperiness: float
    item: str
    variant: int
    drop: Drop | None
    rare: tuple[Drop, ...]
    xp: tuple[int, int]


def _drop(text: str) -> Drop | None:
    if not text:
        return None
    item, rest = text.split(":")
    variant, counts = rest.split("*")
    least, _, most = counts.partition("-")
    return Drop(item, int(variant), int(least), int(most or least), 1.0)


def _rare(text: str) -> Drop:
    item, rest = text.split(":")
    variant, chance = rest.split("@")
    return Drop(item, int(variant), 1, 1, float(chance))


_READ: Final[dict[Any, Callable[[str], Any]]] = {str: str, int: int, float: float, bool: "1".__eq__}
_PLAIN: Final = {name: _READ[kind] for name, kind in get_type_hints(Block).items() if kind in _READ}


def rare_drops(text: str) -> tuple[Drop, ...]:
    """Read the drops of a column ``rare``."""
    return tuple(_rare(part) for part in text.split())


def _block(row: dict[str, str]) -> Block:
    least, most = row["xp"].split("-")
    plain: dict[str, Any] = {name: read(row[name]) for name, read in _PLAIN.items()}
    return Block(**plain, drop=_drop(row["drop"]), rare=rare_drops(row["rare"]), xp=(int(least), int(most)))


TABLE: Final = tuple(_block(row) for row in rows("blocks.csv"))
"""Every block; its index is its id. 0 is air."""
ID: Final = {block.key: index for index, block in enumerate(TABLE)}
"""Key of a block -> id."""
KEYS: Final = tuple(ID)
BLOCKS: Final = len(TABLE)


def _bool(name: str) -> NDArray[np.bool_]:
    return np.array([getattr(block, name) for block in TABLE], np.bool_)


def _int(name: str) -> NDArray[np.int16]:
    return np.array([getattr(block, name) for block in TABLE], np.int16)


def _float(name: str) -> NDArray[np.float64]:
    return np.array([getattr(block, name) for block in TABLE], np.float64)


HARDNESS, TOP, HALF, SLIPPERINESS = (_float(name) for name in ("hardness", "top", "half", "slipperiness"))
META, LEVEL, OPACITY, LIGHT, VARIANT = (_int(name) for name in ("meta", "level", "opacity", "light", "variant"))
TOOL_FREE, COLLIDABLE, SOLID, BLOCKS_MOVEMENT, BLOCKS_LIGHT, LIQUID, BURNS, FULL, REPLACEABLE, FALLS = (
    _bool(name)
    for name in (
        *("tool_free", "collidable", "solid", "blocks_movement", "blocks_light", "liquid", "burns"),
        *("full", "replaceable", "falls"),
    )
)
TOOL = np.array([TOOLS.index(block.tool) for block in TABLE], np.int16)
"""Index into ``items.TOOLS``."""
ON = np.array([SUPPORTS.index(block.on) for block in TABLE], np.int16)
ITEM_OF = np.array([ITEM[block.item] if block.item else 0 for block in TABLE], np.int16)
"""The item that places each block; see also ``VARIANT``."""
XP_LEAST, XP_MOST = (np.array([block.xp[end] for block in TABLE], np.int16) for end in (0, 1))
DROP = np.array([ITEM[block.drop.item] if block.drop else 0 for block in TABLE], np.int16)
DROP_VARIANT = np.array([block.drop.variant if block.drop else 0 for block in TABLE], np.int16)
DROP_LEAST = np.array([block.drop.least if block.drop else 0 for block in TABLE], np.int16)
DROP_MOST = np.array([block.drop.most if block.drop else 0 for block in TABLE], np.int16)
RARE = np.zeros((BLOCKS, 2), np.int16)
"""Items of up to two rare drops, 0 for none. ``RARE_VARIANT`` and ``RARE_CHANCE`` have the same shape."""
RARE_VARIANT = np.zeros((BLOCKS, 2), np.int16)
RARE_CHANCE = np.zeros((BLOCKS, 2), np.float64)
for _id, _kind in enumerate(TABLE):
    for _place, _what in enumerate(_kind.rare):
        RARE[_id, _place], RARE_VARIANT[_id, _place] = ITEM[_what.item], _what.variant
        RARE_CHANCE[_id, _place] = _what.chance
RARE_INSTEAD = np.array([block.key == "gravel" for block in TABLE], np.bool_)
"""Whether the rare drop replaces the normal one."""
PLACES = np.full((len(NAMES), VARIANTS), -1, np.int16)
"""(item, variant) -> the block that it places, or -1. A variant without its own block places variant 0. Beds, torches
and plants of two blocks follow further rules.
"""
for _id in reversed(range(BLOCKS)):
    _kind = TABLE[_id]
    if _kind.item and _kind.key not in ("lit_furnace", "double_plant_top") and "bed_head" not in _kind.key:
        PLACES[ITEM[_kind.item], _kind.variant] = _id
for _name in ("torch", "bed"):
    PLACES[ITEM[_name], 0] = ID["torch" if _name == "torch" else "bed_foot_south"]
_fill = (PLACES[:, :1] >= 0) & (PLACES < 0)
PLACES = np.where(_fill, PLACES[:, :1], PLACES).astype(np.int16)

AIR, STONE, GRASS, DIRT, BEDROCK = (ID[key] for key in ("air", "stone", "grass", "dirt", "bedrock"))
WATER, LAVA, FIRE, SAND, GRAVEL = (ID[key] for key in ("water", "lava", "fire", "sand", "gravel"))
OBSIDIAN, COBBLESTONE, CACTUS, REEDS = (ID[key] for key in ("obsidian", "cobblestone", "cactus", "reeds"))
FARMLAND = ID["farmland"]
CRAFTING_TABLE, FURNACE, LIT_FURNACE, TORCH = (ID[key] for key in ("crafting_table", "furnace", "lit_furnace", "torch"))

DELAY = np.zeros(BLOCKS, np.int64)
"""Ticks from a change of the surroundings to the update of a block; 0: never. Farmland, and a block that needs a
support, update at once.
"""
for _id, _kind in enumerate(TABLE):
    DELAY[_id] = FALL_DELAY if _kind.falls else 1 if _kind.on != "none" else 0
DELAY[WATER], DELAY[LAVA], DELAY[FARMLAND] = WATER_DELAY, LAVA_DELAY, 1

for _array in [value for value in globals().values() if isinstance(value, np.ndarray)]:
    _array.flags.writeable = False
