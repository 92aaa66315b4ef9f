"""What is free around the car, by its rays."""

from __future__ import annotations

import numpy as np
import pytest
from rlgpt.testing.player import Player
from rlgpt_mujoco_car.plugin import CarPlugin
from rlgpt_mujoco_car.senses import RANGE, RAYS
from rlgpt_mujoco_car.vehicle import LENGTH, WIDTH
from rlgpt_mujoco_car.views import clearance

ANGLES = np.arange(RAYS) * 2 * np.pi / RAYS


def walls(ahead: float, behind: float, left: float, right: float) -> np.ndarray:
    """Rays in a box whose sides are that far (m) from the body's."""
    with np.errstate(divide="ignore"):
        forward = np.where(np.cos(ANGLES) > 0, ahead + LENGTH / 2, behind + LENGTH / 2) / np.abs(np.cos(ANGLES))
        sideways = np.where(np.sin(ANGLES) > 0, left + WIDTH / 2, right + WIDTH / 2) / np.abs(np.sin(ANGLES))
    return np.minimum(np.minimum(forward, sideways), RANGE).astype(np.float32)


@pytest.mark.parametrize(
    "around", [(1.0, 0.5, 0.4, 0.3), (0.2, 2.0, 0.02, 0.7), (0.6, 0.2, 0.5, 0.02), (0.05, 0.05, 0.3, 0.3)]
)
def test_in_a_box_each_side_is_as_far_as_it_is(around: tuple[float, float, float, float]) -> None:
    assert clearance(walls(*around)) == pytest.approx(around, abs=1e-3)


def test_nothing_around_is_far() -> None:
    found = clearance(np.full(RAYS, RANGE, np.float32))
    assert found == pytest.approx((RANGE - LENGTH / 2,) * 2 + (RANGE - WIDTH / 2,) * 2)


def test_what_a_primitive_returns_tells_what_is_free_on_every_side(plugin: CarPlugin) -> None:
    play = Player(plugin, plugin.tasks()["mujoco_car/parking"])
    play.reset(0)
    outcome, seen = play("stop"), play.see()
    for side in ("ahead", "behind", "left", "right"):
        assert outcome[f"clear_{side}"] == seen[f"clear_{side}"]
    play.env.close()
