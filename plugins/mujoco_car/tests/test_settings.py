"""Tests of the settings of the tasks: scenario, camera, sensor delay and friction."""

from __future__ import annotations

import atexit
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from rlgpt.domain import Plain, Task
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.plugin import mujoco_doctor, offscreen
from rlgpt.rl.observation import ObservationBuilder
from rlgpt_mujoco_car.plugin import CarPlugin
from rlgpt_mujoco_car.tasks import make_tasks

needs_frames = pytest.mark.skipif(not offscreen.find_backend(), reason="no offscreen OpenGL")

CALLS: dict[str, Callable[[CarPlugin, Task], object]] = {
    "env": lambda plugin, task: plugin.make_env(task, seed=0),
    "terms": lambda plugin, task: plugin.reward_terms(task),
    "setup": lambda plugin, task: plugin.default_setup(task),
    "knowledge": lambda plugin, task: plugin.knowledge(task),
}


def variant(name: str = "blocked_start", **settings: Plain) -> Task:
    task = make_tasks()[f"mujoco_car/{name}"]
    return task.model_copy(update={"settings": {**task.settings, **settings}})


@pytest.mark.parametrize("ask", CALLS.values(), ids=list(CALLS))
def test_the_error_for_an_unknown_scenario_names_the_valid_scenarios(
    plugin: CarPlugin, ask: Callable[[CarPlugin, Task], object]
) -> None:
    with pytest.raises(UnknownNameError, match=r"'foo'.*parking"):
        ask(plugin, variant(scenario="foo"))


@pytest.mark.parametrize("ask", CALLS.values(), ids=list(CALLS))
def test_a_task_refuses_the_scenario_of_another_task(
    plugin: CarPlugin, ask: Callable[[CarPlugin, Task], object]
) -> None:
    with pytest.raises(ConfigError, match=r"'hill'.*mujoco_car/blocked_start.*choose task=mujoco_car/hill"):
        ask(plugin, variant(scenario="hill"))


@pytest.mark.parametrize("camera", ["false", "true", 1, None])
@pytest.mark.parametrize("ask", ["env", "setup"])
def test_a_task_refuses_a_camera_setting_other_than_true_or_false(plugin: CarPlugin, camera: Plain, ask: str) -> None:
    with pytest.raises(ConfigError, match="valid: true, false"):
        CALLS[ask](plugin, variant(camera=camera))


@needs_frames
def test_camera_pixels_change_with_the_view_and_repeat_with_the_seed(plugin: CarPlugin) -> None:
    env = plugin.make_env(variant("winding_road", camera=True), seed=0)
    observation = env.reset(seed=0)[0]
    assert env.observation_space.contains(observation)
    assert observation["pixels"].std() > 5
    for _ in range(20):
        later = env.step(np.array((0.6, 0.0)))[0]
    assert (later["pixels"] != observation["pixels"]).mean() > 0.05
    again = env.reset(seed=0)[0]
    np.testing.assert_array_equal(again["pixels"], observation["pixels"])
    assert (env.reset(seed=7)[0]["pixels"] != observation["pixels"]).any()
    env.close()


@needs_frames
def test_a_camera_used_for_several_episodes_shows_the_current_episode(plugin: CarPlugin) -> None:
    task = variant("winding_road", camera=True)
    env, fresh = (plugin.make_env(task, seed=0, render_mode="rgb_array") for _ in range(2))
    for seed in range(3):
        pixels = env.reset(seed=seed)[0]["pixels"]
        frame = env.render()
    np.testing.assert_array_equal(pixels, fresh.reset(seed=2)[0]["pixels"])
    np.testing.assert_array_equal(frame, fresh.render())
    env.close()
    fresh.close()


