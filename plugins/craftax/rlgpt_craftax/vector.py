"""Many environments as one batch, which a single call of JAX moves."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array
from numpy.typing import NDArray
from rlgpt.domain import Task

from rlgpt_craftax.names import ACHIEVEMENTS, ACTIONS
from rlgpt_craftax.observation import Observation, movement, observation_of, space
from rlgpt_craftax.simulator import functions, keep_compiled, simulator

_SEEDS = 1 << 32


class CraftaxVector(VectorEnv[Any, Any, Any]):
    """``count`` environments, each of which behaves as a :class:`~rlgpt_craftax.env.CraftaxEnv` with the same seed.

    An episode that is over stays so until ``reset(options={"reset_mask": mask})``. A new world takes some milliseconds.

    :param seed: of the first environment; those of the others count up from it.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.DISABLED}  # noqa: RUF012 (as gymnasium declares it)

    def __init__(self, task: Task, *, count: int, seed: int) -> None:
        self.num_envs, self._horizon = count, task.horizon
        self.single_observation_space, self.single_action_space = space(), gymnasium.spaces.Discrete(len(ACTIONS))
        self.observation_space = batch_space(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)
        self._simulator, (self._step, self._put) = simulator(), _compiled()
        self._rngs = [seeding.np_random(seed + lane)[0] for lane in range(count)]
        self._steps = np.zeros(count, np.int64)
        self._state: Any = None
        self._observations: list[Observation] = []

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        mask = (options or {}).get("reset_mask")
        lanes = range(self.num_envs) if mask is None else [int(lane) for lane in np.flatnonzero(mask)]
        seeds = [seed + lane for lane in range(self.num_envs)] if isinstance(seed, int) else seed
        first = self._state is None
        starts = [self._start(lane, None if seeds is None else seeds[lane]) for lane in lanes]
        if first:
            import jax

            self._state = jax.tree_util.tree_map(lambda *rows: jax.numpy.stack(rows), *[s[:2] for s in starts])
            self._observations = [observation_of(np.asarray(seen)) for _, _, seen in starts]
        else:
            for lane, (key, state, seen) in zip(lanes, starts, strict=True):
                self._state = self._put(self._state, (key, state), lane)
                self._observations[lane] = observation_of(np.asarray(seen))
        self._steps[list(lanes)] = 0
        infos: dict[str, Any] = {}
        for lane in lanes:
            infos = self._add_info(infos, {"moved": (0, 0), "metrics": self._metrics(lane)}, lane)
        return self._stacked(), infos

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        chosen = np.asarray(actions, np.int32)
        key, state, seen, reward, over = self._step(*self._state, chosen)
        self._state, before = (key, state), self._observations
        self._observations = [observation_of(row) for row in np.asarray(seen)]
        self._steps += 1
        terminated = np.array(over, np.bool_)
        truncated = ~terminated & (self._steps >= self._horizon)
        ended = terminated | truncated
        achieved = np.asarray(state.achievements) if ended.any() else None
        infos: dict[str, Any] = {}
        for lane, action in enumerate(chosen.tolist()):
            metrics = self._metrics(lane)
            if achieved is not None and ended[lane]:
                metrics |= {name: float(got) for name, got in zip(ACHIEVEMENTS, achieved[lane], strict=True)}
            info = {"moved": movement(before[lane], action, self._observations[lane]), "metrics": metrics}
            infos = self._add_info(infos, info, lane)
        return self._stacked(), np.asarray(reward, np.float64), terminated, truncated, infos

    def _start(self, lane: int, seed: int | None) -> tuple[Any, Any, Any]:
        if seed is not None:
            self._rngs[lane] = seeding.np_random(seed)[0]
        started: tuple[Any, Any, Any] = self._simulator.reset(
            self._simulator.key_of(int(self._rngs[lane].integers(_SEEDS)))
        )
        return started

    def _metrics(self, lane: int) -> dict[str, float]:
        return {"floor": float(self._observations[lane]["floor"]), "steps": float(self._steps[lane])}

    def _stacked(self) -> Any:
        out: Any = create_empty_array(self.single_observation_space, self.num_envs)
        return concatenate(self.single_observation_space, self._observations, out)


@functools.cache
def _compiled() -> tuple[Any, Any]:
    """The step of all environments, and a function that replaces the state of one."""
    import jax

    keep_compiled()
    _, step = functions()

    def put(states: Any, state: Any, lane: Any) -> Any:
        return jax.tree_util.tree_map(lambda rows, row: rows.at[lane].set(row), states, state)

    return jax.jit(jax.vmap(step)), jax.jit(put, donate_argnums=0)
