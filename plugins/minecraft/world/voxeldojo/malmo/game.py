"""Runs a mission for a client. The class ``Game`` has the world of the mission, the conditions under which the mission
ends, and the picture and data that the client gets.
"""

from __future__ import annotations

import contextlib
import json
import logging
from typing import Final

from voxeldojo.errors import VoxelDojoError
from voxeldojo.malmo import commands
from voxeldojo.malmo.errors import MissionError
from voxeldojo.malmo.mission import MissionRequest
from voxeldojo.sim import Sim
from voxeldojo.world.inventory import count
from voxeldojo.world.items import ID

logger = logging.getLogger(__name__)

MAX_LOGGED_REMARKS: Final = 20
"""Maximal number of logged remarks on the commands of a mission."""


def land_seed(text: str) -> int:
    """Parse the seed of a world as the game does (minecraft.wiki, Seed). If the text is a 64-bit integer, the seed is
    this number; for any other text, the seed is Java's hash of the text.
    """
    with contextlib.suppress(ValueError):
        if -(2**63) <= (number := int(text)) < 2**63:
            return number
    value = 0
    for unit in memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H"):
        value = (31 * value + unit) % 2**32
    return value - 2**32 if value >= 2**31 else value


class Game:
    """A running mission.

    :ivar land: the seed of the terrain.
    :ivar done: whether the mission has ended; after the end of the mission, ``step`` has no effect.
    :ivar steps: the number of ticks so far.
    :ivar name: the name of the mission in the log.
    :param chance: the seed of all random numbers except those of the terrain; by default, the seed of the terrain.
    :raises MissionError: the world cannot play the mission.
    """

    def __init__(self, request: MissionRequest, land: int, chance: int | None = None, name: str = "mission") -> None:
        self.request, self.land, self.name = request, land, name
        self.steps, self.done, self._remarks = 0, False, 0
        try:
            self.sim = Sim(request.mission(land))
            self.sim.reset(land if chance is None else chance)
            for text in request.chat_commands:
                self.sim.chat(text)
        except VoxelDojoError as error:
            raise MissionError(str(error)) from error
        if request.unknown:
            logger.warning("%s: elements without effect in this world: %s", name, ", ".join(sorted(request.unknown)))

    def step(self, text: str) -> None:
        """Run one tick with the command lines in ``text``. An invalid command line is logged and has no effect."""
        if self.done:
            return
        command, remarks = commands.read(text)
        for remark in remarks:
            self._remark(remark)
        try:
            self.sim.step(command)
        except VoxelDojoError as error:
            self._remark(str(error))
            self.sim.step(command._replace(chat=None))
        self.steps += 1
        self.done = self._ended()

    def picture(self) -> bytes:
        """Return the player's view in Malmo's format, with the lowest row first and three bytes for each pixel."""
        return self.sim.rgb()[::-1].tobytes()

    def facts(self) -> bytes:
        """Return Malmo's JSON."""
        return json.dumps(self.sim.info()).encode()

    def _ended(self) -> bool:
        request = self.request
        if request.ticks is not None and self.steps >= request.ticks:
            return True
        if request.ends_on_death and not self.sim.alive:
            return True
        if not request.goal_items:
            return False
        world = self.sim.world
        return any(name in ID and count(world, ID[name]) >= amount for name, amount in request.goal_items)

    def _remark(self, text: str) -> None:
        self._remarks += 1
        if self._remarks <= MAX_LOGGED_REMARKS:
            logger.warning("%s, tick %d: command without effect: %s", self.name, self.steps, text)
        if self._remarks == MAX_LOGGED_REMARKS:
            logger.warning("%s: further commands without effect will not be logged", self.name)

    def __str__(self) -> str:
        mission = self.sim.mission
        height, width = mission.image_size or (0, 0)
        box = mission.voxels
        seen = [f"picture {height} x {width}"]
        if box is not None:
            seen.append("voxels {} x {} x {}".format(*box.shape))
        if mission.rays:
            seen.append(f"{len(mission.rays)} rays")
        where = "flat" if mission.layers else mission.biome or "every biome"
        return f"{self.name}: {where}, seed {self.land}, {', '.join(seen)}"