@needs_frames
def test_a_closed_camera_unregisters_its_exit_handler(plugin: CarPlugin, monkeypatch: pytest.MonkeyPatch) -> None:
    handlers: list[object] = []
    monkeypatch.setattr(atexit, "register", handlers.append)
    monkeypatch.setattr(atexit, "unregister", handlers.remove)
    env = plugin.make_env(variant(camera=True), seed=0)
    for seed in range(3):
        env.reset(seed=seed)
        assert len(handlers) <= 1, "all episodes must use the same camera"
    env.close()
    assert not handlers


@needs_frames
def test_a_car_environment_with_a_camera_passes_gymnasiums_checker(plugin: CarPlugin) -> None:
    env = plugin.make_env(variant(camera=True), seed=0)
    env.action_space.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*different from the unwrapped version")
        check_env(env, skip_render_check=True)
    env.close()


@needs_frames
@pytest.mark.parametrize("camera", [False, True])
def test_a_policy_observes_the_pixels_only_if_the_camera_is_on(plugin: CarPlugin, camera: bool) -> None:
    task = variant(camera=camera)
    setup = plugin.default_setup(task)
    assert ("pixels" in setup.observation_keys) == camera
    env = plugin.make_env(task, seed=0)
    builder = ObservationBuilder(env.observation_space, plugin.view_keys(task), setup.observation_keys)
    assert ("image_pixels" in builder.spaces) == camera
    env.close()


def test_the_doctor_reports_that_the_camera_needs_opengl(plugin: CarPlugin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mujoco_doctor, "find_backend", lambda: "")
    assert any("camera" in check.detail for check in plugin.doctor())


def drive(plugin: CarPlugin, steps: int = 12, seed: int = 3, **settings: Plain) -> list[dict[str, np.ndarray]]:
    """Return the observations of an episode with fixed actions, beginning with the observation of the reset."""
    env = plugin.make_env(variant("winding_road_wet", **settings), seed=0)
    observations = [env.reset(seed=seed)[0]]
    observations += [env.step(np.array((0.4, 0.2 * (-1) ** step)))[0] for step in range(steps)]
    env.close()
    return observations


def test_delayed_sensors_return_the_observation_of_an_earlier_step(plugin: CarPlugin) -> None:
    now, late = drive(plugin), drive(plugin, sensor_delay=0.15)
    for step, seen in enumerate(late):
        for name, value in seen.items():
            np.testing.assert_array_equal(value, now[max(0, step - 3)][name])


def test_a_loaded_state_continues_an_episode_with_delayed_sensors(plugin: CarPlugin) -> None:
    env = plugin.make_env(variant(sensor_delay=0.2), seed=0)
    env.reset(seed=1)
    action = np.array((-0.5, 0.3))
    for _ in range(6):
        env.step(action)
    state = env.unwrapped.save()
    first = [env.step(action)[0]["motion"].tolist() for _ in range(6)]
    env.reset(seed=2)
    env.unwrapped.load(state)
    assert [env.step(action)[0]["motion"].tolist() for _ in range(6)] == first
    env.close()


def test_a_car_accelerates_more_slowly_on_slippery_ground(plugin: CarPlugin) -> None:
    dry, wet = (drive(plugin, steps=3, friction=share)[-1]["motion"][0] for share in (1.0, 0.2))
    assert wet < 0.7 * dry


@pytest.mark.parametrize("settings", [{"sensor_delay": -0.1}, {"sensor_delay": 2}, {"friction": 0}, {"friction": True}])
def test_a_task_refuses_a_sensor_delay_or_friction_out_of_range(plugin: CarPlugin, settings: dict[str, Plain]) -> None:
    with pytest.raises(ConfigError, match="valid: 0"):
        plugin.make_env(variant(**settings), seed=0)


def test_knowledge_mentions_delay_and_friction_only_if_they_are_set(plugin: CarPlugin) -> None:
    usual = plugin.knowledge(variant())
    changed = plugin.knowledge(variant(sensor_delay=0.15, friction=0.4))
    assert changed.startswith(usual)
    assert "0.15 s ago" in changed.removeprefix(usual)
    assert "0.36 g" in changed.removeprefix(usual)
