"""Tests of the environments of the tasks: checkers, determinism, physics, contacts, goals and rays."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import mujoco
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from rlgpt import CodedAction, extend, flat_view
from rlgpt.errors import StateError
from rlgpt_mujoco_car import vehicle
from rlgpt_mujoco_car.env import MAX_TOUCH_CHECKS, PERIOD, WALL_CONTACTS, CarTask
from rlgpt_mujoco_car.plugin import CarPlugin
from rlgpt_mujoco_car.road import straight
from rlgpt_mujoco_car.scene import WALL_GROUP, Scene
from rlgpt_mujoco_car.sensors import RAY_RANGE
from rlgpt_mujoco_car.tasks import make_tasks

TASKS = make_tasks()
BACK = CodedAction(name="back", doc="Goes back.", source="def run():\n    yield reverse(metres=0.3)\n", max_steps=40)

every_task = pytest.mark.parametrize("task", list(TASKS))


@every_task
@pytest.mark.parametrize("actions", [None, (), (BACK,)], ids=["without wrapper", "no coded action", "one coded action"])
def test_a_car_environment_passes_gymnasiums_checker(
    task: str, actions: tuple[CodedAction, ...] | None, plugin: CarPlugin
) -> None:
    env = plugin.make_env(TASKS[task], seed=0)
    checked = env if actions is None else extend(env, actions, plugin=plugin, task=task)
    checked.action_space.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*different from the unwrapped version")
        check_env(checked, skip_render_check=True)
    env.close()


@every_task
def test_a_car_environment_passes_stable_baselines_checker(task: str, plugin: CarPlugin) -> None:
    from stable_baselines3.common.env_checker import check_env as check_for_stable_baselines

    env = flat_view(extend(plugin.make_env(TASKS[task], seed=0), (BACK,), plugin=plugin, task=task))
    env.action_space.seed(0)
    check_for_stable_baselines(env, warn=True, skip_render_check=True)
    env.close()


@every_task
def test_the_same_seed_and_actions_give_the_same_episode(task: str) -> None:
    envs = [CarTask(TASKS[task], seed=s) for s in (0, 1)]
    rng = np.random.default_rng(0)
    first = [env.reset(seed=5)[0] for env in envs]
    for key in first[0]:
        np.testing.assert_array_equal(first[0][key], first[1][key])
    for _ in range(60):
        action = rng.uniform(-1, 1, 2)
        a, b = (env.step(action) for env in envs)
        for key in a[0]:
            np.testing.assert_array_equal(a[0][key], b[0][key])
        assert a[1:4] == b[1:4]


@every_task
def test_a_loaded_state_continues_the_episode_exactly(task: str) -> None:
    env = CarTask(TASKS[task], seed=0)
    env.reset(seed=3)
    rng = np.random.default_rng(1)
    for _ in range(30):
        env.step(rng.uniform(-1, 1, 2))
    saved, actions = env.save(), rng.uniform(-1, 1, (30, 2))
    first = [env.step(a) for a in actions]
    env.reset(seed=4)
    for other in (env, CarTask(TASKS[task], seed=9)):
        other.load(saved)
        for before, action in zip(first, actions, strict=True):
            after = other.step(action)
            for key in after[0]:
                np.testing.assert_array_equal(after[0][key], before[0][key])
            assert after[1:] == before[1:]


def test_load_refuses_a_state_of_another_scenario() -> None:
    state = CarTask(TASKS["mujoco_car/parking"], seed=0).save()
    with pytest.raises(StateError, match=r"'parking'.*mujoco_car/hill is 'hill'"):
        CarTask(TASKS["mujoco_car/hill"], seed=0).load(state)


def test_a_car_without_throttle_does_not_move_on_level_ground() -> None:
    env = CarTask(TASKS["mujoco_car/winding_road"], seed=0)
    env.reset(seed=0)
    before = env.position
    for _ in range(100):
        observation = env.step((0.0, 0.0))[0]
    assert math.dist(before, env.position) < 1e-3
    assert abs(observation["motion"]).max() < 1e-2
    assert abs(env.height) < 2e-3


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_car_at_full_steering_has_the_documented_turning_radius(side: float) -> None:
    env = CarTask(TASKS["mujoco_car/parking"], seed=0)
    env.load_scene(Scene(road=straight(40.0, 2.0), start=(10.0, 0.0, 0.0), goal=(100.0, 0.0, 0.0)))
    for _ in range(60):
        observation = env.step((0.2, side))[0]
    forward, _, rate, steering, _ = observation["motion"]
    assert forward / rate == pytest.approx(side * vehicle.TURNING_RADIUS, rel=0.1)
    assert steering == pytest.approx(side * vehicle.MAX_STEER, rel=0.05)


def test_rays_measure_the_distance_to_walls_up_to_the_ray_range() -> None:
    env = CarTask(TASKS["mujoco_car/parking"], seed=0)
    env.load_scene(Scene(road=straight(40.0, 2.0), start=(10.0, 0.5, 0.0), goal=(100.0, 0.0, 0.0)))
    rays = env.load(env.save())["rays"]
    assert rays[5] == pytest.approx(2.0 - 0.5 - 0.04, abs=1e-3)
    assert rays[15] == pytest.approx(2.0 + 0.5 - 0.04, abs=1e-3)
    assert rays[0] == RAY_RANGE


def test_one_second_of_contact_with_a_wall_ends_the_episode() -> None:
    env = CarTask(TASKS["mujoco_car/blocked_start"], seed=0)
    env.reset(seed=0)
    steps_in_contact = 0
    for _ in range(200):
        observation, _, terminated, _, info = env.step((0.3, 0.0))
        steps_in_contact += bool(observation["touching"][0] > 0)
        if terminated:
            break
    assert terminated
    assert not info["success"]
    assert steps_in_contact == pytest.approx(1.0 / PERIOD, abs=2)


def test_contact_time_restarts_if_the_contact_ends_within_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    contacts = itertools.cycle((2, 1, 0, 1, 3))
    physics = mujoco.mj_step

    def step(model: Any, data: Any, nstep: int) -> None:
        physics(model, data, nstep=nstep)
        data.sensordata[WALL_CONTACTS] = next(contacts)

    monkeypatch.setattr(mujoco, "mj_step", step)
    env = CarTask(TASKS["mujoco_car/blocked_start"], seed=0)
    env.reset(seed=0)
    for _ in range(30):
        observation, _, terminated, _, info = env.step((0.0, 0.0))
        assert observation["touching"][0] == pytest.approx(0.02)
        assert info["touching"] == pytest.approx(0.02)
        assert not terminated


@every_task
def test_the_contact_sensor_counts_the_contacts_with_walls_and_obstacles(task: str) -> None:
    env = CarTask(TASKS[task], seed=0)
    rng = np.random.default_rng(0)
    counts = set()
    for seed in range(4):
        env.reset(seed=seed)
        for step in range(120):
            if step % 30 == 0:
                action = rng.uniform(-1, 1, 2)
            if env.step(action)[2]:
                break
            pairs = env.data.contact.geom[: env.data.ncon]
            expected = int((env.model.geom_group[pairs] == WALL_GROUP).any(axis=1).sum())
            assert env.data.sensordata[WALL_CONTACTS] == expected
            counts.add(expected)
    assert 0 in counts
    assert len(counts) > 1


def test_reaching_the_goal_after_too_long_contact_is_a_failure() -> None:
    env = CarTask(TASKS["mujoco_car/winding_road"], seed=0)
    offset = 0.5 - 0.04 - vehicle.BODY_WIDTH / 2 + 0.004
    env.load_scene(Scene(straight(10.0, 0.5), start=(5.0, offset, 0.0), goal=(4.9, 0.0, 0.0)))
    assert env.step((0.0, 0.0))[4]["success"]
    env.load_scene(env.scene)
    env.touch_checks = MAX_TOUCH_CHECKS
    terminated, _, info = env.step((0.0, 0.0))[2:]
    assert terminated
    assert not info["success"]


def place_on_the_hill(env: CarTask, along: float, offset: float = 0.0, heading: float = 0.0) -> None:
    """Place the car on the hill, with its rear axle ``along`` m beyond the foot of the ramp and ``offset`` m beside the
    centre line. ``heading`` is in radians.
    """
    assert env.scene.ramp is not None
    foot, length, angle = env.scene.ramp
    short = max(0.0, length - along)
    pitch = -angle if short else 0.0
    env.data.qpos[0], env.data.qpos[1] = foot + along, offset
    env.data.qpos[2] = env.scene.summit - short * math.tan(angle) + vehicle.WHEEL_RADIUS / math.cos(pitch)
    turn, lift = np.zeros(4), np.zeros(4)
    mujoco.mju_axisAngle2Quat(turn, np.array((0.0, 0.0, 1.0)), heading)
    mujoco.mju_axisAngle2Quat(lift, np.array((0.0, 1.0, 0.0)), pitch)
    mujoco.mju_mulQuat(env.data.qpos[3:7], turn, lift)
    mujoco.mj_forward(env.model, env.data)
    env.load(env.save())


@pytest.mark.parametrize("along", [0.8, 2.0])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_car_cannot_leave_the_hill_sideways(along: float, side: float) -> None:
    env = CarTask(TASKS["mujoco_car/hill"], seed=0)
    env.reset(seed=0)
    place_on_the_hill(env, along, heading=side * 0.7)
    for _ in range(30):
        terminated = env.step((1.0, 0.0))[2]
        assert abs(env.position[1]) < env.scene.road.half_width
        if terminated:
            break
    assert env.touch_checks > 0


def test_a_car_beside_the_hill_does_not_reach_the_goal() -> None:
    env = CarTask(TASKS["mujoco_car/hill"], seed=0)
    env.reset(seed=0)
    assert env.scene.ramp is not None
    place_on_the_hill(env, along=env.scene.goal[0] - env.scene.ramp[0] + 0.2)
    assert env.step((0.0, 0.0))[4]["success"]
    env.reset(seed=0)
    env.data.qpos[0], env.data.qpos[1] = env.scene.goal[0] + 0.2, 0.65
    terminated, _, info = env.step((0.0, 0.0))[2:]
    assert not info["success"]
    assert not terminated


@every_task
def test_rays_equal_the_rays_of_the_simulator(task: str) -> None:
    env = CarTask(TASKS[task], seed=0)
    group, hit = np.zeros(6, np.uint8), np.zeros(1, np.int32)
    group[WALL_GROUP] = 1
    rng = np.random.default_rng(0)
    for seed in range(3):
        env.reset(seed=seed)
        if task == "mujoco_car/hill" and seed:
            place_on_the_hill(env, along=0.8 * seed)
        observation = env.load(env.save())
        for _ in range(20):
            x = env.position[0] + vehicle.WHEELBASE / 2 * math.cos(env.heading)
            y = env.position[1] + vehicle.WHEELBASE / 2 * math.sin(env.heading)
            for i, ray in enumerate(observation["rays"]):
                angle = env.heading + 2 * math.pi * i / len(observation["rays"])
                origin = np.array((x, y, env.height + 0.08))
                direction = np.array((math.cos(angle), math.sin(angle), 0.0))
                real = mujoco.mj_ray(env.model, env.data, origin, direction, group, 1, -1, hit)
                assert ray == pytest.approx(RAY_RANGE if real < 0 else min(real, RAY_RANGE), abs=0.02)
            observation = env.step(rng.uniform(-0.5, 1, 2))[0]
