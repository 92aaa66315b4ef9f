"""Makes MineDojo's environment of a task, on the backend that the task's settings name. The two backends give a task
the same spaces and the same initial state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from voxeldojo.env import MineDojoEnv
from voxeldojo.footing import can_stand
from voxeldojo.mission import Box, Mission, Stack
from voxeldojo.sim import Sim
from voxeldojo.world.chunks import ensure
from voxeldojo.world.items import ID as ITEMS
from voxeldojo.world.mob_kinds import ID as MOBS
from voxeldojo.world.state import World

from rlgpt_minecraft.ground import VOXELS
from rlgpt_minecraft.moves import move
from rlgpt_minecraft.rays import RAYS
from rlgpt_minecraft.settings import Settings
from rlgpt_minecraft.tasks import Spec

TRIES = 50


def mission_of(spec: Spec, settings: Settings) -> Mission:
    """Return the mission of a task. Each episode has a new landscape."""
    slots = spec.slots or range(len(spec.inventory))
    return Mission(
        inventory=tuple(
            Stack(slot=slot, name=item, quantity=n) for slot, (item, n) in zip(slots, spec.inventory, strict=True)
        ),
        time=spec.time,
        time_passes=spec.time_passes,
        mobs_spawn=spec.mobs_spawn,
        biome=settings.biome,
        weather="clear",
        image_size=settings.image_size,
        voxels=Box(**VOXELS),
        rays=RAYS,
    )


def make_world(spec: Spec, settings: Settings, *, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Make MineDojo's environment of a task, without the task's horizon. With ``backend=minedojo``, MineDojo itself
    makes and judges each of its own tasks, unless the settings name another biome.
    """
    mission = mission_of(spec, settings)
    if settings.backend == "minedojo":
        from rlgpt_minecraft.backend import make_minedojo, make_task

        if judged_by_minedojo(spec, settings):
            return make_task(
                spec.minedojo_id,
                image_size=mission.image_size,
                voxels=mission.voxels,
                rays=mission.rays,
                port=settings.port,
                render_mode=render_mode,
            )
        return make_minedojo(mission, mobs=spec.mobs, spread=spec.spread, port=settings.port, render_mode=render_mode)
    return AnimalSpawner(MineDojoEnv(mission, strict=False, informed=False, render_mode=render_mode), spec)


def statistic(spec: Spec, sim: Sim) -> int:
    """Return how many target mobs the player of an embedded world has killed, or how often the player has used the
    target item.
    """
    counts = sim.world.kills if spec.kind == "kill" else sim.statistics.used
    return int(counts[(MOBS if spec.kind == "kill" else ITEMS)[spec.target]])


def minedojo_statistic(spec: Spec, info: Mapping[str, Any]) -> int:
    """Return the same as :func:`statistic` from the ``info`` of MineDojo."""
    stat = info["stat"]
    return int(stat["kill_entity"][spec.target] if spec.kind == "kill" else stat["use_item"]["minecraft"][spec.target])


def judged_by_minedojo(spec: Spec, settings: Settings) -> bool:
    """Return whether MineDojo makes and judges the task itself."""
    own = bool(spec.minedojo_id) and (settings.biome or "") == spec.biome
    return own and settings.backend == "minedojo"


class AnimalSpawner(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Summons the mobs of a task after each reset, at uniformly drawn positions in a square around the player.

    MineDojo (``ExtraSpawnMetaTaskBase``) summons animals one block above the player's height; this class puts the
    animals on the ground.
    """

    def __init__(self, env: MineDojoEnv, spec: Spec) -> None:
        super().__init__(env)
        self._minedojo, self._spec = env, spec

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        result = self._minedojo.reset(seed=seed, options=options)
        summon(self._minedojo.sim, self._minedojo.np_random, self._spec)
        if not self._spec.mobs:
            return result
        observation, _, _, _, info = self._minedojo.step(move())
        return observation, info


def summon(sim: Sim, draw: np.random.Generator, spec: Spec) -> None:
    """Summon the animals of a task. The caller then takes an idle step."""
    for mob in spec.mobs:
        x, y, z = _random_ground(sim.world, draw, spec.spread)
        sim.chat(f"/summon {mob} {x} {y} {z}")


def _random_ground(world: World, draw: np.random.Generator, reach: int) -> tuple[float, int, float]:
    """Draw a block of firm ground in the square around the player, and return the block's centre. If no drawn block is
    firm ground, return the position of the player.
    """
    player = world.player[0]
    for _ in range(TRIES):
        x, z = (int(player[axis] + draw.uniform(-reach, reach)) for axis in "xz")
        ensure(world, x, z, 0)
        y = int(world.top[x, z]) + 1
        if can_stand(world, x, y, z):
            return x + 0.5, y, z + 0.5
    return float(player["x"]), int(player["y"]), float(player["z"])
