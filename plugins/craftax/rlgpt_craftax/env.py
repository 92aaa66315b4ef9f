"""Defines the gymnasium environment of Craftax-Symbolic-v1, whose observation is a dict of codes and counts."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from rlgpt.domain import Task
from rlgpt.errors import StateError
from rlgpt.plugin.state_data import pack, record, whole

from rlgpt_craftax.names import ACHIEVEMENTS, ACTIONS
from rlgpt_craftax.observation import Observation, cause, movement, observation_of, space
from rlgpt_craftax.simulator import DECODED, simulator

_SEEDS = 1 << 32
_STATE = ("leaves", "key", "seen", "steps", "rng")


class CraftaxEnv(gymnasium.Env[Observation, np.int64]):
    """The benchmark Craftax-Symbolic-v1 with its own rules and default parameters. An episode terminates when the
    player dies or defeats the necromancer (the final enemy), and is truncated at the task's horizon.

    ``info["moved"]`` says by how many cells (right, down) the last step moved the player. The value is None if the
    observations before and after the step do not show the movement. ``info["cause"]`` says why the episode terminated.
    ``info["metrics"]`` has the entries ``floor`` (the current floor) and ``steps`` after each step. The achievements
    are in ``info`` only at the end of the episode, as in the benchmark's own ``info``.

    :param seed: the seed of the random numbers that are drawn before the first reset.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 (as gymnasium declares it)

    def __init__(self, task: Task, *, seed: int, render_mode: str | None = None) -> None:
        self.observation_space, self.action_space = space(), gymnasium.spaces.Discrete(len(ACTIONS))
        self.render_mode, self._horizon = render_mode, task.horizon
        self._simulator = simulator()
        self._np_random, self._np_random_seed = seeding.np_random(seed)
        self._state: Any = None
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        key = self._simulator.key_of(int(self.np_random.integers(_SEEDS)))
        self._key, self._state, seen = self._simulator.reset(key)
        self._steps = 0
        self._see(seen)
        return self._copy(), {"moved": (0, 0), "metrics": self._metrics()}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        before = self._observation
        self._key, self._state, seen, reward, over = self._simulator.step(self._key, self._state, int(action))
        self._see(seen)
        self._steps += 1
        terminated = bool(over)
        truncated = not terminated and self._steps >= self._horizon
        metrics = self._metrics()
        if terminated or truncated:
            achieved = np.asarray(self._state.achievements)
            metrics |= {name: float(got) for name, got in zip(ACHIEVEMENTS, achieved, strict=True)}
        info: dict[str, Any] = {"moved": movement(before, int(action), self._observation), "metrics": metrics}
        if terminated:
            info["cause"] = cause(self._observation["body"])
        return self._copy(), float(reward), terminated, truncated, info

    def render(self) -> Any:
        from rlgpt_craftax.pictures import picture

        return picture(self._observation) if self.render_mode == "rgb_array" else None

    def save(self) -> bytes:
        """Return the state of the episode as bytes.

        :raises StateError: no episode has begun.
        """
        if self._state is None:
            raise StateError("there is no episode to save; call reset() first.")
        leaves, key = self._simulator.leaves(self._state), np.asarray(self._key)
        values = (leaves, key, self._seen, self._steps, self.np_random)
        return pack(dict(zip(_STATE, values, strict=True)))

    def load(self, state: bytes, *, seed: int | None = None) -> None:
        """Continue a saved episode.

        :param seed: the seed of all random numbers after the loading; with None, the saved random numbers continue.
        :raises StateError: the bytes are not a saved state of this environment.
        """
        saved = record(state, _STATE, seed=seed)
        key, seen, rng = saved["key"], saved["seen"], saved["rng"]
        if not (_is(key, np.uint32, (2,)) and _is(seen, np.float32, (DECODED,)) and np.isfinite(seen).all()):
            raise StateError("the saved state's key or observation is not that of this environment.")
        if not isinstance(rng, np.random.Generator) or not isinstance(saved["leaves"], list):
            raise StateError("the saved state's generator or arrays are missing.")
        steps = whole(saved["steps"], 0, self._horizon, "count of steps")
        try:
            restored = self._simulator.state_of(saved["leaves"])
        except ValueError as fault:
            raise StateError(f"the saved state's arrays are not those of this version of Craftax: {fault}.") from fault
        observation = observation_of(seen)
        if observation not in self.observation_space:
            raise StateError("the saved state's observation is not in the observation space.")
        self._state, self._steps, self._np_random = restored, steps, rng
        self._key = key if seed is None else np.asarray(self._simulator.key_of(seed % _SEEDS))
        self._see(seen)

    def _see(self, seen: Any) -> None:
        self._seen = np.asarray(seen)
        self._observation = observation_of(self._seen)

    def _copy(self) -> Observation:
        """A copy of the newest observation. Only the dict is copied, and not its arrays, because no code changes the
        arrays.
        """
        return dict(self._observation)

    def _metrics(self) -> dict[str, float]:
        return {"floor": float(self._observation["floor"]), "steps": float(self._steps)}


def _is(value: Any, dtype: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == dtype and value.shape == shape
