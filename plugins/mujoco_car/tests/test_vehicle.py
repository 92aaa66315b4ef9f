"""The compiled model has the documented masses, springs and motor."""

from __future__ import annotations

import math

import pytest
from rlgpt_mujoco_car import vehicle
from rlgpt_mujoco_car.env import CarTask
from rlgpt_mujoco_car.scenarios import GRAVITY
from rlgpt_mujoco_car.tasks import make_tasks

TASKS = make_tasks()


def test_the_car_model_has_the_documented_mass() -> None:
    model = CarTask(TASKS["mujoco_car/parking"], seed=0).model
    assert model.body_subtreemass[model.body("car").id] == pytest.approx(vehicle.MASS)
    assert model.body_mass[model.body("car").id] == pytest.approx(vehicle.SPRUNG_MASS)
    assert pytest.approx(1.64) == vehicle.MASS


def test_springs_have_the_documented_sag_and_damping_ratio() -> None:
    env = CarTask(TASKS["mujoco_car/parking"], seed=0)
    for _ in range(60):
        env.step((0.0, 0.0))
    compression = [
        vehicle.SPRING_PRELOAD + float(env.data.joint(f"spring_{w}").qpos[0]) for w in ("fl", "fr", "rl", "rr")
    ]
    assert sum(compression) / 4 == pytest.approx(vehicle.SPRUNG_MASS * GRAVITY / 4 / vehicle.STIFFNESS, abs=3e-4)
    assert sum(compression) / 4 == pytest.approx(0.007, abs=3e-4)
    critical = 2 * math.sqrt(4 * vehicle.STIFFNESS * vehicle.SPRUNG_MASS)
    assert 4 * vehicle.DAMPING / critical == pytest.approx(0.45, abs=0.005)


@pytest.mark.parametrize("seed", range(3))
def test_the_motor_on_the_hill_has_0_6_of_the_force_needed_to_climb(seed: int) -> None:
    env = CarTask(TASKS["mujoco_car/hill"], seed=0)
    env.reset(seed=seed)
    assert env.scene.ramp is not None
    mass = env.model.body_subtreemass[env.model.body("car").id]
    assert env.scene.force == pytest.approx(0.6 * mass * GRAVITY * math.sin(env.scene.ramp[2]))
