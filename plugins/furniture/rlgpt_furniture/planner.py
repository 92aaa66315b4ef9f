"""Plans motions by inverse kinematics from several starts, followed by RRT-Connect in joint space with collision
checks.

The module implements RRT-Connect (Kuffner and LaValle 2000), because the planner has to use the random generator of the
episode. A planning library would use a global random generator, and then an episode would depend on earlier episodes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from rlgpt.plugin.offscreen import make_mujoco_importable

from rlgpt_furniture import panda
from rlgpt_furniture.arm import Array, quaternion
from rlgpt_furniture.env import ARM_JOINTS, FurnitureTask

make_mujoco_importable()
import mujoco  # noqa: E402

RESOLUTION = 0.06
"""Distance between two collision checks along a path, rad."""
MAX_EXTENSION = 0.4
"""Length by which a tree grows in one step, rad."""
MAX_ITERATIONS = 120
ALLOWED_PENETRATION = 0.0008
"""Largest depth of penetration that is not a collision, m."""


class Planner:
    """Plans motions in the current scene, with the observed poses of all parts that the hand does not hold. The planner
    does not change the simulation.

    :param rng: the random generator of the episode.
    :param carried: the index of the part that the hand holds and moves, or -1 if the hand holds no part.
    :param fingers: the position of each finger in m; with None, each finger's current position.
    """

    def __init__(
        self, env: FurnitureTask, rng: np.random.Generator, carried: int, fingers: float | None = None
    ) -> None:
        self._env, self._rng, self._carried = env, rng, carried
        self._model, self._data = env.model, mujoco.MjData(env.model)
        self._data.qpos[:] = env.data.qpos
        loose = np.arange(env.parts) != carried
        self._data.qpos[ARM_JOINTS:].reshape(-1, 7)[loose, :2] += env.tag_offsets[loose]
        if fingers is not None:
            self._data.qpos[7:ARM_JOINTS] = fingers
        model = env.model
        arm = np.array([model.body_rootid[b] == model.body("base").id for b in model.geom_bodyid])
        carried_geoms = np.zeros(model.ngeom, bool)
        if carried >= 0:
            carried_geoms = model.geom_bodyid == model.body(env.furniture.parts[carried].name).id
            at, turn = env.arm.pose(env.data.qpos[:7])
            place = env.data.qpos[ARM_JOINTS + 7 * carried :][:7]
            grip = turn.reshape(3, 3).T
            self._offset = grip @ (place[:3] - at)
            part = np.empty(9)
            mujoco.mju_quat2Mat(part, place[3:])
            self._turn = grip @ part.reshape(3, 3)
        self._kind = arm.astype(np.int8) + 2 * carried_geoms

    def free(self, joints: Array) -> bool:
        """Return whether the arm and the carried part, at the joint positions ``joints``, collide with nothing."""
        data = self._data
        data.qpos[:7] = joints
        if self._carried >= 0:
            at, turn = self._env.arm.pose(joints)
            rotation = turn.reshape(3, 3)
            place = data.qpos[ARM_JOINTS + 7 * self._carried :][:7]
            place[:3] = at + rotation @ self._offset
            place[3:] = quaternion((rotation @ self._turn).ravel())
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_collision(self._model, data)
        kinds = self._kind[data.contact.geom[: data.ncon]]
        # The kinds of geoms are 0 scene, 1 arm, 2 carried part. The sum of two kinds is 1 or 2 in a collision that
        # counts: not scene with scene, and not arm with carried part.
        colliding = (kinds.sum(axis=1) > 0) & (kinds.sum(axis=1) < 3)
        return not bool((colliding & (data.contact.dist[: data.ncon] < -ALLOWED_PENETRATION)).any())

    def clear(self, start: Array, end: Array) -> bool:
        """Return whether the straight line between two points in joint space is free of collisions. The start is not
        checked.
        """
        count = max(1, int(np.ceil(np.abs(end - start).max() / RESOLUTION)))
        return all(self.free(start + (end - start) * (k / count)) for k in range(count, 0, -1))

    def reach(self, position: Array, rotation: Array, tries: int = 6) -> Array | None:
        """Return joint positions (7, rad) for a pose of the hand that are free of collisions and near the current joint
        positions. Return None if no free joint positions were found for the hand's pose.
        """
        arm, now = self._env.arm, self._env.joints
        best: tuple[float, Array] | None = None
        for number in range(tries):
            start = now if number == 0 else np.array(panda.HOME) + self._rng.normal(0, 0.6, 7)
            joints, left, angle = arm.reach(np.clip(start, arm.lower, arm.upper), position, rotation.ravel())
            if left > 1e-3 or angle > 0.01:
                continue
            far = float(np.abs(joints - now).max())
            if (best is None or far < best[0]) and self.free(joints):
                best = far, joints
                if far < 0.7:
                    break
        return None if best is None else best[1]

    def path(self, goal: Array) -> list[Array] | None:
        """Return joint positions along a collision-free path within the joint limits, which ends at the goal. Return
        None if no path was found.
        """
        arm, start = self._env.arm, self._env.joints.copy()
        if self.clear(start, goal):
            return [goal]
        path = connect(start, goal, self.clear, self._sample, self._rng)
        if path is None:
            return None
        inside = [np.clip(joints, arm.lower, arm.upper) for joints in path]
        if not np.array_equal(inside, path) and not all(self.clear(a, b) for a, b in pairwise(inside)):
            return None
        return self._shorten(inside)

    def _sample(self) -> Array:
        arm = self._env.arm
        return self._rng.uniform(arm.lower, arm.upper)

    def _shorten(self, path: list[Array]) -> list[Array]:
        for _ in range(40):
            if len(path) < 3:
                break
            i, j = sorted(self._rng.choice(len(path), 2, replace=False))
            if j - i > 1 and self.clear(path[i], path[j]):
                path = path[: i + 1] + path[j:]
        return path[1:]


def connect(
    start: Array,
    goal: Array,
    clear: Callable[[Array, Array], bool],
    sample: Callable[[], Array],
    rng: np.random.Generator,
) -> list[Array] | None:
    """Run RRT-Connect with two trees. In each iteration, one tree grows towards a sample, and the other tree grows
    towards the new node of the first tree.

    :returns: the joint positions from start to goal, or None if no path was found within :data:`MAX_ITERATIONS`.
    """
    trees: list[tuple[list[Array], list[int]]] = [([start], [-1]), ([goal], [-1])]
    for turn in range(MAX_ITERATIONS):
        near, other = turn % 2, 1 - turn % 2
        # every fourth sample is between start and goal, because most paths are short
        sample_joints = start + rng.uniform() * (goal - start) + rng.normal(0, 0.3, 7) if turn % 4 == 0 else sample()
        new = _grow(trees[near], sample_joints, clear)
        if new is None:
            continue
        target = trees[near][0][new]
        last: int | None = 0
        while last is not None:
            last = _grow(trees[other], target, clear)
            if last is not None and np.allclose(trees[other][0][last], target):
                ends = {near: new, other: last}
                return _to_root(trees[0], ends[0])[::-1] + _to_root(trees[1], ends[1])[1:]
    return None


def _grow(tree: tuple[list[Array], list[int]], target: Array, clear: Callable[[Array, Array], bool]) -> int | None:
    nodes, parents = tree
    nearest = int(np.argmin([np.abs(n - target).max() for n in nodes]))
    away = target - nodes[nearest]
    longest = float(np.abs(away).max())
    if longest < 1e-9:
        return None
    new = target if longest <= MAX_EXTENSION else nodes[nearest] + away * (MAX_EXTENSION / longest)
    if not clear(nodes[nearest], new):
        return None
    nodes.append(new)
    parents.append(nearest)
    return len(nodes) - 1


def _to_root(tree: tuple[list[Array], list[int]], index: int) -> list[Array]:
    nodes = []
    while index >= 0:
        nodes.append(tree[0][index])
        index = tree[1][index]
    return nodes
