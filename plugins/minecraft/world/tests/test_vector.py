"""The vector environment, compared with single environments with the same seeds and actions."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from voxeldojo.command import EmptySlotError
from voxeldojo.env import MineDojoEnv
from voxeldojo.errors import ConfigError
from voxeldojo.mission import Box, Mission, Stack
from voxeldojo.names import CRAFTS
from voxeldojo.sim import Sim
from voxeldojo.spaces import FUNCTIONS
from voxeldojo.vector import MineDojoVectorEnv

from .test_env import same

COUNT = 2
MISSION = Mission(
    inventory=(Stack(slot=0, name="log", quantity=3), Stack(slot=1, name="dirt", quantity=9)),
    biome="plains",
    voxels=Box(),
    rays=((0.0, 0.0, 10.0), (0.3, 0.2, 20.0)),
)


def actions_of(rng: np.random.Generator, space: Any) -> np.ndarray:
    """Random actions. Most of them craft, place, equip or destroy the items of the inventory."""
    actions = np.array([space.sample() for _ in range(COUNT)])
    actions[:, 3:5] = rng.integers(11, 14, (COUNT, 2))
    actions[:, 6] = CRAFTS.index("planks")
    actions[:, 7] = rng.integers(3, size=COUNT)
    return actions


def equal_worlds(one: Sim, other: Sim) -> bool:
    """Return whether two worlds are the same. The cubes are compared in the generated chunks."""
    x, z = (slice(16 * int(at.min()), 16 * int(at.max()) + 16) for at in np.nonzero(one.world.generated))
    pairs = zip(one.world, other.world, strict=True)
    return all(np.array_equal(a[x, :, z], b[x, :, z]) if a.ndim == 3 else np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_each_environment_of_the_vector_equals_a_single_environment_with_the_same_seed(mode: AutoresetMode) -> None:
    venv = MineDojoVectorEnv(MISSION, COUNT, strict=False, autoreset_mode=mode)
    make = partial(MineDojoEnv, MISSION, strict=False, informed=False)
    each = SyncVectorEnv([make] * COUNT, autoreset_mode=mode)
    assert venv.observation_space == each.observation_space
    assert venv.metadata["autoreset_mode"] is mode
    rng = np.random.default_rng(0)
    venv.single_action_space.seed(0)
    assert same(venv.reset(seed=5)[0], each.reset(seed=5)[0])
    for step in range(14):
        if step == 6:
            for sim in (venv.batch.sims[1], each.envs[1].unwrapped.sim):
                sim.world.player["life"] = 0.0
        actions = actions_of(rng, venv.single_action_space)
        ours, theirs = venv.step(actions), each.step(actions)
        assert same(ours[0], theirs[0])
        assert all(np.array_equal(a, b) for a, b in zip(ours[1:4], theirs[1:4], strict=True))
        assert ours[4].keys() - {"final_info", "_final_info"} == theirs[4].keys() - {"final_info", "_final_info"}
        if "final_obs" in theirs[4]:
            assert same(ours[4]["final_obs"][1], theirs[4]["final_obs"][1])
        if mode is AutoresetMode.DISABLED and ours[2].any():
            again = [{"reset_mask": ours[2].copy()} for _ in range(2)]
            assert same(venv.reset(options=again[0])[0], each.reset(options=again[1])[0])
        for sim, env in zip(venv.batch.sims, each.envs, strict=True):
            assert sim.facts() == env.unwrapped.sim.facts()
    assert ours[0] in venv.observation_space
    assert equal_worlds(venv.batch.sims[0], each.envs[0].unwrapped.sim)


def test_generated_worlds_of_a_vector_equal_those_of_single_environments_across_chunk_borders() -> None:
    mission = Mission(biome="plains", voxels=Box())
    venv = MineDojoVectorEnv(mission, 2)
    envs = [MineDojoEnv(mission, informed=False) for _ in range(2)]
    venv.reset(seed=1)
    for i, env in enumerate(envs):
        env.reset(seed=1 + i)
        for world in (env.sim.world, venv.batch.sims[i].world):
            world.player["x"] = 16 * (world.player["x"] // 16) + 15.9
    actions = venv.no_op()
    actions[:, 0] = 1
    actions[:, 4] = 6  # to the west, then along -z or +x: the player leaves the chunk
    generated = [int(env.sim.world.generated.sum()) for env in envs]
    for _ in range(12):
        venv.step(actions)
        for env, action in zip(envs, actions, strict=True):
            env.step(action)
    assert all(equal_worlds(sim, env.sim) for sim, env in zip(venv.batch.sims, envs, strict=True))
    assert [int(env.sim.world.generated.sum()) for env in envs] > generated


def test_make_vec_of_gymnasium_makes_the_vector_environment() -> None:
    venv = gymnasium.make_vec("VoxelDojo/Survival-v0", num_envs=2, mission={"layers": ["bedrock", "grass"]})
    assert isinstance(venv.unwrapped, MineDojoVectorEnv)
    observation, _ = venv.reset(seed=0)
    assert observation in venv.observation_space


def test_actions_outside_the_space_and_empty_slots_are_refused_with_a_reason() -> None:
    venv = MineDojoVectorEnv({"layers": ["bedrock", "grass"]}, 2)
    venv.reset(seed=0)
    actions = venv.no_op()
    with pytest.raises(ConfigError, match=r"shape \(8,\)"):
        venv.step(actions[0])
    actions[1, 0] = 3
    with pytest.raises(ConfigError, match=r"not an action"):
        venv.step(actions)
    actions[1] = [0, 0, 0, 12, 12, FUNCTIONS.index("equip"), 0, 4]
    with pytest.raises(EmptySlotError, match="slot 4"):
        venv.step(actions)
    with pytest.raises(ConfigError, match="num_envs"):
        MineDojoVectorEnv(num_envs=0)
