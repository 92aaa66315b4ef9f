"""MineDojo's environment for a task, of the backend its settings name: the same spaces, the same start."""

from __future__ import annotations

from typing import Any

import gymnasium
from voxeldojo.env import MineDojoEnv
from voxeldojo.footing import can_stand
from voxeldojo.mission import Box, Mission, Stack
from voxeldojo.world.chunks import ensure

from rlgpt_minecraft.ground import VOXELS
from rlgpt_minecraft.moves import move
from rlgpt_minecraft.rays import RAYS
from rlgpt_minecraft.settings import Settings
from rlgpt_minecraft.tasks import Spec

NOON = 6000
"""Time of day at the start, as in the official code (``set_time(6000)``); the weather is clear."""

TRIES = 50


def mission_of(spec: Spec, settings: Settings) -> Mission:
    """What a task's world begins with and shows; the land is another one in each episode."""
    return Mission(
        inventory=tuple(Stack(slot=i, name=item, quantity=n) for i, (item, n) in enumerate(spec.inventory)),
        time=NOON,
        biome=settings.biome,
        weather="clear",
        image_size=settings.image_size,
        voxels=Box(**VOXELS),
        rays=RAYS,
    )


def make_world(spec: Spec, settings: Settings, *, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """MineDojo's environment of a task, without its success and horizon."""
    mission = mission_of(spec, settings)
    if settings.backend == "minedojo":
        from rlgpt_minecraft.backend import make_minedojo

        return make_minedojo(mission, mobs=spec.mobs, spread=spec.spread, port=settings.port, render_mode=render_mode)
    return AnimalSpawner(MineDojoEnv(mission, strict=False, informed=False, render_mode=render_mode), spec)


class AnimalSpawner(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Summons a task's animals after each reset, as MineDojo does (``ExtraSpawnMetaTaskBase``): evenly in a square
    around the player. There they stand one block above the player's height; here, on the ground."""

    def __init__(self, env: MineDojoEnv, spec: Spec) -> None:
        super().__init__(env)
        self._mojo, self._spec = env, spec

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        begun = self._mojo.reset(seed=seed, options=options)
        for mob in self._spec.mobs:
            x, y, z = self._somewhere()
            self._mojo.sim.chat(f"/summon {mob} {x} {y} {z}")
        if not self._spec.mobs:
            return begun
        observation, _, _, _, info = self._mojo.step(move())
        return observation, info

    def _somewhere(self) -> tuple[float, int, float]:
        """The middle of a block of firm ground within the square; after some tries, where the player stands."""
        world, draw, reach = self._mojo.sim.world, self._mojo.np_random, self._spec.spread
        player = world.player[0]
        for _ in range(TRIES):
            x, z = (int(player[axis] + draw.uniform(-reach, reach)) for axis in "xz")
            ensure(world, x, z, 0)
            y = int(world.top[x, z]) + 1
            if can_stand(world, x, y, z):
                return x + 0.5, y, z + 0.5
        return float(player["x"]), int(player["y"]), float(player["z"])
