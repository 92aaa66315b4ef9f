"""Computes the observations ``voxels`` and ``rays``, and the pictures."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voxeldojo.mission import Mission
from voxeldojo.world.lidar import lidar
from voxeldojo.world.render import Camera
from voxeldojo.world.state import World
from voxeldojo.world.voxels import voxels

IMAGE_SIZE = (160, 256)
"""Default height and width of the picture, as in MineDojo."""


class Sensors:
    """The sensors of a player, as far as the mission asks for them."""

    def __init__(self, mission: Mission) -> None:
        box = mission.voxels
        self._box = None if box is None else ((box.xmin, box.ymin, box.zmin), (box.xmax, box.ymax, box.zmax))
        self._rays = np.array(mission.rays, np.float64).reshape(-1, 3)
        self.size = mission.image_size or IMAGE_SIZE

    def look(self, world: World) -> dict[str, Any]:
        """Return the observations ``voxels`` and ``rays``, as far as the mission asks for them."""
        seen: dict[str, Any] = {}
        if self._box is not None:
            seen["voxels"] = voxels(world, *self._box)
        if len(self._rays):
            seen["rays"] = lidar(world, self._rays)
        return seen

    def picture(self, world: World) -> NDArray[np.uint8]:
        """Render the player's view: uint8 ``(height, width, 3)``."""
        return self._camera.picture(world)

    @cached_property
    def _camera(self) -> Camera:
        """The camera is created at its first use, because the generation of the textures takes time."""
        return Camera(*self.size)
