"""MineDojo itself. Run by its own interpreter, in a worker of ``rlgpt.envs``: Python 3.9 to 3.11, nothing of ours.

What is offered are MineDojo's spaces and values, each leaf in its space's dtype, shape and bounds: MineDojo has
booleans where its spaces say int64, and a desert's temperature beyond its bound.
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
"""Keys of Malmo's JSON that the observation holds in a better form."""
SPAWN_HEIGHT = 1
"""Blocks above the player's feet at which MineDojo's tasks summon animals."""
SEED_LIMIT = 2**31 - 1


class MineDojo:
    """A task of MineDojo by the protocol of gymnasium, with seeds that determine what this side draws.

    :param task_id: what ``minedojo.make`` takes.
    :param options: keyword arguments of ``minedojo.make``; ``initial_inventory`` is a list of dictionaries.
    :param mobs: summoned after each reset, evenly in a square of ``spread`` blocks around the player.
    :param port: of a Malmo server that runs already; 0: MineDojo starts the game.
    :param hidden: what MineDojo shows unasked and is left out of the observation: ``rgb``, which can be rendered
        anyway, and the ``voxels`` of some tasks.
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
        """The wrappers, outermost first, and the simulator."""
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
            raise ConnectionError("the mission ended or the game no longer answers; what MineDojo logged says more")
        return self.converted(observation), float(reward), bool(done) or dead, False, info

    def render(self) -> Any:
        return None if self.frame is None else np.ascontiguousarray(self.frame.transpose(1, 2, 0))

    def close(self) -> None:
        self.env.close()

    def reseed(self) -> None:
        """The land where the task names none, and what MineDojo draws by itself: anew in each episode."""
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
    """A value as its space says: dtype, shape, bounds."""
    if hasattr(space, "spaces"):
        return {key: fit(part, value[key]) for key, part in space.spaces.items()}
    array = np.asarray(value)
    if hasattr(space, "low") and array.dtype.kind != "b":
        array = np.clip(array, space.low, space.high)
    return array.reshape(space.shape or ()).astype(np.str_ if array.dtype.kind in "UO" else space.dtype)


def make_minedojo_env(task_id: str, options: Mapping[str, Any]) -> Any:
    """``minedojo.make``, which takes what it reads out of its own table: the table gets it back.

    An option that its table names too is taken from ``options``: together they would be an error.
    """
    kept = copy.deepcopy(ALL_TASKS_SPECS.get(task_id))
    for name in options if kept is not None else ():
        ALL_TASKS_SPECS[task_id].pop(name, None)
    try:
        return minedojo.make(task_id, **options)
    finally:
        if kept is not None:
            ALL_TASKS_SPECS[task_id] = kept


def use_server(port: int) -> None:
    """Every environment of this process plays on the server of that port."""
    new_instance = BridgeEnv._get_new_instance
    BridgeEnv._get_new_instance = lambda bridge, **_: new_instance(bridge, port=port)
