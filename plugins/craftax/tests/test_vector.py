"""A batch of environments, compared with a single environment. JAX compiles the simulator for a minute, so the test is
slow.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from rlgpt.options.simulator import infos_of
from rlgpt.plugin.states import same
from rlgpt_craftax.env import CraftaxEnv
from rlgpt_craftax.vector import CraftaxVector

from .scenes import TASK

pytestmark = pytest.mark.slow
COUNT = 8


def dead(state: Any, lane: Any) -> Any:
    """Return a state in which the player has no health."""
    return state.replace(player_health=jax.numpy.asarray(state.player_health).at[lane].set(0.0))


def test_each_environment_of_the_craftax_vector_equals_a_single_environment_with_the_same_seed() -> None:
    task = TASK.model_copy(update={"horizon": 12})
    batch, envs = CraftaxVector(task, count=COUNT, seed=0), [CraftaxEnv(task, seed=0) for _ in range(COUNT)]
    rng = np.random.default_rng(0)
    observations, infos = batch.reset(seed=3)
    alone = [env.reset(seed=3 + lane) for lane, env in enumerate(envs)]
    for step in range(30):
        parts = infos_of(infos, COUNT)
        for lane, (observation, info) in enumerate(alone):
            assert same({key: values[lane] for key, values in observations.items()}, observation)
            assert same(parts[lane], info)
        if step == 15:
            batch._state = batch._state[0], dead(batch._state[1], 2)
            envs[2]._state = dead(envs[2]._state, ...)
        actions = rng.integers(43, size=COUNT)
        observations, rewards, terminated, truncated, infos = batch.step(actions)
        results = [env.step(action) for env, action in zip(envs, actions, strict=True)]
        alone = [(result[0], result[4]) for result in results]
        assert same([list(map(float, r[1:4])) for r in results], np.stack([rewards, terminated, truncated], 1).tolist())
        assert (infos.get("cause", [""] * COUNT)[2] == "the player died") == (step == 15)
        if (over := terminated | truncated).any():
            parts = infos_of(infos, COUNT)
            for lane in np.flatnonzero(over):
                assert same(parts[lane], alone[lane][1])
            seeds = [100 + step + lane if over[lane] else None for lane in range(COUNT)]
            observations, infos = batch.reset(seed=seeds, options={"reset_mask": over})
            for lane in range(COUNT):
                alone[lane] = envs[lane].reset(seed=seeds[lane]) if over[lane] else (alone[lane][0], {})
