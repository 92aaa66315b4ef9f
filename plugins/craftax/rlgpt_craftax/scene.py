"""Answers queries about the visible cells around the player, such as the name of a cell, the nearest objects, and
shortest paths.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rlgpt_craftax.names import BLOCKS, HEIGHT, INVENTORY, ITEMS, MOBS, OFFSETS, PASSABLE, SHOTS, WIDTH
from rlgpt_craftax.observation import MIDDLE, Observation, Offset

CELLS: tuple[Offset, ...] = tuple(
    sorted(
        ((c - MIDDLE[1], r - MIDDLE[0]) for r in range(HEIGHT) for c in range(WIDTH)),
        key=lambda at: (abs(at[0]) + abs(at[1]), at[1], at[0]),
    )
)
"""All cells of the view, the nearest first."""
NEIGHBOURS = tuple((r, d) for r, d in CELLS if max(abs(r), abs(d)) == 1)
"""The eight cells around the player."""


_START = MIDDLE[0] * WIDTH + MIDDLE[1]
_FREE = bytes(name in PASSABLE for name in BLOCKS)


def _index(at: Offset) -> int:
    return _START + at[1] * WIDTH + at[0]


class Scene:
    """Queries about one observation. A cell is given as its offset from the player (right, down)."""

    def __init__(self, observation: Observation) -> None:
        grids: list[bytes] = [observation[key].tobytes() for key in ("block", "item", "mob", "shot")]
        self._block, self._item, self._mob, self._shot = grids
        self.facing = int(observation["facing"])

    @property
    def ahead(self) -> Offset:
        """The cell that the player faces."""
        return OFFSETS[self.facing]

    def block(self, at: Offset) -> str:
        return BLOCKS[self._block[_index(at)]]

    def item(self, at: Offset) -> str:
        return ITEMS[self._item[_index(at)]]

    def mob(self, at: Offset) -> str:
        return MOBS[self._mob[_index(at)]]

    def shot(self, at: Offset) -> str:
        return SHOTS[self._shot[_index(at)]]

    def name(self, at: Offset) -> str:
        """Return the name of the mob in a cell; without a mob, the name of the item; and without an item, the name of
        the block.
        """
        mob, item = self.mob(at), self.item(at)
        return mob if mob != "none" else item if item != "none" else self.block(at)

    def free(self, at: Offset) -> bool:
        """Return whether the player can walk into a cell. The answer is False for a dark cell."""
        return inside(at) and self.block(at) in PASSABLE and self.mob(at) == "none"

    def places(self, name: str) -> list[Offset]:
        """The visible cells that contain the block, item or mob with the name ``name``, the nearest cell first."""
        found: set[int] = set()
        for names, grid in ((BLOCKS, self._block), (ITEMS, self._item), (MOBS, self._mob)):
            if name in names:
                code = names.index(name)
                at = grid.find(code)
                while at >= 0:
                    found.add(_RANK[at])
                    at = grid.find(code, at + 1)
        return [CELLS[rank] for rank in sorted(found - {0})]

    def way(self, goals: Collection[Offset]) -> list[int] | None:
        """Return the directions of a shortest path over free cells to the nearest of the goals, or None if no goal can
        be reached.
        """
        ends = {_index(at) for at in goals if inside(at)}
        came: dict[int, tuple[int, int]] = {_START: (0, 0)}
        queue = [_START]
        for at in queue:
            if at in ends:
                way: list[int] = []
                while at != _START:
                    at, direction = came[at]
                    way.append(direction)
                return way[::-1]
            for direction, following in _NEXT[at]:
                if following not in came and _FREE[self._block[following]] and not self._mob[following]:
                    came[following] = at, direction
                    queue.append(following)
        return None


def inside(at: Offset) -> bool:
    """Whether a cell is one of the 9 x 11 visible cells."""
    return abs(at[0]) <= MIDDLE[1] and abs(at[1]) <= MIDDLE[0]


def around(places: Iterable[Offset]) -> set[Offset]:
    """The cells that have a side in common with one of ``places``."""
    return {(right + x, down + y) for right, down in places for x, y in OFFSETS}


def beside(at: Offset, target: Offset) -> bool:
    """Whether two cells have a side in common."""
    return abs(at[0] - target[0]) + abs(at[1] - target[1]) == 1


def direction_to(at: Offset) -> int:
    """The number of the direction from the player to one of the four neighbouring cells."""
    return OFFSETS.index(at)


def held(observation: Observation, item: str) -> int:
    """Return the number of an item in the inventory; for a pickaxe or a sword, return the grade."""
    return int(observation["inventory"][INVENTORY.index(item)])


_INDICES = {at: _index(at) for at in CELLS}
_RANK = {i: rank for rank, i in enumerate(_INDICES.values())}
_NEXT = {
    i: [
        (direction, _INDICES[following])
        for direction, (x, y) in enumerate(OFFSETS)
        if (following := (at[0] + x, at[1] + y)) in _INDICES
    ]
    for at, i in _INDICES.items()
}
"""Cell -> the directions and cells next to it."""
