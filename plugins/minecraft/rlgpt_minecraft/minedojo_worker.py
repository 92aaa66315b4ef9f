"""Runs MineDojo's environment in a worker of ``rlgpt.envs``. MineDojo's interpreter (Python 3.9 to 3.11) runs this
file, which imports no other file of the plugin.

Spaces and values are MineDojo's. Each array of an observation is converted to the dtype, shape and bounds of its space.
Without this conversion, MineDojo returns booleans where its spaces state int64, and the temperature of a desert exceeds
its bound.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import minedojo
import numpy as np
from minedojo.sim import InventoryItem
from minedojo.sim.bridge import BridgeEnv
from minedojo.tasks import ALL_TASKS_SPECS

HIDDEN = ("voxels", "rays", "pov")
"""Keys of Malmo's JSON that ``info`` does not contain, because the observation has their values."""
SPAWN_HEIGHT = 1
"""Height above the player's feet at which MineDojo's tasks summon animals, in blocks."""
SEED_LIMIT = 2**31 - 1


class MineDojo:
    """Gives a task of MineDojo the interface of gymnasium. The seed of ``reset`` determines all random numbers that
    this class draws.

    :param task_id: the task id for ``minedojo.make``.
    :param options: the keyword arguments of ``minedojo.make``; ``initial_inventory`` is a list of dictionaries.
    :param mobs: the mobs that each reset summons at uniformly drawn positions in a square of ``spread`` blocks around
        the player.
    :param port: the port of a running Malmo server; with 0, MineDojo starts the game.
    :param hidden: the keys that MineDojo always returns and that the observation leaves out, such as ``rgb`` (which
        ``render`` returns nevertheless) and the ``voxels`` of some tasks.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012

    def __init__(
        self,
        task_id: str,
        options: Mapping[str, Any],
        mobs: Sequence[str] = (),
        spread: float = 0.0,
        port: int = 0,
        hidden: Sequence[str] = (),
    ) -> None:
        known = dict(options)
        if "initial_inventory" in known:
            known["initial_inventory"] = [InventoryItem(**item) for item in known["initial_inventory"]]
        if "lidar_rays" in known:
            known["lidar_rays"] = [tuple(ray) for ray in known["lidar_rays"]]
        if port:
            use_server(port)
        self.env = make_minedojo_env(task_id, known)
        for layer in self.layers():
            if "_strict_check" in vars(layer):
                layer._strict_check = False
        self.mobs, self.spread = list(mobs), spread
        shown = {key: space for key, space in self.env.observation_space.spaces.items() if key not in hidden}
        self.observation_space = type(self.env.observation_space)(shown)
        self.action_space = self.env.action_space
        self.rng = np.random.default_rng()
        self.frame: Any = None

    def layers(self) -> list[Any]:
        """Return the simulator and its wrappers, beginning with the outermost wrapper."""
        found = [self.env]
        while "env" in vars(found[-1]):
            found.append(found[-1].env)
        return found

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.reseed()
        observation = self.env.reset()
        if self.mobs:
            places = self.rng.uniform(-self.spread, self.spread, (len(self.mobs), 3))
            places[:, 1] = SPAWN_HEIGHT
            self.env.unwrapped.spawn_mobs(self.mobs, places)
            observation, _, _, _ = self.env.step(self.action_space.no_op())
        return self.converted(observation), self.malmo_info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, done, _ = self.env.step(action)
        info = self.malmo_info()
        dead = not info.get("is_alive", True) or info.get("life", 1.0) <= 0
        if self.env.unwrapped.is_terminated and not (dead or info["success"]):
            raise ConnectionError("the mission ended or the game no longer answers; see MineDojo's log")
        return self.converted(observation), float(reward), bool(done) or dead, False, info

    def render(self) -> Any:
        return None if self.frame is None else np.ascontiguousarray(self.frame.transpose(1, 2, 0))

    def close(self) -> None:
        self.env.close()

    def reseed(self) -> None:
        """Seed MineDojo's own generators for a new episode, and the terrain if the task names no seed."""
        simulator = self.env.unwrapped
        simulator.seed(self.draw())
        for layer in self.layers():
            for name in ("_mob_spawn_range_space", "_extra_spawn_range_space"):
                if name in vars(layer):
                    vars(layer)[name].seed(self.draw())
            if "_extra_spawn_rate" in vars(layer) and layer._extra_spawn_rate is not None:
                layer._rng = np.random.default_rng(self.draw())
        for handler in simulator._sim_spec._world_generator_handlers:
            if not getattr(handler, "world_seed", "none") or getattr(handler, "drawn", False):
                handler.world_seed, handler.drawn = str(self.draw()), True

    def draw(self) -> int:
        return int(self.rng.integers(SEED_LIMIT))

    def converted(self, observation: Mapping[str, Any]) -> Any:
        self.frame = observation["rgb"]
        return fit(self.observation_space, observation)

    def malmo_info(self) -> dict[str, Any]:
        info = {key: value for key, value in self.env.unwrapped.prev_info.items() if key not in HIDDEN}
        return {**info, "success": bool(getattr(self.env, "is_successful", False))}


def fit(space: Any, value: Any) -> Any:
    """Convert a value to the dtype, shape and bounds of its space."""
    if hasattr(space, "spaces"):
        return {key: fit(part, value[key]) for key, part in space.spaces.items()}
    array = np.asarray(value)
    if hasattr(space, "low") and array.dtype.kind != "b":
        array = np.clip(array, space.low, space.high)
    return array.reshape(space.shape or ()).astype(np.str_ if array.dtype.kind in "UO" else space.dtype)


def make_minedojo_env(task_id: str, options: Mapping[str, Any]) -> Any:
    """Call ``minedojo.make`` and restore MineDojo's table of tasks, from which ``minedojo.make`` removes entries.

    An option in ``options`` replaces the option of the same name in MineDojo's table of tasks; ``minedojo.make`` alone
    would raise an error for this option.
    """
    saved_task = copy.deepcopy(ALL_TASKS_SPECS.get(task_id))
    for name in options if saved_task is not None else ():
        ALL_TASKS_SPECS[task_id].pop(name, None)
    try:
        return minedojo.make(task_id, **options)
    finally:
        if saved_task is not None:
            ALL_TASKS_SPECS[task_id] = saved_task


def use_server(port: int) -> None:
    """Make every MineDojo environment of this process use the Malmo server on ``port``."""
    new_instance = BridgeEnv._get_new_instance
    BridgeEnv._get_new_instance = lambda bridge, **_: new_instance(bridge, port=port)
