"""The furniture tasks as environments."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from rlgpt.domain import Task
from rlgpt.errors import ConfigError
from rlgpt.plugin.mujoco_camera import Camera
from rlgpt.plugin.mujoco_state import physics_of, set_physics
from rlgpt.plugin.offscreen import make_mujoco_importable
from rlgpt.plugin.state_data import numbers, pack, record, whole

from rlgpt_furniture import panda
from rlgpt_furniture.arm import Arm, Array
from rlgpt_furniture.assembly import Assembly
from rlgpt_furniture.furniture import FURNITURE
from rlgpt_furniture.scene import SUBSTEPS, TIMESTEP, build
from rlgpt_furniture.settings import CAMERAS, read_settings
from rlgpt_furniture.start import SPREADS, draw, draw_tag_offsets

make_mujoco_importable()
import mujoco  # noqa: E402

PERIOD = TIMESTEP * SUBSTEPS
"""Duration of one control step, 0.1 s."""
HAND_STEP = 0.03
"""Distance by which an action of 1 moves the hand's target along an axis, m; it corresponds to 0.3 m/s."""
TURN_SCALE = 0.15
"""Added to a component of the delta quaternion by an action of 1: 0.3 rad about that axis."""
JOINT_RATE = 1.5
"""Velocity of a joint for an action of 1, rad/s."""
MAX_JOINT_LEAD = 0.25
"""Largest difference between a joint and its target, rad."""
MAX_HAND_LEAD = 0.08
"""Largest distance between the hand and its target, m."""
TARGET_BOUNDS = ((0.25, 0.8), (-0.55, 0.55), (0.004, 0.5))
"""Bounds of the hand's target, m. The bounds are FurnitureBench's, except that the upper one is higher, because the
legs are tall.
"""
GRIP_DEADBAND = 0.1
"""A grip action with a smaller absolute value does not move the fingers."""
CAMERA_PIXELS = 64
ARM_JOINTS = 9
"""Number of joints of the arm and the fingers. These joints are the first in ``qpos``."""
SETTLE_STEPS = 10
"""Number of control steps before an episode, after which the parts do not move any more."""

Observation = dict[str, np.ndarray[Any, Any]]


