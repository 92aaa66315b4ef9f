"""The plugin's texts for the language model state the measured values."""

from __future__ import annotations

import pytest
from rlgpt_mujoco_car.env import CarTask
from rlgpt_mujoco_car.plugin import CarPlugin
from rlgpt_mujoco_car.road import straight
from rlgpt_mujoco_car.scene import WALL_HALF_THICKNESS, Scene
from rlgpt_mujoco_car.tasks import make_tasks
from rlgpt_mujoco_car.vehicle import BODY_LENGTH, BODY_WIDTH, WHEELBASE
from rlgpt_mujoco_car.views import clearance

TASKS = make_tasks()
OVERHANG = (BODY_LENGTH - WHEELBASE) / 2


@pytest.fixture
def open_ground() -> CarTask:
    env = CarTask(TASKS["mujoco_car/parking"], seed=0)
    env.load_scene(Scene(straight(60.0, 6.0), (20.0, 0.0, 0.0), (100.0, 0.0, 0.0), closed=False))
    return env


@pytest.mark.parametrize(("speed", "seconds"), [(0.5, 0.2), (1.0, 0.3), (2.5, 0.5)])
def test_the_car_reaches_a_speed_in_the_stated_time(open_ground: CarTask, speed: float, seconds: float) -> None:
    for _ in range(round(seconds / 0.05)):
        reached = open_ground.step((speed / 2.5, 0.0))[0]["motion"][0]
    assert reached == pytest.approx(speed, rel=0.05)


@pytest.mark.parametrize(("speed", "distance"), [(0.5, 0.03), (1.0, 0.13), (2.0, 0.5)])
def test_the_car_brakes_in_the_stated_distance(open_ground: CarTask, speed: float, distance: float) -> None:
    for _ in range(30):
        open_ground.step((speed / 2.5, 0.0))
    before = open_ground.position[0]
    for _ in range(20):
        open_ground.step((0.0, 0.0))
    assert open_ground.position[0] - before == pytest.approx(distance, rel=0.25)


def test_steering_takes_two_steps_to_the_left_limit_and_three_to_the_right_limit(open_ground: CarTask) -> None:
    for action, steps, angle in ((1.0, 2, 0.5), (-1.0, 3, -0.5)):
        for _ in range(steps):
            steering = open_ground.step((0.12, action))[0]["motion"][3]
        assert steering == pytest.approx(angle, abs=0.04)


@pytest.mark.parametrize("speed", [0.3, 1.0])
def test_the_turning_circle_at_full_steering_has_the_stated_size(open_ground: CarTask, speed: float) -> None:
    for _ in range(60):
        forward, _, rate, _, _ = open_ground.step((speed / 2.5, 1.0))[0]["motion"]
    radius = float(forward / rate)
    assert radius == pytest.approx(0.5, abs=0.01)
    assert ((radius + BODY_WIDTH / 2) ** 2 + (WHEELBASE + OVERHANG) ** 2) ** 0.5 == pytest.approx(0.68, abs=0.01)
    assert radius - BODY_WIDTH / 2 == pytest.approx(0.4, abs=0.01)


def test_blocked_starts_are_within_the_stated_ranges() -> None:
    env = CarTask(TASKS["mujoco_car/blocked_start"], seed=0)
    for seed in range(40):
        ahead, behind, _, _ = clearance(env.reset(seed=seed)[0]["rays"])
        wall, road = env.scene.boxes[0], env.scene.road
        inner = wall.y - wall.half_width if wall.y > 0 else -(wall.y + wall.half_width)
        assert 0.41 <= road.half_width - WALL_HALF_THICKNESS + inner <= 0.51
        assert 0.05 < ahead < 0.17
        assert 1.9 < behind < 2.6
        assert env.position[1] * wall.y > 0, "the car must stand on the blocked side"
        assert 0.12 <= abs(env.position[1]) <= 0.3
        assert 5.3 < road.length - 0.5 - (wall.x + wall.half_length) < 11.2


def test_parking_spaces_are_within_the_stated_ranges() -> None:
    env = CarTask(TASKS["mujoco_car/parking"], seed=0)
    for seed in range(40):
        _, _, left, _ = clearance(env.reset(seed=seed)[0]["rays"])
        rear, front = env.scene.boxes
        gap = (front.x - front.half_length) - (rear.x + rear.half_length)
        assert 0.62 <= gap <= 0.70
        assert 0.38 < left < 0.5
        ahead = gap / 2 - BODY_LENGTH / 2
        assert 0.11 <= ahead <= 0.15
        assert env.scene.goal[1] - BODY_WIDTH / 2 - (WALL_HALF_THICKNESS - env.scene.road.half_width) == pytest.approx(
            0.03
        )


def test_the_reason_of_the_default_setup_names_exactly_its_reward_terms(plugin: CarPlugin) -> None:
    for task in TASKS.values():
        setup = plugin.default_setup(task)
        for term, word in {"progress": "progress", "aligned": "heading", "energy": "energy"}.items():
            assert (word in setup.reason) == (term in setup.reward_weights)
