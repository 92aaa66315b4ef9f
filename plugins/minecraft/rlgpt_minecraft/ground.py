"""Finds obstacles, holes and floors among the blocks around the player.

The voxels of an observation are the blocks up to two blocks to each side, four down and three up from the block of the
feet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgpt_minecraft.rays import Array

VOXELS = {"xmin": -2, "xmax": 2, "ymin": -4, "ymax": 3, "zmin": -2, "zmax": 2}
"""The box, as MineDojo's ``voxel_size`` takes it: 5 x 8 x 5 blocks."""

SIDES = {"left": -45.0, "ahead": 0.0, "right": 45.0}
"""Directions that the view describes, in degrees to the right of the heading."""

STEP_M = 0.8
"""Distance in m from the player's centre to the column that a step enters: half the player's width and half a block."""

MAX_DESCENT_BLOCKS = 4
"""Maximal descent that is measured, in blocks. A fall of more than 3 blocks causes damage."""

_XLOW, _YLOW, _ZLOW = VOXELS["xmin"], VOXELS["ymin"], VOXELS["zmin"]
_LOW = np.array([_XLOW, _YLOW, _ZLOW])


class Ground:
    """The voxels of one observation.

    :param position: the world coordinates of the feet, m.
    :param yaw: the yaw of the view direction, degrees.
    """

    def __init__(self, voxels: Mapping[str, NDArray[Any]], position: Array, yaw: float) -> None:
        self._array = voxels["block_name"]
        # lists, because reading one element of an array takes five times as long
        self._names: list[list[list[str]]] = self._array.tolist()
        self._solid: list[list[list[bool]]] = voxels["blocks_movement"].tolist()
        self._position: list[float] = position.tolist()
        self._yaw = yaw
        self._cell: list[int] = [math.floor(x) for x in self._position]
        self._ways: dict[tuple[float, float], tuple[int, int]] = {}

    def blocks(self, name: str) -> NDArray[np.int64]:
        """Return the world coordinates of all blocks with a name, int64 ``(n, 3)``."""
        found: NDArray[np.int64] = np.argwhere(self._array == name) + _LOW + np.array(self._cell)
        return found

    def at(self, place: Sequence[int]) -> str | None:
        """Return MineDojo's name of the block at world coordinates, or None if the voxels do not contain the block."""
        return self.name_at(*self.offset(place))

    def offset(self, place: Sequence[int]) -> tuple[int, int, int]:
        """Return world coordinates relative to the block of the feet."""
        dx, dy, dz = (int(there) - here for there, here in zip(place, self._cell, strict=True))
        return dx, dy, dz

    def name_at(self, dx: int, dy: int, dz: int) -> str | None:
        """Return what :meth:`name` returns, or None if the voxels do not contain the block."""
        low, high = ([VOXELS[f"{axis}{end}"] for axis in "xyz"] for end in ("min", "max"))
        inside = all(a <= d <= b for a, d, b in zip(low, (dx, dy, dz), high, strict=True))
        return self.name(dx, dy, dz) if inside else None

    def solid(self, dx: int, dy: int, dz: int) -> bool:
        """Return whether a block stops a body. Offsets ``dx, dy, dz`` are relative to the block of the feet."""
        return self._solid[dx - _XLOW][dy - _YLOW][dz - _ZLOW]

    def name(self, dx: int, dy: int, dz: int) -> str:
        """Return MineDojo's name of a block. Offsets ``dx, dy, dz`` are relative to the block of the feet."""
        return self._names[dx - _XLOW][dy - _YLOW][dz - _ZLOW]

    def column_at(self, degrees: float = 0.0, metres: float = STEP_M) -> tuple[int, int]:
        """Return x and z, relative to the feet's block, of the column that is ``metres`` (at most 1.5) away from the
        player.

        :param degrees: the angle, to the right of the heading, of the direction to the column.
        """
        if (way := (degrees, metres)) not in self._ways:
            turn = math.radians(self._yaw + degrees)
            x, z = self._position[0] - metres * math.sin(turn), self._position[2] + metres * math.cos(turn)
            self._ways[way] = math.floor(x) - self._cell[0], math.floor(z) - self._cell[2]
        return self._ways[way]

    def feet_blocked(self, degrees: float = 0.0) -> bool:
        dx, dz = self.column_at(degrees)
        return self.solid(dx, 0, dz)

    def head_blocked(self, degrees: float = 0.0) -> bool:
        dx, dz = self.column_at(degrees)
        return self.solid(dx, 1, dz)

    def steppable(self, degrees: float = 0.0) -> bool:
        """Return whether the player can jump onto the block in front of the feet."""
        dx, dz = self.column_at(degrees)
        return (
            self.solid(dx, 0, dz)
            and not self.solid(dx, 1, dz)
            and not self.solid(dx, 2, dz)
            and not self.solid(0, 2, 0)
        )

    def wall(self, degrees: float, metres: float = STEP_M) -> bool:
        """Return whether the column ``metres`` away is too high for a jump."""
        dx, dz = self.column_at(degrees, metres)
        return self.solid(dx, 1, dz) or (self.solid(dx, 0, dz) and self.solid(dx, 2, dz))

    def descent(self, degrees: float = 0.0, metres: float = STEP_M) -> int:
        """Return how many blocks the floor of a column is below the feet, 0 to 4. The descent 4 also means a deeper
        floor, and 0 also means a higher floor.
        """
        dx, dz = self.column_at(degrees, metres)
        return next(
            (
                depth
                for depth in range(MAX_DESCENT_BLOCKS)
                if self.solid(dx, -depth, dz) or self.solid(dx, -depth - 1, dz)
            ),
            MAX_DESCENT_BLOCKS,
        )

    def liquid(self, kind: str, degrees: float = 0.0, metres: float = STEP_M) -> bool:
        """Return whether water or lava is in a column, between the height of the head and the floor."""
        dx, dz = self.column_at(degrees, metres)
        for dy in (1, 0, -1, -2, -3, -4):
            if kind in self.name(dx, dy, dz):
                return True
            if dy < 1 and self.solid(dx, dy, dz):
                return False
        return False

    def lava_beside(self, dx: int, dy: int, dz: int) -> bool:
        """Return whether lava is at a place or next to it, so that it would flow in if the place were dug free. Places
        outside the voxels are ignored.
        """
        around = ((0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
        return any("lava" in (self.name_at(dx + a, dy + b, dz + c) or "") for a, b, c in around)

    @property
    def on_ground(self) -> bool:
        """Whether a block that stops a body is directly under the feet."""
        height = self._position[1] - self._cell[1]
        corners = {(self._offset_along(0, a), self._offset_along(2, b)) for a in (-0.3, 0.3) for b in (-0.3, 0.3)}
        return height < 0.01 and any(self.solid(dx, -1, dz) for dx, dz in corners)

    @property
    def in_water(self) -> bool:
        return "water" in self.name(0, 0, 0)

    def _offset_along(self, axis: int, by: float) -> int:
        return math.floor(self._position[axis] + by) - self._cell[axis]
