"""Queries about the visible cells around the player: the name of a cell, objects in order of distance, shortest
paths.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection

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


class Scene:
    """Queries about one observation. A cell is given as its offset from the player (right, down)."""

    def __init__(self, observation: Observation) -> None:
        grids: list[list[list[int]]] = [observation[key].tolist() for key in ("block", "item", "mob", "shot")]
        self._block, self._item, self._mob, self._shot = grids
        self.facing = int(observation["facing"])

    @property
    def ahead(self) -> Offset:
        """The cell that the player faces."""
        return OFFSETS[self.facing]

    def block(self, at: Offset) -> str:
        return BLOCKS[self._block[MIDDLE[0] + at[1]][MIDDLE[1] + at[0]]]

    def item(self, at: Offset) -> str:
        return ITEMS[self._item[MIDDLE[0] + at[1]][MIDDLE[1] + at[0]]]

    def mob(self, at: Offset) -> str:
        return MOBS[self._mob[MIDDLE[0] + at[1]][MIDDLE[1] + at[0]]]

    def shot(self, at: Offset) -> str:
        return SHOTS[self._shot[MIDDLE[0] + at[1]][MIDDLE[1] + at[0]]]

    def name(self, at: Offset) -> str:
        """The name of the mob in a cell; without a mob, of the item; else of the block."""
        mob, item = self.mob(at), self.item(at)
        return mob if mob != "none" else item if item != "none" else self.block(at)

    def free(self, at: Offset) -> bool:
        """Whether the player can walk into a cell. False for a dark cell."""
        return inside(at) and self.block(at) in PASSABLE and self.mob(at) == "none"

    def mobs(self, names: Collection[str]) -> list[tuple[str, Offset]]:
        """The cells of the mobs with these names, the nearest first."""
        return [(mob, at) for at in CELLS if (mob := self.mob(at)) in names]

    def places(self, name: str) -> list[Offset]:
        """The cells with a block, an item or a mob of this name, the nearest first."""
        return [at for at in CELLS if name in (self.mob(at), self.item(at), self.block(at)) and at != (0, 0)]

    def near(self, block: str) -> bool:
        """Whether a block of this name is in one of the eight cells around the player."""
        return any(self.block(at) == block for at in NEIGHBOURS)

    def way(self, is_goal: Callable[[Offset], bool]) -> list[int] | None:
        """The directions of a shortest path over free cells to the nearest goal; None if there is no path."""
        came: dict[Offset, tuple[Offset, int]] = {}
        queue: deque[Offset] = deque([(0, 0)])
        seen = {(0, 0)}
        while queue:
            at = queue.popleft()
            if is_goal(at):
                way: list[int] = []
                while at != (0, 0):
                    at, direction = came[at]
                    way.append(direction)
                return way[::-1]
            for direction, (right, down) in enumerate(OFFSETS):
                following = at[0] + right, at[1] + down
                if following not in seen and self.free(following):
                    seen.add(following)
                    came[following] = at, direction
                    queue.append(following)
        return None


def inside(at: Offset) -> bool:
    """Whether a cell is within the 9 x 11 visible cells."""
    return abs(at[0]) <= MIDDLE[1] and abs(at[1]) <= MIDDLE[0]


def beside(at: Offset, target: Offset) -> bool:
    """Whether two cells have a side in common."""
    return abs(at[0] - target[0]) + abs(at[1] - target[1]) == 1


def direction_to(at: Offset) -> int:
    """The name of the direction from the player to one of the four neighbouring cells."""
    return OFFSETS.index(at)


def held(observation: Observation, item: str) -> int:
    """The number of an item in the inventory; for a pickaxe or a sword, its grade."""
    return int(observation["inventory"][INVENTORY.index(item)])
