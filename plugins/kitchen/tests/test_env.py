"""The kitchen environment is valid, has the same steps as FrankaKitchen-v1, and copies its observations."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from rlgpt.domain import Task
from rlgpt.errors import ConfigError
from rlgpt_kitchen.elements import ELEMENTS
from rlgpt_kitchen.plugin import KitchenPlugin
from rlgpt_kitchen.tasks import ELEMENT_HORIZON, HORIZON, elements_of, make_tasks

TASKS = make_tasks()


def test_kitchen_has_tasks_for_seven_elements_and_three_sequences_each_with_a_noisy_variant() -> None:
    assert len(TASKS) == 20
    for name, task in TASKS.items():
        twin = TASKS.get(f"{name}_noisy")
        assert (twin is not None) != name.endswith("_noisy")
        if twin is not None:
            assert elements_of(twin) == elements_of(task)
            assert twin.settings["robot_noise_ratio"] > task.settings["robot_noise_ratio"]  # type: ignore[operator]
        assert task.horizon == (ELEMENT_HORIZON * len(elements_of(task)) if "sequence" in name else HORIZON)
    assert set(elements_of(TASKS["kitchen/sequence_all"])) == set(ELEMENTS)


def test_kitchen_goals_and_starts_equal_those_of_frankakitchen() -> None:
    from gymnasium_robotics.envs.franka_kitchen import kitchen_env

    base = kitchen_env.KitchenEnv()
    assert kitchen_env.BONUS_THRESH == 0.3
    assert {e.label for e in ELEMENTS.values()} == set(kitchen_env.OBS_ELEMENT_GOALS)
    for e in ELEMENTS.values():
        assert np.allclose(e.goal, kitchen_env.OBS_ELEMENT_GOALS[e.label])
        assert list(e.qpos) == list(kitchen_env.OBS_ELEMENT_INDICES[e.label])
        assert np.allclose(e.start, base.robot_env.init_qpos[list(e.qpos)], atol=0.01)
    base.close()


@pytest.mark.parametrize(
    "task",
    [pytest.param(t, id=n, marks=[] if i % 3 == 0 else pytest.mark.slow) for i, (n, t) in enumerate(TASKS.items())],
)
def test_kitchen_environment_passes_check_env_of_gymnasium(task: Task, plugin: KitchenPlugin) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = plugin.make_env(task, seed=0)
        check_env(env, skip_render_check=True)
        env.close()


def test_kitchen_steps_equal_those_of_frankakitchen(plugin: KitchenPlugin) -> None:
    from gymnasium_robotics.envs.franka_kitchen.kitchen_env import KitchenEnv

    ours = plugin.make_env(TASKS["kitchen/sequence_a"], seed=3)
    theirs = KitchenEnv(["microwave", "kettle", "light switch", "slide cabinet"])
    ours.action_space.seed(0)
    a, b = ours.reset(seed=5)[0], theirs.reset(seed=5)[0]
    for _ in range(30):
        assert np.array_equal(np.concatenate((a["robot"], a["objects"])), b["observation"])
        action = ours.action_space.sample()
        a, reward, *_ = ours.step(action)
        b, other, *_ = theirs.step(action)
        assert reward == other
    ours.close()
    theirs.close()


def test_later_steps_do_not_change_an_earlier_kitchen_observation(plugin: KitchenPlugin) -> None:
    env = plugin.make_env(TASKS["kitchen/kettle"], seed=0)
    first, _ = env.reset(seed=0)
    copies = {k: v.copy() for k, v in first.items()}
    for _ in range(3):
        env.step(np.ones(9))
    assert all(np.array_equal(first[k], copies[k]) for k in copies)
    env.close()


def test_kitchen_success_needs_every_element_and_ends_the_episode(plugin: KitchenPlugin) -> None:
    env: Any = plugin.make_env(TASKS["kitchen/sequence_a"], seed=0)
    _, info = env.reset(seed=0)
    assert info == {"success": False, "completed": ()}
    for i, name in enumerate(elements_of(TASKS["kitchen/sequence_a"])):
        element = ELEMENTS[name]
        env.base.data.qpos[list(element.qpos)] = element.goal
        _, reward, terminated, truncated, info = env.step(np.zeros(9))
        assert reward == 1.0
        assert info["completed"] == elements_of(TASKS["kitchen/sequence_a"])[: i + 1]
        assert info["success"] is terminated is (i == 3)
        assert not truncated
    env.close()


def test_kitchen_environment_refuses_an_unknown_render_mode(plugin: KitchenPlugin) -> None:
    with pytest.raises(ConfigError, match=r"human.*rgb_array"):
        plugin.make_env(TASKS["kitchen/kettle"], seed=0, render_mode="human")


def test_kitchen_environment_error_names_a_noise_setting_that_is_not_a_number(plugin: KitchenPlugin) -> None:
    task = TASKS["kitchen/kettle"]
    broken = task.model_copy(update={"settings": {**task.settings, "robot_noise_ratio": "much"}})
    with pytest.raises(ConfigError, match=r"robot_noise_ratio.*'much'"):
        plugin.make_env(broken, seed=0)
