"""Runs a batch of simulators, each of which has a world of its own. One call moves the players of many worlds by one
step of the environment, and another call observes these worlds. A simulator in a batch computes the same worlds and
observations as a simulator in an environment of its own.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voxeldojo import chat
from voxeldojo.batch_kernels import LINKED, advance, look
from voxeldojo.command import CRAFT, DROP, EQUIP, LAG, LAGGING, PLACE, translate
from voxeldojo.command import DESTROY as DESTROYS
from voxeldojo.commands import COMMAND
from voxeldojo.errors import ConfigError
from voxeldojo.masks import CRAFT as CRAFT_MASK
from voxeldojo.masks import SIZE as MASKS
from voxeldojo.mission import Mission
from voxeldojo.names import INVENTORY
from voxeldojo.scalars import FLAGS, FLOATS, INTEGERS, ScalarObservation
from voxeldojo.sim import Sim
from voxeldojo.spaces import CAMERA_INTERVAL, action_space
from voxeldojo.stats import DEATHS, SINCE_DEATH, TOTALS
from voxeldojo.world.chunks import SPAWN_CHUNKS, ensure
from voxeldojo.world.health import respawn
from voxeldojo.world.items import ID
from voxeldojo.world.items import NAMES as ITEM_NAMES
from voxeldojo.world.lanes import addresses
from voxeldojo.world.state import ACTION, PLAYER, SLOTS, World

Actions = NDArray[np.int64]
Mask = NDArray[np.bool_]
_OF_A_SLOT = (EQUIP, PLACE, DESTROYS)


class Seen(NamedTuple):
    """The observations of all simulators in one step. Each array has one row for each simulator.

    :ivar scalars: the scalars and the inventory.
    :ivar found, distances, places: the outputs of ``lidar.cast``, ``(n, rays, ...)``.
    :ivar ids, metas, cosines: the outputs of ``voxels.read_box``, ``(n, x, y, z)``.
    :ivar before: the counts of items in the previous observation.
    :ivar crafts: the index into ``names.CRAFTS`` of the item that the last action crafted, or -1.
    :ivar could: whether the mask of the previous observation allowed the craft of the last action.
    """

    scalars: ScalarObservation
    found: NDArray[np.int64]
    distances: NDArray[np.float64]
    places: NDArray[np.int64]
    ids: NDArray[np.int64]
    metas: NDArray[np.int64]
    cosines: NDArray[np.float32]
    before: NDArray[np.float64]
    crafts: NDArray[np.int64]
    could: Mask


class Batch:
    """A batch of simulators that run at the same time.

    :param mission: the initial state of each world, and the content of each observation.
    :param count: the number of simulators.
    :param strict, camera_interval: as in ``env.MineDojoEnv``.
    :ivar sims: the simulators. Do not call their methods ``step``, ``reset`` and ``load``.
    :ivar alive: whether each player is alive, bool ``(count,)``.
    """

    def __init__(
        self, mission: Mission, count: int, *, strict: bool = True, camera_interval: float = CAMERA_INTERVAL
    ) -> None:
        self.mission, self.strict, self.camera_interval = mission, strict, camera_interval
        self.sims = [Sim(mission) for _ in range(count)]
        self.alive = np.ones(count, np.bool_)
        self._dead, self._crossed = np.zeros((2, count), np.bool_)
        self._worlds = np.zeros((count, len(World._fields)), np.int64)
        self._keys, self._commands = np.zeros(count, ACTION), np.zeros(count, COMMAND)
        self._before = np.zeros(1, PLAYER)
        self._totals, self._used = (np.zeros((count, n), np.int64) for n in (len(TOTALS), len(ITEM_NAMES)))
        self._heads = action_space(camera_interval).nvec
        self._rays = np.array(mission.rays, np.float64).reshape(-1, 3)
        box = mission.voxels
        self._corner = np.array([0, 0, 0] if box is None else [box.xmin, box.ymin, box.zmin], np.int64)
        self._shape = (0, 0, 0) if box is None else box.shape
        self._crafts, self._seen = np.full(count, -1), self._unseen()

    def reset(self, lane: int, seed: int) -> None:
        """Start an episode in one simulator (see ``Sim.reset``). The other simulators do not change.

        :param lane: the index of the simulator.
        :param seed: the seed of the episode.
        """
        sim = self.sims[lane]
        sim.reset(seed)
        self._worlds[lane] = addresses(sim.world)
        sim.statistics.totals, sim.statistics.used = self._totals[lane], self._used[lane]
        self._totals[lane], self._used[lane] = 0, 0
        self.alive[lane], self._dead[lane] = sim.alive, False

    def move(self, actions: Actions, moving: Mask) -> None:
        """Take one step of the environment in each simulator for which ``moving`` is True.

        :param actions: actions of MineDojo, int64 ``(count, 8)``.
        :raises ConfigError: an action is not in the action space.
        :raises EmptySlotError: see ``env.MineDojoEnv``. No player has moved.
        """
        self._check(actions)
        walk, strafe, body, pitch, yaw, function, craft, _ = actions.T
        keys, commands = self._keys, self._commands
        keys["yaw"], keys["pitch"] = yaw * self.camera_interval - 180, pitch * self.camera_interval - 180
        keys["forward"], keys["strafe"] = ((head == 1) * 1 - (head == 2) for head in (walk, strafe))
        for number, name in enumerate(("jump", "sneak", "sprint"), 1):
            keys[name] = body == number
        keys["use"], keys["attack"], keys["drop"] = function == 1, function == 3, function == DROP
        commands[:] = -1
        self._crafts = np.where(moving & (function == CRAFT), craft, -1)
        commands["craft"] = self._crafts
        chats = self._use_slots(actions, np.flatnonzero(moving & np.isin(function, _OF_A_SLOT)))
        for lane in np.flatnonzero(moving & self._dead):
            respawn(self.sims[lane].world)
        for lane, text in chats:
            chat.execute(self.sims[lane].world, text)
        self._tick(moving)
        lagging = moving & np.isin(function, list(LAGGING))
        for _ in range(LAG if lagging.any() else 0):
            for name in ACTION.names or ():
                keys[name] = 0
            commands[:] = -1
            self._tick(lagging & self.alive)

    def look(self, looking: Mask) -> Seen:
        """Observe the worlds of the simulators for which ``looking`` is True. The rows of the other simulators are
        those of the last observation. The arrays are new.
        """
        last = self._seen
        seen = self._unseen() if looking.all() else _copied(last)
        arrays = (seen.found, seen.distances, seen.places), (seen.ids, seen.metas, seen.cosines)
        look(_kernels(), self._worlds, looking, *seen.scalars, self._rays, *arrays[0], self._corner, *arrays[1])
        seen.before[looking], seen.crafts[looking] = last.scalars.counts[looking], self._crafts[looking]
        could = np.take_along_axis(last.scalars.masks[:, CRAFT_MASK], np.maximum(seen.crafts, 0)[:, None], 1)[:, 0]
        seen.could[looking] = could[looking]
        self._seen = seen
        return seen

    def begin(self, looking: Mask) -> Seen:
        """Observe the worlds of the simulators for which ``looking`` is True, at the start of their episodes. The first
        observation of an episode shows no change of the inventory.
        """
        self._crafts = np.where(looking, -1, self._crafts)
        seen = self.look(looking)
        seen.before[looking] = seen.scalars.counts[looking]
        return seen

    def _use_slots(self, actions: Actions, lanes: NDArray[np.intp]) -> list[tuple[int, str]]:
        """Write the commands of actions that equip, place or destroy, and return the lines of chat that destroy
        items.
        """
        chats = []
        for lane in lanes.tolist():
            held = [ITEM_NAMES[item] for item in self.sims[lane].world.slots["item"][:INVENTORY].tolist()]
            command = translate(actions[lane], held, strict=self.strict, camera_interval=self.camera_interval)
            if command.chat is not None:
                chats.append((lane, command.chat))
            for name, item in (("equip", command.equip), ("place", command.place)):
                self._commands[name][lane] = -1 if item is None else ID[item]
        return chats

    def _tick(self, moving: Mask) -> None:
        arrays = self._keys, self._commands, self._before, self._totals, self._used
        advance(_kernels(), self._worlds, moving, *arrays, self._crossed, self._dead, self.alive)
        for lane in np.flatnonzero(moving & self._crossed):
            world = self.sims[lane].world
            ensure(world, int(world.player["x"][0]), int(world.player["z"][0]), SPAWN_CHUNKS)
        if (fallen := moving & self._dead).any():
            self._totals[fallen, DEATHS] += 1
            self._totals[fallen, SINCE_DEATH] = 0

    def _check(self, actions: Actions) -> None:
        count = len(self.sims)
        if actions.shape != (count, 8) or actions.dtype.kind not in "iu":
            raise ConfigError(f"actions of shape {actions.shape}, {actions.dtype}; valid: integers ({count}, 8).")
        if ((actions < 0) | (actions >= self._heads)).any():
            wrong = actions[((actions < 0) | (actions >= self._heads)).any(axis=1)][0]
            raise ConfigError(f"{wrong} is not an action; valid: {action_space(self.camera_interval)}.")

    def _unseen(self) -> Seen:
        n, rays = len(self.sims), len(self._rays)
        scalars = ScalarObservation(
            np.empty((n, len(FLOATS)), np.float32),
            np.empty((n, len(FLAGS)), np.bool_),
            np.empty((n, len(INTEGERS)), np.int64),
            np.empty((n, 3, SLOTS), np.float32),
            np.empty((n, 2, SLOTS), np.int64),
            np.zeros((n, len(ITEM_NAMES))),
            np.zeros((n, MASKS), np.bool_),
        )
        return Seen(
            scalars,
            np.empty((n, rays, 3), np.int64),
            np.empty((n, rays, 2)),
            np.empty((n, rays, 3), np.int64),
            np.empty((n, *self._shape), np.int64),
            np.empty((n, *self._shape), np.int64),
            np.empty((n, *self._shape), np.float32),
            np.zeros((n, len(ITEM_NAMES))),
            np.full(n, -1),
            np.zeros(n, np.bool_),
        )


def _copied(seen: Seen) -> Seen:
    arrays: Any = seen
    return Seen(ScalarObservation(*(a.copy() for a in arrays.scalars)), *(a.copy() for a in arrays[1:]))


@cache
def _kernels() -> NDArray[np.int64]:
    return np.array([linked.address() for linked in LINKED], np.int64)
