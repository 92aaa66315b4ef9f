"""Tests of the free distances around the car, computed from its rays."""

from __future__ import annotations

import numpy as np
import pytest
from rlgpt.testing.player import Player
from rlgpt_mujoco_car.plugin import CarPlugin
from rlgpt_mujoco_car.sensors import RAY_RANGE, RAYS
from rlgpt_mujoco_car.vehicle import BODY_LENGTH, BODY_WIDTH
from rlgpt_mujoco_car.views import clearance

ANGLES = np.arange(RAYS) * 2 * np.pi / RAYS


def walls(ahead: float, behind: float, left: float, right: float) -> np.ndarray:
    """Return the rays of a car in a rectangular box whose walls have the given distances from the body, in m."""
    cos, sin = np.cos(ANGLES), np.sin(ANGLES)
    with np.errstate(divide="ignore"):
        forward = np.where(cos > 0, ahead + BODY_LENGTH / 2, behind + BODY_LENGTH / 2) / np.abs(cos)
        sideways = np.where(sin > 0, left + BODY_WIDTH / 2, right + BODY_WIDTH / 2) / np.abs(sin)
    rays: np.ndarray = np.minimum(np.minimum(forward, sideways), RAY_RANGE).astype(np.float32)
    return rays


@pytest.mark.parametrize(
    "around", [(1.0, 0.5, 0.4, 0.3), (0.2, 2.0, 0.02, 0.7), (0.6, 0.2, 0.5, 0.02), (0.05, 0.05, 0.3, 0.3)]
)
def test_clearance_in_a_box_is_the_distance_to_each_wall(around: tuple[float, float, float, float]) -> None:
    assert clearance(walls(*around)) == pytest.approx(around, abs=1e-3)


def test_clearance_without_obstacles_is_the_range_of_the_rays() -> None:
    free = clearance(np.full(RAYS, RAY_RANGE, np.float32))
    assert free == pytest.approx((RAY_RANGE - BODY_LENGTH / 2,) * 2 + (RAY_RANGE - BODY_WIDTH / 2,) * 2)


def test_the_outcome_of_a_primitive_reports_the_clearance_of_the_view(plugin: CarPlugin) -> None:
    play = Player(plugin, plugin.tasks()["mujoco_car/parking"])
    play.reset(0)
    outcome, view = play("stop"), play.see()
    for side in ("ahead", "behind", "left", "right"):
        assert outcome[f"clear_{side}"] == view[f"clear_{side}"]
    play.env.close()
