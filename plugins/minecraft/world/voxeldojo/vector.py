"""Makes one gymnasium vector environment of many worlds. One call moves all players by one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from voxeldojo.batch import Batch, Seen
from voxeldojo.delta import delta_each
from voxeldojo.errors import ConfigError
from voxeldojo.mission import Mission
from voxeldojo.observe import observe
from voxeldojo.spaces import CAMERA_INTERVAL, action_space, no_op, observation_space
from voxeldojo.world import lidar, voxels

Result = tuple[dict[str, Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class MineDojoVectorEnv(VectorEnv[dict[str, Any], NDArray[np.int64], Any]):
    """``num_envs`` environments that have the same mission. With the same seed and the same actions, each environment
    of the vector has exactly the worlds and observations of an ``env.MineDojoEnv``.

    Observations and actions are those of ``MineDojoEnv`` with a leading axis. ``infos`` is empty, except for the last
    observations of episodes with ``AutoresetMode.SAME_STEP``; ``batch.sims[i].facts()`` returns the values of Malmo's
    JSON. With ``AutoresetMode.DISABLED``, a dead player respawns at the next step, as in ``MineDojoEnv``.

    :param mission, strict, camera_interval: as in ``MineDojoEnv``.
    :param autoreset_mode: when the next episode of an environment begins after the death of its player.
    :ivar batch: the simulators.
    """

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        mission: Mission | Mapping[str, Any] | None = None,
        num_envs: int = 1,
        *,
        strict: bool = True,
        camera_interval: float = CAMERA_INTERVAL,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        if num_envs < 1:
            raise ConfigError(f"num_envs is {num_envs}; valid: 1 or more.")
        self.mission = mission if isinstance(mission, Mission) else Mission.model_validate(mission or {})
        self.num_envs, self._mode = num_envs, AutoresetMode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self._mode}
        self.batch = Batch(self.mission, num_envs, strict=strict, camera_interval=camera_interval)
        box = self.mission.voxels
        self.single_observation_space = observation_space(
            self.mission.image_size, None if box is None else box.shape, len(self.mission.rays)
        )
        self.single_action_space = action_space(camera_interval)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._rngs = [seeding.np_random(None)[0] for _ in range(num_envs)]
        self._over = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode in each environment, or only in those of ``options["reset_mask"]``, bool ``(num_envs,)``.

        :param seed: the seed of the first environment (environment i gets ``seed + i``), or a list with one seed for
            each environment.
        """
        chosen = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_)), np.bool_)
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else seed or [None] * self.num_envs
        for lane in np.flatnonzero(chosen):
            if (own := seeds[lane]) is not None:
                self._rngs[lane] = seeding.np_random(own)[0]
        return self._observation(self._begin(chosen)), {}

    def step(self, actions: NDArray[np.int64]) -> Result:
        moving = ~self._over
        self.batch.move(np.asarray(actions), moving)
        infos: dict[str, Any] = {}
        over = moving & ~self.batch.alive
        if self._mode is AutoresetMode.SAME_STEP:
            seen = self.batch.look(moving)
            if over.any():
                last = self._observation(seen)
                for lane in np.flatnonzero(over):
                    infos = self._add_info(infos, {"final_obs": _row(last, lane), "final_info": {}}, int(lane))
                seen = self._begin(over)
        else:
            seen = self.batch.look(moving)
            if not moving.all():
                seen = self._begin(~moving)
            if self._mode is AutoresetMode.NEXT_STEP:
                self._over = over
        never = np.zeros(self.num_envs, np.bool_)
        return self._observation(seen), np.zeros(self.num_envs), over, never, infos

    def no_op(self) -> NDArray[np.int64]:
        """Return the action that does nothing in every environment, int64 ``(num_envs, 8)``."""
        return np.tile(no_op(self.batch.camera_interval), (self.num_envs, 1))

    def _begin(self, chosen: NDArray[np.bool_]) -> Seen:
        for lane in np.flatnonzero(chosen):
            self.batch.reset(int(lane), int(self._rngs[lane].integers(2**63)))
        self._over = self._over & ~chosen
        return self.batch.begin(chosen)

    def _observation(self, seen: Seen) -> dict[str, Any]:
        mission, found = self.mission, observe(seen.scalars)
        found["delta_inv"] = delta_each(seen.before, seen.scalars.counts, seen.crafts, seen.could)
        if mission.voxels is not None:
            found["voxels"] = voxels.as_observation(seen.ids, seen.metas, seen.cosines)
        if mission.rays:
            rays = np.array(mission.rays, np.float64)
            found["rays"] = lidar.as_observation(rays, seen.found, seen.distances, seen.places)
        if mission.image_size is not None:
            found["rgb"] = np.stack([sim.rgb().transpose(2, 0, 1) for sim in self.batch.sims])
        return found


def _row(observation: Mapping[str, Any], lane: int) -> dict[str, Any]:
    return {name: _row(part, lane) if isinstance(part, dict) else part[lane] for name, part in observation.items()}
