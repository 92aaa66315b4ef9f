"""The simulator of one world. In each tick, the simulator takes one command and gives one observation.

The gymnasium environment (``env``) and the Malmo server (``malmo``) use the class ``Sim``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voxeldojo import chat, prefetch
from voxeldojo.command import NOTHING, Command
from voxeldojo.commands import COMMAND, apply_command, count_statistics
from voxeldojo.errors import VoxelDojoError
from voxeldojo.malmo_json import facts, flat_rays, flat_voxels
from voxeldojo.mission import Mission
from voxeldojo.names import CRAFTS
from voxeldojo.saving import SaveError, pack, unpack
from voxeldojo.scalars import ScalarObservation, read_scalars
from voxeldojo.sensors import Sensors
from voxeldojo.stats import DEATHS, SINCE_DEATH, Statistics
from voxeldojo.world.biomes import biome_id
from voxeldojo.world.blocks import ID as BLOCK
from voxeldojo.world.chunks import flat, generate, reset_world
from voxeldojo.world.health import respawn
from voxeldojo.world.inventory import put
from voxeldojo.world.items import ID, STACK
from voxeldojo.world.rng import GAMMA, mix
from voxeldojo.world.state import ACTION, World
from voxeldojo.world.tick import tick

_FIRST_NON_KEY = Command._fields.index("craft")
_CRAFT = {name: index for index, name in enumerate(CRAFTS)}


class NotBegunError(VoxelDojoError):
    """A method was called before ``reset``."""


class Sim:
    """The simulator of one world.

    :param mission: the initial state of the world, and the content of the observation.
    :raises UnknownNameError: the world does not have the mission's biome.
    """

    def __init__(self, mission: Mission) -> None:
        self.mission = mission
        self.statistics = Statistics()
        self.sensors = Sensors(mission)
        self._biome = biome_id(mission.biome)
        self._world: World | None = None
        self._died = False
        self._action, self._command = np.zeros(1, ACTION), np.zeros(1, COMMAND)

    @property
    def world(self) -> World:
        """The world. The arrays of the world change in place."""
        if self._world is None:
            raise NotBegunError("the mission has not begun: call reset first.")
        return self._world

    @property
    def alive(self) -> bool:
        """Whether the player is alive."""
        player = self.world.player[0]
        return not player["dead"] and player["life"] > 0

    def reset(self, seed: int) -> None:
        """Start an episode. With the same seed and the same commands, the episode is the same on every machine.

        :param seed: the seed of all random numbers. If the mission has no seed, ``seed`` is also the seed of the
            terrain.
        """
        prefetch.start()
        mission, land = self.mission, seed if self.mission.seed is None else self.mission.seed
        if mission.layers:
            self._world = flat(land, [BLOCK[name] for name in mission.layers], mission.biome or "plains")
        elif self._world is None:
            self._world = generate(land, mission.biome)
        else:
            reset_world(self._world, land, mission.biome)
        world, self.statistics, self._died = self._world, Statistics(), False
        clock, player = world.clock, world.player
        clock["rng"] = mix(np.uint64(seed % 2**64) ^ GAMMA)
        clock["time"] = mission.time % 24_000
        clock["break_speed"], clock["time_passes"] = mission.break_speed, mission.time_passes
        clock["mobs_spawn"] = mission.mobs_spawn
        if not mission.mobs_spawn:
            world.mobs["kind"] = 0
        height, width = self.sensors.size
        clock["aspect"] = width / height
        chat.execute(world, f"/weather {mission.weather}")
        start = mission.start
        if start is not None:
            chat.execute(world, f"/tp {start.x!r} {start.y!r} {start.z!r} {start.yaw!r} {start.pitch!r}")
        player["life"], player["food"] = mission.health, mission.food
        for stack in mission.inventory:
            item = ID[stack.name]
            put(world, stack.slot, item, min(stack.quantity, int(STACK[item])), stack.variant, 0)

    def step(self, command: Command = NOTHING) -> None:
        """Run one tick. The fields ``chat``, ``craft``, ``equip`` and ``place`` of a command are executed before the
        player turns. A block is therefore placed in the view direction that the player had in the last observation.

        As in Malmo, a player who died in the last step respawns first.

        :raises CommandError, UnknownNameError: ``chat`` is not a valid command. After an invalid command, no tick
            passes, but a dead player respawns.
        :raises ValueError: pitch or yaw is not finite.
        """
        world = self.world
        if not (math.isfinite(command.pitch) and math.isfinite(command.yaw)):
            raise ValueError(f"pitch and yaw must be finite numbers (degrees); got {command.pitch} and {command.yaw}")
        if self._died:
            respawn(world)
            self._died = False
        if command.chat is not None:
            chat.execute(world, command.chat)
        self._action[0] = (
            command.yaw,
            command.pitch,
            command.forward - command.back,
            command.left - command.right,
            command.jump,
            command.sneak,
            command.sprint,
            command.attack,
            command.use,
            command.drop,
        )
        if command[_FIRST_NON_KEY:-1] != NOTHING[_FIRST_NON_KEY:-1]:
            self._command[0] = (
                -1 if command.craft is None else _CRAFT[command.craft],
                -1 if command.equip is None else ID[command.equip],
                -1 if command.place is None else ID[command.place],
                *((-1, -1) if command.swap is None else command.swap),
                -1 if command.hotbar is None else command.hotbar,
            )
            apply_command(world, self._command)
        before = world.player.copy()
        item = int(world.slots["item"][before["selected"][0]])
        tick(world, self._action)
        count_statistics(world, before, item, command.jump, self.statistics.totals, self.statistics.used)
        self._died = bool(world.player["dead"][0])
        if self._died:
            self.statistics.totals[DEATHS] += 1
            self.statistics.totals[SINCE_DEATH] = 0

    def chat(self, text: str) -> None:
        """Execute a line of the chat (see the module ``chat``). No time passes.

        :raises CommandError, UnknownNameError: ``text`` is not a valid command.
        """
        chat.execute(self.world, text)

    def scalars(self) -> ScalarObservation:
        """Return the scalar observations of the current tick."""
        return read_scalars(self.world)

    def facts(self, scalars: ScalarObservation | None = None) -> dict[str, Any]:
        """Return Malmo's JSON without voxels and rays.

        :param scalars: the result of the method ``scalars`` for this tick, if the caller has this result.
        """
        return {**facts(self.world, scalars or self.scalars()), **self.statistics.as_json(self.world)}

    def info(self) -> dict[str, Any]:
        """Return Malmo's JSON, with ``voxels`` and ``rays`` if the mission has them."""
        info = self.facts()
        arrays = self.sensors.look(self.world)
        if "voxels" in arrays:
            info["voxels"] = flat_voxels(arrays["voxels"])
        if "rays" in arrays:
            info["rays"] = flat_rays(arrays["rays"])
        return info

    def rgb(self) -> NDArray[np.uint8]:
        """Render the player's view to an array uint8 ``(height, width, 3)``, of the mission's ``image_size`` or 160 by
        256.
        """
        return self.sensors.picture(self.world)

    def save(self) -> bytes:
        """Return the state of the episode (the world and the statistics) as bytes. ``mission`` is not included."""
        return pack(
            self.world, {"totals": self.statistics.totals, "used": self.statistics.used, "fell": np.array(self._died)}
        )

    def load(self, data: bytes, *, seed: int | None = None) -> None:
        """Continue from a saved state.

        :param seed: the seed of all random numbers after the loading; with None, the saved random numbers continue.
            With and without ``seed``, chunks that are generated later depend only on the world's own seed.
        :raises SaveError: ``data`` is not a state that this version of the package saved.
        """
        world, beside = unpack(data)
        counts = Statistics()
        try:
            counts.totals[:], counts.used[:] = beside["totals"], beside["used"]
            died = bool(beside["fell"])
        except (KeyError, ValueError, TypeError) as error:
            raise SaveError(f"these bytes are not a saved world: {error}") from error
        if seed is not None:
            world.clock["rng"] = mix(np.uint64(seed % 2**64) ^ GAMMA)
        self._world, self.statistics, self._died = world, counts, died
