"""Joints between parts of furniture: pegs in holes, and connectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from rlgpt_furniture.env import ARM_JOINTS, FurnitureTask
from rlgpt_furniture.tasks import make_tasks

LEG_PLACE = (0.05625, 0.05625, 0.046875)


def leg_over_hole(joints: str, lift: float) -> FurnitureTask:
    """Return an environment with the leg upright over a hole, ``lift`` m above its final position, and the arm away
    from the leg.
    """
    task = make_tasks()["furniture/one_leg"]
    env = FurnitureTask(task.model_copy(update={"settings": {**task.settings, "joints": joints}}), seed=0)
    env.reset(seed=0)
    for _ in range(10):
        env.step([-0.5, -1, 1, 0, 0, 0, 0, 0])
    env.data.qpos[ARM_JOINTS : ARM_JOINTS + 7] = (0.54, 0.0, 0.015625, 1, 0, 0, 0)
    place = np.array((0.54, 0.0, 0.015625)) + LEG_PLACE + np.array((0, 0, lift))
    env.data.qpos[ARM_JOINTS + 7 :] = (*place, 1, 0, 0, 0)
    env.data.qvel[:] = 0
    return env


def test_leg_released_over_its_hole_falls_in_without_penetration() -> None:
    env = leg_over_hole("peg", 0.024)
    deepest, made = 0.0, False
    for _ in range(15):
        _, reward, terminated, _, info = env.step(np.zeros(8))
        made |= bool(info["success"])
        deepest = min(deepest, float(env.data.contact.dist[: env.data.ncon].min(initial=0.0)))
        if terminated:
            assert reward == 1.0
            break
    assert made
    assert deepest > -5e-4


def test_leg_beside_its_hole_is_not_assembled() -> None:
    env = leg_over_hole("peg", 0.030)
    env.data.qpos[ARM_JOINTS + 7] += 0.02
    for _ in range(15):
        assert not env.step(np.zeros(8))[4]["success"]


def test_connector_holds_a_part_and_a_twist_makes_the_joint() -> None:
    env = leg_over_hole("connector", 0.005)
    observation = env.step(np.zeros(8))[0]
    assert env.assembly.place == [0]
    assert observation["made"][0] < 0.2
    held = env.save()
    for turned in np.arange(0.15, 2.0, 0.15):
        env.data.qpos[-4:] = (math.cos(turned / 2), 0, 0, math.sin(turned / 2))
        observation, _, terminated, _, info = env.step(np.zeros(8))
        if terminated:
            break
    assert info["success"]
    for _ in range(5):
        env.step(np.zeros(8))
    where, turn = env.assembly.relative(env.part_poses(), 0)
    np.testing.assert_allclose(where, LEG_PLACE, atol=1e-3)
    assert turn[8] > 0.999
    assert abs(math.atan2(turn[3], turn[0])) > 1.2
    env.load(held)
    assert env.assembly.made == [False]
    assert not env.step(np.zeros(8))[4]["success"]


def test_connector_of_the_hood_is_free_when_the_bulb_is_assembled() -> None:
    task = make_tasks()["furniture/lamp"]
    env = FurnitureTask(task.model_copy(update={"settings": {**task.settings, "joints": "connector"}}), seed=0)
    env.reset(seed=0)
    x, y, z = env.data.qpos[ARM_JOINTS : ARM_JOINTS + 3].tolist()
    for part, height in ((1, 0.0678), (2, 0.0883)):
        env.data.qpos[ARM_JOINTS + 7 * part :][:7] = (x, y, z + height, 1, 0, 0, 0)
    env.data.qpos[ARM_JOINTS + 3 : ARM_JOINTS + 7] = (1, 0, 0, 0)
    env.assembly.made[0], env.assembly.place[0] = True, 0
    env.assembly.update(env.data, env.part_poses())
    assert env.assembly.place == [0, 0]
    assert env.assembly.hinged(2)
    assert not env.assembly.hinged(1), "the joint of the bulb is made"
    env.close()


@pytest.mark.parametrize(
    ("angle", "tilt", "fits"),
    [
        *((0.0, 0.0, True), (0.2, 0.0, True), (0.5, 0.0, False), (math.pi / 2, 0.0, True), (math.pi, 0.0, True)),
        *((0.0, 0.3, True), (0.3, 0.3, False), (0.3 - math.pi / 2, 0.3, False), (-math.pi / 2, 0.3, True)),
    ],
)
def test_leg_fits_its_hole_with_any_of_its_four_sides(angle: float, tilt: float, fits: bool) -> None:
    from rlgpt_furniture.assembly import PEG_TOLERANCE
    from rlgpt_furniture.assembly import fits as index_of_place
    from rlgpt_furniture.furniture import FURNITURE
    from rlgpt_furniture.motion import axis_rotation

    x, _, z = np.eye(3)
    turn: Any = tuple((axis_rotation(x, tilt) @ axis_rotation(z, angle)).ravel())
    place = index_of_place(FURNITURE["one_leg"].joints[0], LEG_PLACE, turn, PEG_TOLERANCE)
    assert (place == 0) is fits