class FurnitureTask(gymnasium.Env[Any, Any]):
    """A Panda arm at a table with parts. One control step is 0.1 s.

    The action is Box(-1, 1, (8,)). With ``control="hand"``, the hand's target moves by 0.03 m times the first three
    numbers of the action (x forwards, y to the left, z up), and turns in the world's axes by a quaternion. The
    quaternion (x, y, z, w) is (0, 0, 0, 1) + 0.15 times the next four numbers of the action, normalised. An action with
    ``control="hand"`` is FurnitureBench's action, scaled so that zeros do nothing. With ``control="joints"``, the first
    seven numbers of the action are joint velocities in units of 1.5 rad/s. The last number of the action closes the
    fingers (above 0.1) or opens them (below -0.1).

    The observation has the following keys, float32, in SI units and in the frame of the robot's base on the table (x
    forwards, y left, z up):

    - The key ``robot`` (28) has the position (3), quaternion w x y z (4), velocity (3) and angular velocity (3) of the
      point between the finger tips, the distance between the fingers (1), and the joint positions (7) and velocities
      (7).
    - The key ``parts`` (7 each) has the position and the quaternion w x y z of each part. With the setting
      ``tag_error``, each position of a part has a horizontal error that is constant for an episode.
    - The key ``made`` has one number for each joint of the furniture, which is 1 if the joint's parts are assembled.
      With connectors, the number for a part that a connector holds is the completed share of the part's twist.
    - The keys ``front`` and ``wrist``, uint8 (64, 64, 3), are images, and exist only with the setting ``cameras=True``.

    ``step`` accepts the actions of primitives, too, which are (0, action) for a hand motion or (1, action) for joint
    velocities.

    The reward is the number of joints of the furniture that are made in this step. ``info["success"]`` is True when all
    joints of the furniture are made; success ends the episode.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": round(1 / PERIOD)}  # noqa: RUF012
    substeps = SUBSTEPS
    """Number of physics steps in one control step."""

    def __init__(self, task: Task, *, seed: int, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ConfigError(f"render_mode is {render_mode!r}; valid: None, 'rgb_array'.")
        self.task, self.render_mode = task, render_mode
        settings = read_settings(task)
        self.furniture, self._start_spread = FURNITURE[settings.furniture], SPREADS[settings.randomness]
        self._hand_control, self._has_cameras = not settings.by_joints, settings.cameras
        self.model = build(self.furniture, settings.clearance, settings.connectors)
        self.data = mujoco.MjData(self.model)
        self.arm = Arm()
        self.assembly = Assembly(self.furniture, self.model, settings.connectors)
        self.parts = len(self.furniture.parts)
        self._tag_error, self.tag_offsets = settings.tag_error, np.zeros((self.parts, 2))
        """Horizontal errors of the parts' observed positions, m; zeros without the setting ``tag_error``."""
        self.pads = (self.model.geom("left_pad").id, self.model.geom("right_pad").id)
        index = {self.model.body(part.name).id: i for i, part in enumerate(self.furniture.parts)}
        self.part_of = [index.get(body, -1) for body in self.model.geom_bodyid.tolist()]
        """Index of the part that each geom belongs to; -1: none."""
        self.action_space = spaces.Box(-1.0, 1.0, (8,), np.float32)
        entries: dict[str, gymnasium.Space[Any]] = {
            "robot": spaces.Box(-100.0, 100.0, (28,), np.float32),
            "parts": spaces.Box(-100.0, 100.0, (7 * self.parts,), np.float32),
            "made": spaces.Box(0.0, 1.0, (len(self.furniture.joints),), np.float32),
        }
        if self._has_cameras:
            entries |= {name: spaces.Box(0, 255, (CAMERA_PIXELS, CAMERA_PIXELS, 3), np.uint8) for name in CAMERAS}
        self.observation_space = spaces.Dict(entries)
        self._cameras: dict[str, Camera] = {}
        self._low, self._high = (np.array(side) for side in zip(*TARGET_BOUNDS, strict=True))
        self.target, self.rotation = np.zeros(3), np.eye(3).ravel()
        self.joints = np.array(panda.HOME)
        self._hand_position = np.zeros(3)
        """Position of the hand in the newest observation (3, m)."""
        self.width, self.steps = panda.FINGER_TRAVEL, 0
        super().reset(seed=seed)
        self._start_episode()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._start_episode()
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        by_hand = self._hand_control
        if isinstance(action, tuple):
            which, action = action
            by_hand = which == 0
        command = [min(1.0, max(-1.0, float(a))) for a in action]
        if by_hand:
            self._move_target(command)
            self.joints = self.arm.towards(self.joints, self.target, self.rotation)
        else:
            at = self.data.qpos[:7]
            lead = np.clip(
                self.joints + JOINT_RATE * PERIOD * np.array(command[:7]) - at, -MAX_JOINT_LEAD, MAX_JOINT_LEAD
            )
            self.joints = np.clip(at + lead, self.arm.lower, self.arm.upper)
            self.target, self.rotation = (v.copy() for v in self.arm.pose(self.joints))
        if abs(command[7]) > GRIP_DEADBAND:
            self.width = 0.0 if command[7] > 0 else panda.FINGER_TRAVEL
        self.advance()
        self.steps += 1
        new = self.assembly.update(self.data, self.part_poses())
        success = all(self.assembly.made)
        truncated = not success and self.steps >= self.task.horizon
        return self._observe(), float(new), success, truncated, self._info()

    def render(self) -> Any:
        """Return a frame of the camera, uint8 (height, width, 3), or None if ``render_mode`` is None."""
        return None if self.render_mode is None else self._frame("view", 640, 480)

    def close(self) -> None:
        for camera in self._cameras.values():
            camera.close()
        self._cameras = {}

    def save(self) -> bytes:
        """Return the state of the episode. After :meth:`load`, the episode continues exactly as if it had not been
        saved.
        """
        own = np.array([*self.target, *self.rotation, *self.joints, self.width, *self.assembly.numbers()])
        physics, tags = physics_of(self.model, self.data), self.tag_offsets.ravel()
        return pack({"own": own, "steps": self.steps, "tags": tags, "physics": physics})

    def load(self, state: bytes, *, seed: int | None = None) -> Observation:
        """Restore a state that :meth:`save` returned for the same furniture.

        :param seed: a seed, which has no effect, because nothing in an episode is random.
        :returns: the observation in this state.
        :raises StateError: the state is damaged, or belongs to other furniture.
        """
        saved = record(state, ("own", "steps", "tags", "physics"))
        own = numbers(saved["own"], 20 + 4 * len(self.furniture.joints), "numbers of targets and joints")
        tags = numbers(saved["tags"], 2 * self.parts, "errors of the tags")
        self.assembly.restore(self.data, own[20:])
        self.target, self.rotation, self.joints = own[:3].copy(), own[3:12].copy(), own[12:19].copy()
        self.width, self.steps = float(own[19]), whole(saved["steps"], 0, self.task.horizon, "number of steps")
        if self._tag_error:
            self.tag_offsets = tags.reshape(self.parts, 2)
        set_physics(self.model, self.data, saved["physics"])
        return self._observe()

    def _start_episode(self) -> None:
        data, spread, rng = self.data, self._start_spread, self.np_random
        mujoco.mj_resetData(self.model, data)
        self.assembly.clear()
        self.steps, self.width = 0, panda.FINGER_TRAVEL
        place, turn = (v.copy() for v in self.arm.pose(np.array(panda.HOME)))
        place += rng.uniform(-spread.hand_shift, spread.hand_shift, 3)
        yaw = rng.uniform(-spread.hand_turn, spread.hand_turn)
        cos, sin = math.cos(yaw), math.sin(yaw)
        turn = (np.array(((cos, -sin, 0), (sin, cos, 0), (0, 0, 1))) @ turn.reshape(3, 3)).ravel()
        self.joints = self.arm.reach(np.array(panda.HOME), place, turn)[0]
        self.target, self.rotation = (v.copy() for v in self.arm.pose(self.joints))
        data.qpos[:7], data.qpos[7:ARM_JOINTS] = self.joints, self.width
        data.qpos[ARM_JOINTS:] = draw(self.furniture, spread, rng)
        if self._tag_error:
            self.tag_offsets = draw_tag_offsets(self.parts, self._tag_error, rng)
        for _ in range(SETTLE_STEPS):
            self.advance()

    def _move_target(self, command: list[float]) -> None:
        x, y, z = (TURN_SCALE * component for component in command[3:6])
        w = 1.0 + TURN_SCALE * command[6]
        at = self._hand_position
        lead = self.target - at
        lead += HAND_STEP * np.array(command[:3])
        length = math.sqrt(lead @ lead)
        if length > MAX_HAND_LEAD:
            lead *= MAX_HAND_LEAD / length
        self.target = np.minimum(np.maximum(at + lead, self._low), self._high)
        if x or y or z:
            size = math.sqrt(x * x + y * y + z * z + w * w)
            delta = np.empty(9)
            mujoco.mju_quat2Mat(delta, np.array((w / size, x / size, y / size, z / size)))
            self.rotation = (delta.reshape(3, 3) @ self.rotation.reshape(3, 3)).ravel()

    def advance(self) -> None:
        """Simulate one control step with the current targets of joints and fingers."""
        control = self.data.ctrl
        control[:7], control[7:ARM_JOINTS] = self.joints, self.width
        mujoco.mj_step(self.model, self.data, nstep=SUBSTEPS)

    def part_poses(self) -> list[list[float]]:
        flat = self.data.qpos[ARM_JOINTS:].tolist()
        return [flat[i : i + 7] for i in range(0, len(flat), 7)]

    def _observe(self) -> Observation:
        places, speeds = self.data.qpos, self.data.qvel
        at, turn = self.arm.pose(places[:7])
        self._hand_position = at.copy()
        robot = np.empty(28, np.float32)
        robot[:3] = at
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, turn)
        robot[3:7] = quaternion if quaternion[0] >= 0 else -quaternion
        robot[7:13] = self.arm.jacobian() @ speeds[:7]
        robot[13] = places[7] + places[8]
        robot[14:21], robot[21:] = places[:7], speeds[:7]
        observation: Observation = {
            "robot": robot,
            "parts": self._tagged(places[ARM_JOINTS:]),
            "made": np.array(self.assembly.progress(), np.float32),
        }
        if self._has_cameras:
            observation |= {name: self._frame(name, CAMERA_PIXELS, CAMERA_PIXELS) for name in CAMERAS}
        return observation

    def _tagged(self, poses: Array) -> np.ndarray[Any, Any]:
        """Return the poses of the parts as position tags report them, with the errors of the tags."""
        observed = poses.astype(np.float32)
        observed.reshape(self.parts, 7)[:, :2] += self.tag_offsets
        return observed

    def _frame(self, name: str, width: int, height: int) -> Any:
        if name not in self._cameras:
            self._cameras[name] = Camera(self.model, name, width, height)
        return self._cameras[name].frame(self.data)

    def _info(self) -> dict[str, Any]:
        made = self.assembly.made
        return {"success": all(made), "made": sum(made)}
