"""The path planner of the arm finds paths around obstacles, and no path through an obstacle."""

from __future__ import annotations

import numpy as np
import pytest
from rlgpt.testing.player import Player
from rlgpt_furniture.arm import Array
from rlgpt_furniture.env import ARM_JOINTS, FurnitureTask
from rlgpt_furniture.motion import along
from rlgpt_furniture.planner import Planner
from rlgpt_furniture.plugin import FurniturePlugin
from rlgpt_furniture.tasks import make_tasks

DOWN = np.diag((1.0, -1.0, -1.0))
LEFT, RIGHT = np.array((0.5, 0.2, 0.1)), np.array((0.5, -0.2, 0.1))


def walled() -> FurnitureTask:
    """Return an environment with the table top upright between the hand on the left and the goal on the right, and the
    leg far away.
    """
    env = FurnitureTask(make_tasks()["furniture/one_leg"], seed=0)
    env.reset(seed=0)
    env.joints, left, _ = env.arm.reach(env.joints, LEFT, DOWN.ravel())
    assert left < 1e-3
    env.data.qpos[:7] = env.joints
    half = np.sqrt(0.5)
    env.data.qpos[ARM_JOINTS : ARM_JOINTS + 7] = (0.5, 0.0, 0.09, half, half, 0, 0)
    env.data.qpos[ARM_JOINTS + 7 : ARM_JOINTS + 10] = (0.3, -0.45, 0.015)
    return env


def planned(env: FurnitureTask, seed: int) -> tuple[Planner, list[Array] | None]:
    planner = Planner(env, np.random.default_rng(seed), -1)
    goal = planner.reach(RIGHT, DOWN)
    assert goal is not None
    assert not planner.clear(env.joints, goal), "the straight path must collide with the table top"
    return planner, planner.path(goal)


def test_path_planner_finds_a_path_around_an_obstacle() -> None:
    env = walled()
    planner, path = planned(env, 0)
    assert path is not None
    assert len(path) > 1
    for start, end in zip([env.joints, *path], path, strict=False):
        for share in np.linspace(0.0, 1.0, 40):
            assert planner.free(start + share * (end - start))
    np.testing.assert_allclose(env.arm.pose(path[-1])[0], RIGHT, atol=2e-3)


def test_path_planner_finds_the_same_path_for_the_same_random_seed() -> None:
    env = walled()
    paths = [planned(env, seed)[1] for seed in (3, 3, 4)]
    first, second, other = (np.array(path) for path in paths if path is not None)
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("place", [(0.54, 0.0, 0.012), (0.661, 0.0, 0.02)], ids=["top", "fence"])
def test_path_planner_finds_no_joint_angles_for_a_pose_inside_an_object(place: tuple[float, float, float]) -> None:
    env = FurnitureTask(make_tasks()["furniture/one_leg"], seed=0)
    env.reset(seed=0)
    planner = Planner(env, np.random.default_rng(0), -1, fingers=0.01)
    above = np.add(place, (0, 0, 0.1))
    assert planner.reach(above, DOWN) is not None
    assert planner.reach(np.array(place), DOWN) is None


def test_path_planner_checks_a_carried_part_for_collisions() -> None:
    env = FurnitureTask(make_tasks()["furniture/one_leg"], seed=0)
    env.reset(seed=0)
    at = env.arm.pose(env.joints)[0].copy()
    env.data.qpos[:7] = env.joints
    empty = Planner(env, np.random.default_rng(0), -1, fingers=0.016)
    # The leg is upright between the fingers. Its peg ends 0.076 m below the fingers.
    env.data.qpos[ARM_JOINTS + 7 :] = (*(at - (0, 0, 0.02)), 1, 0, 0, 0)
    loaded = Planner(env, np.random.default_rng(0), 1, fingers=0.016)
    low = np.array((0.54, 0.0, 0.06))
    joints = empty.reach(low, DOWN)
    assert joints is not None
    assert not loaded.free(joints)
    assert loaded.free(env.joints)
    assert loaded.reach(low, DOWN) is None


def test_path_planner_knows_only_the_observed_pose_of_a_part_that_the_hand_does_not_hold() -> None:
    task = make_tasks()["furniture/one_leg"]
    env = FurnitureTask(task.model_copy(update={"settings": {**task.settings, "tag_error": 0.02}}), seed=0)
    env.reset(seed=0)
    env.tag_offsets[:] = (0.0, 0.17), (0.0, 0.0)
    true, observed = env.data.qpos[ARM_JOINTS:][:3] + np.array((0, 0, 0.005)), env.step(np.zeros(8))[0]["parts"][:3]
    planner = Planner(env, np.random.default_rng(0), -1, fingers=0.01)
    assert planner.reach(true, DOWN) is not None
    assert planner.reach(observed.astype(float), DOWN) is None


def test_path_planner_keeps_paths_within_the_joint_limits() -> None:
    env = walled()
    goal = Planner(env, np.random.default_rng(0), -1).reach(RIGHT, DOWN)
    assert goal is not None
    env.joints[6] = goal[6] = env.arm.upper[6]
    paths = [Planner(env, np.random.default_rng(seed), -1).path(goal) for seed in range(8)]
    nodes = [joints for path in paths for joints in path or ()]
    assert len(nodes) > 8
    assert all((env.arm.lower <= joints).all() and (joints <= env.arm.upper).all() for joints in nodes)


def test_motion_along_a_path_ends_at_joint_angles_that_the_arm_cannot_reach(plugin: FurniturePlugin) -> None:
    play = Player(plugin, make_tasks()["furniture/one_leg"], seed=0)
    goal = play.env.unwrapped.joints.copy()  # type: ignore[attr-defined]
    goal[6] = play.env.unwrapped.arm.upper[6] + 0.2  # type: ignore[attr-defined]
    for steps, action in enumerate(along(play.context, [goal])):
        play.step(action)
        assert steps < 30
    play.env.close()
