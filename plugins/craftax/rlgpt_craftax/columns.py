"""Computes the views of coded actions and the keys that only policies see, for several environments simultaneously."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from rlgpt.plugin.types import Context

from rlgpt_craftax.names import (
    BLOCKS,
    BODY,
    DIRECTIONS,
    FLAGS,
    HEIGHT,
    INVENTORY,
    ITEMS,
    MOBS,
    MONSTERS,
    OFFSETS,
    PASSABLE,
    PASSIVE,
    PLAIN,
    POTIONS,
    SHOTS,
    SIGNS,
    WIDTH,
)
from rlgpt_craftax.observation import MIDDLE
from rlgpt_craftax.scene import CELLS, NEIGHBOURS

MOST_OF_A_KIND = 4
"""Number of things of one kind that the view lists."""

NEAREST = (
    *("grass", "water", "stone", "tree", "coal", "iron", "diamond", "table", "furnace", "sapphire", "ruby", "chest"),
    *("ripe_plant", "lava", "ladder_down", "ladder_up", "cow", "bat", "snail"),
)
MONSTERS_SHOWN, SHOTS_SHOWN = 3, 2
GROUND = ("dark", "grass", "water", "stone", "tree", "path", "sand", "lava")
COUNTED = (*range(11), INVENTORY.index("bow"))
GRIDS = {"block": BLOCKS, "item": ITEMS, "mob": MOBS, "shot": SHOTS, "own_shot": SHOTS}

Array = np.ndarray[Any, Any]


def _table(names: Sequence[str], value: Callable[[str], Any]) -> Array:
    """Return the array whose element ``code`` is the value of the name with this code."""
    return np.array([value(name) for name in names])


def _places(cells: Sequence[tuple[int, int]]) -> Array:
    """The flat indices of cells in a grid."""
    return np.array([(MIDDLE[0] + down) * WIDTH + MIDDLE[1] + right for right, down in cells])


_ORDER, _NEIGHBOURS, _BESIDE = _places(CELLS), _places(NEIGHBOURS), _places(OFFSETS)
_ROWS = [slice(row * WIDTH, (row + 1) * WIDTH) for row in range(HEIGHT)]
_BLOCK_SIGNS = _table(BLOCKS, lambda name: ord(SIGNS[name])).astype(np.uint8)
_ITEM_SIGNS = _table(ITEMS, lambda name: 0 if name == "none" else ord(SIGNS[name])).astype(np.uint8)
_THINGS = (*BLOCKS, *ITEMS)
_IS_THING = _table(_THINGS, lambda name: name not in PLAIN and name != "none")
_IS_FREE = _table(BLOCKS, lambda name: name in PASSABLE)
_IS_MONSTER, _IS_ANIMAL = _table(MOBS, lambda name: name in MONSTERS), _table(MOBS, lambda name: name in PASSIVE)
_GROUND_OF = _table(BLOCKS, lambda name: GROUND.index(name) if name in GROUND else len(GROUND))
_NEARNESS = np.array([[right / 5, down / 4, 1 / (1 + abs(right) + abs(down))] for right, down in CELLS])
_NEAREST_BLOCK, _NEAREST_ITEM, _NEAREST_MOB = (
    _table(names, lambda name: [name == other for other in NEAREST]) for names in (BLOCKS, ITEMS, MOBS)
)
_BODY, _FLAGS = {name: i for i, name in enumerate(BODY)}, {name: i for i, name in enumerate(FLAGS)}
_CODES = {key: np.eye(len(names), dtype=np.float32) for key, names in GRIDS.items()}


class Batch:
    """Holds the states of several environments at the same step. A column is a key of the view, with one value for each
    environment.
    """

    def __init__(self, contexts: Sequence[Context]) -> None:
        self._observations = [ctx.observation for ctx in contexts]
        self._infos, self._steps = [ctx.info for ctx in contexts], [ctx.step for ctx in contexts]
        self._lanes = np.arange(len(contexts))

    def column(self, key: str) -> Sequence[Any]:
        """Return the values of ``key`` in all environments, where ``key`` is a key of the view or a key that only
        policies see.
        """
        if (index := _BODY.get(key)) is not None:
            return [round(row[index], 2) for row in self._body]
        if (index := _FLAGS.get(key)) is not None:
            return [row[index] for row in self._flags]
        values: Sequence[Any] = getattr(self, key)
        return values

    # -- grids --------------------------------------------------------------------------------------------------------

    def _stack(self, key: str) -> Array:
        first, *others = self._observations
        return np.stack([o[key] for o in self._observations]) if others else np.asarray(first[key])[None]

    def _ints(self, key: str) -> Array:
        return self._stack(key).astype(int)

    def _grid(self, key: str) -> Array:
        return self._stack(key).reshape(len(self._lanes), -1)

    @cached_property
    def _block(self) -> Array:
        return self._grid("block")

    @cached_property
    def _item(self) -> Array:
        return self._grid("item")

    @cached_property
    def _mob(self) -> Array:
        return self._grid("mob")

    @cached_property
    def _shot(self) -> Array:
        return self._grid("shot")

    @cached_property
    def _body(self) -> list[list[float]]:
        return _lists(self._stack("body"))

    @cached_property
    def _flags(self) -> list[list[int]]:
        return _lists(self._ints("flags"))

    @cached_property
    def _carried(self) -> list[list[int]]:
        return _lists(self._ints("inventory"))

    @cached_property
    def _faced(self) -> Array:
        """The flat index, in the grid of visible cells, of the cell that each player faces."""
        return _BESIDE[self._directions]

    @cached_property
    def _directions(self) -> Array:
        return self._stack("facing")

    def _near(self, block: str) -> list[int]:
        return _lists((self._block[:, _NEIGHBOURS] == BLOCKS.index(block)).any(axis=1).astype(int))

    def _listed(self, codes: Array, shown: Array, names: Sequence[str]) -> list[Any]:
        """Return, for each environment, a list of [name, right, down] of the cells whose code is marked in ``shown``,
        the nearest cell first.
        """
        codes, found = codes[:, _ORDER], [list[Any]() for _ in self._lanes]
        lanes, places = np.nonzero(shown[codes])
        for lane, place, code in zip(lanes.tolist(), places.tolist(), codes[lanes, places].tolist(), strict=True):
            found[lane].append([names[code], *CELLS[place]])
        return found

    # -- keys of the view ---------------------------------------------------------------------------------------------

    @property
    def map(self) -> list[Any]:
        items = _ITEM_SIGNS[self._item]
        texts = [row.tobytes().decode() for row in np.where(items > 0, items, _BLOCK_SIGNS[self._block])]
        return [[text[row] for row in _ROWS] for text in texts]

    @property
    def things(self) -> list[Any]:
        codes = np.stack([self._block[:, _ORDER], self._item[:, _ORDER] + len(BLOCKS)], axis=2)
        found: list[dict[str, Any]] = [{} for _ in self._lanes]
        shown = np.nonzero(_IS_THING[codes])
        for lane, place, code in zip(*(axis.tolist() for axis in shown[:2]), codes[shown].tolist(), strict=True):
            places = found[lane].setdefault(_THINGS[code], [])
            if len(places) < MOST_OF_A_KIND:
                places.append(list(CELLS[place]))
        return found

    @property
    def monsters(self) -> list[Any]:
        return self._listed(self._mob, _IS_MONSTER, MOBS)

    @property
    def animals(self) -> list[Any]:
        return self._listed(self._mob, _IS_ANIMAL, MOBS)

    @property
    def shots(self) -> list[Any]:
        return self._listed(self._shot, np.arange(len(SHOTS)) > 0, SHOTS)

    @property
    def ahead(self) -> list[str]:
        at = self._lanes, self._faced
        codes = zip(self._mob[at].tolist(), self._item[at].tolist(), self._block[at].tolist(), strict=True)
        return [MOBS[mob] if mob else ITEMS[item] if item else BLOCKS[block] for mob, item, block in codes]

    @property
    def facing(self) -> list[str]:
        return [DIRECTIONS[code] for code in self._directions.tolist()]

    @property
    def free(self) -> list[Any]:
        free = _IS_FREE[self._block[:, _BESIDE]] & (self._mob[:, _BESIDE] == 0)
        return _lists(free.astype(int))

    @property
    def moved(self) -> list[Any]:
        return [None if info["moved"] is None else list(info["moved"]) for info in self._infos]

    @property
    def inventory(self) -> list[Any]:
        return [{**dict(zip(INVENTORY[:11], row, strict=False)), "bow": row[15]} for row in self._carried]

    @property
    def potions(self) -> list[Any]:
        return [dict(zip(POTIONS, row, strict=True)) for row in self._ints("potions").tolist()]

    @property
    def pickaxe(self) -> list[int]:
        return [row[11] for row in self._carried]

    @property
    def sword(self) -> list[int]:
        return [row[12] for row in self._carried]

    @property
    def armour(self) -> list[Any]:
        return _lists(self._ints("armour"))

    @property
    def enchantments(self) -> list[Any]:
        worn = self._ints("armour_enchantment").tolist()
        return [[*row[13:15], *more] for row, more in zip(self._carried, worn, strict=True)]

    @property
    def floor(self) -> list[int]:
        return _lists(self._stack("floor"))

    @property
    def light(self) -> list[float]:
        return [round(value, 3) for value in self._stack("light")[:, 0].tolist()]

    @property
    def near_table(self) -> list[int]:
        return self._near("table")

    @property
    def near_furnace(self) -> list[int]:
        return self._near("furnace")

    @property
    def step(self) -> list[int]:
        return self._steps

    # -- numbers for policies -----------------------------------------------------------------------------------------

    @property
    def items(self) -> Any:
        counts = np.concatenate([self._stack("inventory")[:, COUNTED], self._stack("potions")], axis=1)
        return np.sqrt(counts) / 3

    @property
    def direction(self) -> Any:
        return np.eye(len(DIRECTIONS))[self._directions]

    @property
    def nearest(self) -> Any:
        blocks, items, mobs, shots = (g[:, _ORDER] for g in (self._block, self._item, self._mob, self._shot))
        seen = _NEAREST_BLOCK[blocks] | _NEAREST_ITEM[items] | _NEAREST_MOB[mobs]
        found = [seen, _ranked(_IS_MONSTER[mobs], MONSTERS_SHOWN), _ranked(shots > 0, SHOTS_SHOWN)]
        places = np.concatenate(found, axis=2)
        numbers = _NEARNESS[places.argmax(axis=1)] * places.any(axis=1)[:, :, None]
        return numbers.reshape(len(self._lanes), -1)

    @property
    def around(self) -> Any:
        at = np.concatenate([np.tile(_BESIDE, (len(self._lanes), 1)), self._faced[:, None]], axis=1)
        lanes = self._lanes[:, None]
        ground = np.eye(len(GROUND) + 1)[_GROUND_OF[self._block[lanes, at]]]
        numbers = np.concatenate([ground, (self._mob[lanes, at] > 0)[:, :, None]], axis=2)
        return numbers.reshape(len(self._lanes), -1)

    @property
    def cells(self) -> Any:
        return np.concatenate([codes[self._stack(key)] for key, codes in _CODES.items()], axis=3)


def _lists(array: Array) -> list[Any]:
    lists: list[Any] = array.tolist()
    return lists


def _ranked(found: Array, count: int) -> Array:
    """Return masks ``(environments, cells, count)`` of the ``count`` nearest cells in which ``found`` is True. Element
    ``[e, c, i]`` is True if ``c`` is the cell number ``i`` of those found in environment ``e``.
    """
    ranks = found.cumsum(axis=1)[:, :, None] == np.arange(1, count + 1)
    return np.asarray(found[:, :, None] & ranks)
