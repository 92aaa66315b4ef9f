"""The grid world, which is the plugin for tests."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.testing.grid import DIRECTIONS, TASKS, USE, GridEnv, GridPlugin, distance


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_grid_environment_passes_check_env_of_gymnasium(task) -> None:
    check_env(GridPlugin().make_env(task, seed=0), skip_render_check=True)


def _towards(env: GridEnv, goal: tuple[int, int]) -> int:
    if env.agent[0] != goal[0]:
        return DIRECTIONS.index("up" if env.agent[0] > goal[0] else "down")
    if env.agent[1] != goal[1]:
        return DIRECTIONS.index("left" if env.agent[1] > goal[1] else "right")
    return USE


@given(seed=st.integers(0, 10_000))
def test_shortest_path_solves_the_task_grid_door(seed: int) -> None:
    env = GridEnv("door", 80)
    env.reset(seed=seed)
    shortest = distance(env.agent, env.key) + distance(env.key, env.door) + 2
    for step in range(1, shortest + 1):
        goal = env.door if env.holding else env.key
        *_, terminated, truncated, info = env.step(np.int64(_towards(env, goal)))
        assert (terminated, info["success"]) == (step == shortest,) * 2
        assert not truncated


@given(seed=st.integers(0, 10_000))
def test_reset_option_near_key_starts_the_agent_beside_the_key(seed: int) -> None:
    env = GridEnv()
    env.reset(seed=seed, options={"start": "near_key"})
    assert distance(env.agent, env.key) == 1
    assert env.agent != env.door


def test_grid_environment_is_truncated_at_its_horizon() -> None:
    env = GridEnv("key", 5)
    env.reset(seed=0)
    assert [env.step(np.int64(0))[3] for _ in range(5)] == [False] * 4 + [True]


def test_grid_environment_renders_agent_key_and_door() -> None:
    env = GridEnv(render_mode="rgb_array")
    env.reset(seed=0)
    image = env.render()
    assert image is not None
    assert image.shape == (112, 112, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) == 4
