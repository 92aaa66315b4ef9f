"""Many environments as one batch. One call of JAX steps all of them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray
from rlgpt.domain import Task

from rlgpt_craftax.names import ACHIEVEMENTS, ACTIONS
from rlgpt_craftax.observation import Offset, cause, movements, observation_of, space
from rlgpt_craftax.simulator import functions, options, prepare, simulator

_SEEDS = 1 << 32


class CraftaxVector(VectorEnv[Any, Any, Any]):
    """A vector of ``count`` environments. Each environment of the vector behaves like a
    :class:`~rlgpt_craftax.env.CraftaxEnv` with the same seed.

    An environment whose episode is over continues, with steps that mean nothing, until a call of ``reset`` with the
    option ``reset_mask`` selects it, because the generation of a new world takes some milliseconds.

    :param seed: the seed of the first environment; environment ``i`` has the seed ``seed + i``.
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

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        mask = (options or {}).get("reset_mask")
        lanes = range(self.num_envs) if mask is None else [int(lane) for lane in np.flatnonzero(mask)]
        seeds = [seed + lane for lane in range(self.num_envs)] if isinstance(seed, int) else seed
        starts = [self._start(lane, None if seeds is None else seeds[lane]) for lane in lanes]
        if len(starts) == self.num_envs:
            self._state, self._seen = _stack([s[:2] for s in starts]), np.stack([np.asarray(s[2]) for s in starts])
        else:
            self._seen = self._seen.copy()
            for lane, (key, state, seen) in zip(lanes, starts, strict=True):
                self._state, self._seen[lane] = self._put(self._state, (key, state), lane), np.asarray(seen)
        self._observation = observation_of(self._seen)
        self._steps[list(lanes)] = 0
        present = np.isin(np.arange(self.num_envs), list(lanes))
        return self._observation, {**self._info([(0, 0)] * self.num_envs), "_moved": present, "_metrics": present}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        chosen, before = np.asarray(actions, np.int32), self._observation
        key, state, seen, reward, over = self._step(*self._state, chosen)
        self._state, self._seen = (key, state), np.asarray(seen)
        self._observation = after = observation_of(self._seen)
        self._steps += 1
        terminated = np.array(over, np.bool_)
        truncated = ~terminated & (self._steps >= self._horizon)
        infos = self._info(movements(before, chosen, after))
        if terminated.any():
            infos |= {"cause": np.array([cause(body) for body in after["body"]], object), "_cause": terminated}
        if (ended := terminated | truncated).any():
            achieved = np.asarray(state.achievements, np.float64)
            for number, name in enumerate(ACHIEVEMENTS):
                infos["metrics"] |= {name: achieved[:, number], f"_{name}": ended}
        return after, np.asarray(reward, np.float64), terminated, truncated, infos

    def _start(self, lane: int, seed: int | None) -> tuple[Any, Any, Any]:
        if seed is not None:
            self._rngs[lane] = seeding.np_random(seed)[0]
        started: tuple[Any, Any, Any] = self._simulator.reset(
            self._simulator.key_of(int(self._rngs[lane].integers(_SEEDS)))
        )
        return started

    def _info(self, moved: Sequence[Offset | None]) -> dict[str, Any]:
        every = np.ones(self.num_envs, np.bool_)
        offsets = np.empty(self.num_envs, object)
        offsets[:] = moved
        floor = self._observation["floor"].astype(np.float64)
        metrics = {"floor": floor, "_floor": every, "steps": self._steps.astype(np.float64), "_steps": every}
        return {"moved": offsets, "_moved": every, "metrics": metrics, "_metrics": every}


def _stack(states: Sequence[Any]) -> Any:
    import jax

    return jax.tree_util.tree_map(lambda *rows: jax.numpy.stack(rows), *states)


@functools.cache
def _compiled() -> tuple[Any, Any]:
    """Return two compiled functions. The first function steps all environments, and the second function replaces the
    state of one environment. Both functions write the new states over the old ones, so the old states cannot be used
    any more.
    """
    import jax

    prepare()
    _, step = functions()
    compiled = functools.partial(jax.jit, compiler_options=options())

    def put(states: Any, state: Any, lane: Any) -> Any:
        return jax.tree_util.tree_map(lambda rows, row: rows.at[lane].set(row), states, state)

    return compiled(jax.vmap(step), donate_argnums=(0, 1)), compiled(put, donate_argnums=0)
