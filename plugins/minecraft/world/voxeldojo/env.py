"""Defines the world as a gymnasium environment with the spaces of ``minedojo.make(...)``.

The class ``MineDojoEnv`` differs from the package MineDojo in four intended ways:

- ``terminated`` is True when the player dies. In MineDojo, a dead player respawns and the episode continues.
- The observation ``damage_source`` describes the newest damage. In MineDojo, ``damage_source`` is always 0, because
  MineDojo does not read the fields that Malmo writes.
- Values outside the bounds of their space are clipped (for example the temperature of a desert), and each array has the
  dtype of its space (MineDojo returns Python booleans although its spaces state int64).
- The observation ``rgb`` exists only if the mission has an ``image_size``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from voxeldojo.command import CRAFT, LAG, LAGGING, NOTHING, translate
from voxeldojo.delta import delta
from voxeldojo.errors import ConfigError
from voxeldojo.masks import CRAFT as CRAFT_MASK
from voxeldojo.masks import Counts, Flags
from voxeldojo.mission import Mission
from voxeldojo.names import CRAFTS, INVENTORY
from voxeldojo.observe import observe
from voxeldojo.sim import Sim
from voxeldojo.spaces import CAMERA_INTERVAL, action_space, no_op, observation_space
from voxeldojo.world.items import NAMES

Observation = dict[str, Any]


class MineDojoEnv(gymnasium.Env[Observation, NDArray[np.int64]]):
    """The environment of one simulator. The environment defines no task, so the reward is always 0, and an episode ends
    only when the player dies.

    The observation space is ``spaces.observation_space``. The action space is ``spaces.action_space``, MultiDiscrete [3
    3 4 25 25 8 244 36]. An action that crafts, equips, places, drops or destroys takes three ticks; every other action
    takes one tick. ``info`` contains the values of Malmo's JSON except voxels and rays.

    :param mission: the initial state of the world and the content of the observation, as a ``Mission`` or as a dict of
        its fields.
    :param strict: whether an action that equips, places or destroys the item of an empty slot raises
        ``EmptySlotError``, as in MineDojo; if False, such an action has no effect.
    :param camera_interval: the angle between two bins of the camera in degrees, above 0 and at most 180.
    :param informed: whether ``info`` contains Malmo's JSON; without Malmo's JSON, a step is faster.
    :param render_mode: "rgb_array" or None.
    :raises ConfigError: an argument is out of its range.
    :raises pydantic.ValidationError: a field of ``mission`` is invalid.
    :raises UnknownNameError: the mission names an unknown item, block or biome.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012

    def __init__(
        self,
        mission: Mission | Mapping[str, Any] | None = None,
        *,
        strict: bool = True,
        camera_interval: float = CAMERA_INTERVAL,
        informed: bool = True,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ConfigError(f"render_mode is {render_mode!r}; valid: None, 'rgb_array'.")
        if not 0 < camera_interval <= 180:
            raise ConfigError(f"camera_interval is {camera_interval}; valid: above 0, at most 180 degrees.")
        self.mission = mission if isinstance(mission, Mission) else Mission.model_validate(mission or {})
        self.render_mode, self.strict, self.camera_interval = render_mode, strict, camera_interval
        self._informed = informed
        self.sim = Sim(self.mission)
        box = self.mission.voxels
        self.observation_space = observation_space(
            self.mission.image_size, None if box is None else box.shape, len(self.mission.rays)
        )
        self.action_space = space = action_space(camera_interval)
        self._heads = space.nvec.tolist()
        self._counts: Counts = np.zeros(len(NAMES))
        self._could: Flags = np.zeros(len(CRAFTS), np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self.sim.reset(int(self.np_random.integers(2**63)))
        return self._begin()

    def step(self, action: NDArray[np.int64]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        array = np.asarray(action)
        heads = array.tolist() if array.shape == (8,) and array.dtype.kind in "iu" else []
        if not heads or not all(0 <= head < n for head, n in zip(heads, self._heads, strict=True)):
            raise ConfigError(f"{action!r} is not an action; valid: {self.action_space}, like {self.no_op().tolist()}.")
        held = [NAMES[item] for item in self.sim.world.slots["item"][:INVENTORY].tolist()]
        command = translate(heads, held, strict=self.strict, camera_interval=self.camera_interval)
        self.sim.step(command)
        for _ in range(LAG if heads[5] in LAGGING else 0):
            if self.sim.alive:
                self.sim.step(NOTHING)
        observation, info = self._observe(heads[6] if heads[5] == CRAFT else None)
        return observation, 0.0, not self.sim.alive, False, info

    def no_op(self) -> NDArray[np.int64]:
        """Return the action that does nothing: int64 ``(8,)``."""
        return no_op(self.camera_interval)

    def render(self) -> NDArray[np.uint8] | None:
        """Return the player's view, uint8 ``(height, width, 3)``, or None if ``render_mode`` is None."""
        return None if self.render_mode is None else self.sim.rgb()

    def save(self) -> bytes:
        """Return the state of the episode as bytes."""
        return self.sim.save()

    def load(self, data: bytes, *, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        """Continue from a saved state. Return the observation and the info of the loaded state; its ``delta_inv`` shows
        no change.

        :param seed: the seed of all random numbers after the loading; with None, the saved random numbers continue.
        :raises SaveError: ``data`` is not a state that this version of the package saved.
        """
        self.sim.load(data, seed=seed)
        return self._begin()

    def _begin(self) -> tuple[Observation, dict[str, Any]]:
        self._counts = self.sim.scalars().counts
        return self._observe(None)

    def _observe(self, craft: int | None) -> tuple[Observation, dict[str, Any]]:
        """Return the observation of the current tick.

        :param craft: the index into ``names.CRAFTS`` of the item that the action crafted; None if the action did not
            craft.
        """
        scalars = self.sim.scalars()
        observation = observe(scalars)
        observation["delta_inv"] = delta(self._counts, scalars.counts, craft, craft is not None and self._could[craft])
        observation.update(self.sim.sensors.look(self.sim.world))
        if self.mission.image_size is not None:
            observation["rgb"] = np.ascontiguousarray(self.sim.rgb().transpose(2, 0, 1))
        self._counts, self._could = scalars.counts, scalars.masks[CRAFT_MASK].copy()
        return observation, self.sim.facts(scalars) if self._informed else {}
