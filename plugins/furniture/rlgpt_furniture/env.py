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
from rlgpt.plugin.offscreen import make_mujoco_importable

from rlgpt_furniture import panda
from rlgpt_furniture.arm import Arm, Array
from rlgpt_furniture.assembly import Assembly
from rlgpt_furniture.furniture import FURNITURE
from rlgpt_furniture.scene import SUBSTEPS, TIMESTEP, build
from rlgpt_furniture.settings import CAMERAS, read
from rlgpt_furniture.start import SPREADS, draw

make_mujoco_importable()
import mujoco  # noqa: E402

PERIOD = TIMESTEP * SUBSTEPS
"""s of one control step: 0.1."""
REACH = 0.03
"""m by which an action of 1 moves the hand's target along an axis: 0.3 m/s."""
TURN = 0.15
"""What an action of 1 adds to a part of the delta quaternion: 0.3 rad about that axis."""
RATE = 1.5
"""rad/s that an action of 1 asks of a joint."""
WINDUP = 0.25
"""rad that a joint's target may be ahead of the joint."""
LEAD = 0.08
"""m that the hand's target may be ahead of the hand."""
AREA = ((0.25, 0.8), (-0.55, 0.55), (0.004, 0.5))
"""m, where the hand's target may be: FurnitureBench's limits, wider where legs are tall."""
DEAD = 0.1
"""A grip action nearer to 0 than this leaves the fingers as they are."""
PIXELS = 64
ARM = 9
"""Joints of arm and fingers: the first of qpos."""
SETTLE = 10
"""Control steps of lying still before an episode begins."""

Observation = dict[str, np.ndarray[Any, Any]]


class FurnitureTask(gymnasium.Env[Any, Any]):
    """A Panda arm at a table with parts. One control step is 0.1 s.

    Action: Box(-1, 1, (8,)). With ``control="hand"``: the hand's target moves by 0.03 m times the first three numbers
    (x forwards, y to the left, z up) and turns by the quaternion (x, y, z, w) = (0, 0, 0, 1) + 0.15 times the next
    four, normalised, in the world's axes: FurnitureBench's action, scaled so that zero does nothing. With
    ``control="joints"``: seven joint velocities in units of 1.5 rad/s. The last number closes the fingers (above
    0.1) or opens them (below -0.1).

    Observation, float32, SI units, from the robot's base on the table (x forwards, y left, z up):

    - ``robot`` (28): the point between the finger tips: position (3), quaternion w x y z (4), velocity (3), angular
      velocity (3); distance between the fingers (1); joint positions (7) and velocities (7);
    - ``parts`` (7 each): position, quaternion w x y z;
    - ``made`` (one for each joint of the furniture): 1 where the parts are assembled; with connectors the share of the
      twist that is done, where held;

    ``step`` also takes what primitives ask for: (0, action) by the hand or (1, action) by joint velocities.

    and with ``cameras=True`` ``front`` and ``wrist``, uint8 (64, 64, 3).

    The reward is 1 for each newly made joint; ``info["success"]``: all are made, which ends the episode.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": round(1 / PERIOD)}  # noqa: RUF012
    substeps = SUBSTEPS
    """Physics steps of one control step."""

    def __init__(self, task: Task, *, seed: int, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ConfigError(f"render_mode is {render_mode!r}; valid: None, 'rgb_array'.")
        self.task, self.render_mode = task, render_mode
        asked = read(task)
        self.furniture, self._spread = FURNITURE[asked.furniture], SPREADS[asked.randomness]
        self._hand, self._pixels = not asked.by_joints, asked.cameras
        self.model = build(self.furniture, asked.clearance, asked.connectors)
        self.data = mujoco.MjData(self.model)
        self.arm = Arm()
        self.assembly = Assembly(self.furniture, self.model, asked.connectors)
        self.parts = len(self.furniture.parts)
        self.pads = (self.model.geom("left_pad").id, self.model.geom("right_pad").id)
        ranks = {self.model.body(part.name).id: i for i, part in enumerate(self.furniture.parts)}
        self.part_of = [ranks.get(body, -1) for body in self.model.geom_bodyid.tolist()]
        """The number of the part that each geom belongs to, -1: none."""
        self.action_space = spaces.Box(-1.0, 1.0, (8,), np.float32)
        entries: dict[str, gymnasium.Space[Any]] = {
            "robot": spaces.Box(-100.0, 100.0, (28,), np.float32),
            "parts": spaces.Box(-100.0, 100.0, (7 * self.parts,), np.float32),
            "made": spaces.Box(0.0, 1.0, (len(self.furniture.joints),), np.float32),
        }
        if self._pixels:
            entries |= {name: spaces.Box(0, 255, (PIXELS, PIXELS, 3), np.uint8) for name in CAMERAS}
        self.observation_space = spaces.Dict(entries)
        self._cameras: dict[str, Camera] = {}
        self._low, self._high = (np.array(side) for side in zip(*AREA, strict=True))
        self.target, self.rotation = np.zeros(3), np.eye(3).ravel()
        self.joints = np.array(panda.HOME)
        self._at = np.zeros(3)
        """Where the hand was last seen: a step begins where the one before ended."""
        self.width, self.steps = panda.OPEN, 0
        super().reset(seed=seed)
        self._lay()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._lay()
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        hand = self._hand
        if isinstance(action, tuple):
            which, action = action
            hand = which == 0
        asked = [min(1.0, max(-1.0, float(a))) for a in action]
        if hand:
            self._move_target(asked)
            self.joints = self.arm.towards(self.joints, self.target, self.rotation)
        else:
            at = self.data.qpos[:7]
            ahead = np.clip(self.joints + RATE * PERIOD * np.array(asked[:7]) - at, -WINDUP, WINDUP)
            self.joints = np.clip(at + ahead, self.arm.lower, self.arm.upper)
            self.target, self.rotation = (v.copy() for v in self.arm.pose(self.joints))
        if abs(asked[7]) > DEAD:
            self.width = 0.0 if asked[7] > 0 else panda.OPEN
        self._advance()
        self.steps += 1
        new = self.assembly.update(self.data, self._poses())
        success = all(self.assembly.made)
        truncated = not success and self.steps >= self.task.horizon
        return self._observe(), float(new), success, truncated, self._info()

    def render(self) -> Any:
        """A frame, uint8 (height, width, 3), or None where ``render_mode`` is None."""
        return None if self.render_mode is None else self._frame("view", 640, 480)

    def close(self) -> None:
        for camera in self._cameras.values():
            camera.close()
        self._cameras = {}

    def state(self) -> Array:
        """All that the future depends on: save it, :meth:`restore` it, and it goes on bit for bit."""
        flat = np.empty(mujoco.mj_stateSize(self.model, _FULL))
        mujoco.mj_getState(self.model, self.data, flat, _FULL)
        own = [*self.target, *self.rotation, *self.joints, self.width, self.steps, *self.assembly.numbers()]
        return np.concatenate((own, flat))

    def restore(self, state: Array) -> Observation:
        """Go back to a :meth:`state` of this furniture; the observation there."""
        own = 21 + 4 * len(self.furniture.joints)
        mujoco.mj_setState(self.model, self.data, state[own:], _FULL)
        self.target, self.rotation, self.joints = state[:3].copy(), state[3:12].copy(), state[12:19].copy()
        self.width, self.steps = float(state[19]), int(state[20])
        self.assembly.restore(self.data, state[21:own])
        # contacts and places of bodies are no part of a state; the whole of mj_forward would write to the warm start
        mujoco.mj_fwdPosition(self.model, self.data)
        return self._observe()

    def _lay(self) -> None:
        data, spread, rng = self.data, self._spread, self.np_random
        mujoco.mj_resetData(self.model, data)
        self.assembly.clear()
        self.steps, self.width = 0, panda.OPEN
        place, turn = (v.copy() for v in self.arm.pose(np.array(panda.HOME)))
        place += rng.uniform(-spread.hand_shift, spread.hand_shift, 3)
        yaw = rng.uniform(-spread.hand_turn, spread.hand_turn)
        cos, sin = math.cos(yaw), math.sin(yaw)
        turn = (np.array(((cos, -sin, 0), (sin, cos, 0), (0, 0, 1))) @ turn.reshape(3, 3)).ravel()
        self.joints = self.arm.reach(np.array(panda.HOME), place, turn)[0]
        self.target, self.rotation = (v.copy() for v in self.arm.pose(self.joints))
        data.qpos[:7], data.qpos[7:ARM] = self.joints, self.width
        data.qpos[ARM:] = draw(self.furniture, spread, rng)
        for _ in range(SETTLE):
            self._advance()

    def _move_target(self, asked: list[float]) -> None:
        x, y, z, w = TURN * asked[3], TURN * asked[4], TURN * asked[5], 1.0 + TURN * asked[6]
        at = self._at
        lead = self.target - at
        lead += REACH * np.array(asked[:3])
        length = math.sqrt(lead @ lead)
        if length > LEAD:
            lead *= LEAD / length
        self.target = np.minimum(np.maximum(at + lead, self._low), self._high)
        if x or y or z:
            size = math.sqrt(x * x + y * y + z * z + w * w)
            delta = np.empty(9)
            mujoco.mju_quat2Mat(delta, np.array((w / size, x / size, y / size, z / size)))
            self.rotation = (delta.reshape(3, 3) @ self.rotation.reshape(3, 3)).ravel()

    def _advance(self) -> None:
        control = self.data.ctrl
        control[:7], control[7:ARM] = self.joints, self.width
        mujoco.mj_step(self.model, self.data, nstep=SUBSTEPS)

    def _poses(self) -> list[list[float]]:
        flat = self.data.qpos[ARM:].tolist()
        return [flat[i : i + 7] for i in range(0, len(flat), 7)]

    def _observe(self) -> Observation:
        places, speeds = self.data.qpos, self.data.qvel
        at, turn = self.arm.pose(places[:7])
        self._at = at.copy()
        robot = np.empty(28, np.float32)
        robot[:3] = at
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, turn)
        robot[3:7] = quaternion if quaternion[0] >= 0 else -quaternion
        robot[7:13] = self.arm.jacobian() @ speeds[:7]
        robot[13] = places[7] + places[8]
        robot[14:21], robot[21:] = places[:7], speeds[:7]
        seen: Observation = {
            "robot": robot,
            "parts": places[ARM:].astype(np.float32),
            "made": np.array(self.assembly.progress(), np.float32),
        }
        if self._pixels:
            seen |= {name: self._frame(name, PIXELS, PIXELS) for name in CAMERAS}
        return seen

    def _frame(self, name: str, width: int, height: int) -> Any:
        if name not in self._cameras:
            self._cameras[name] = Camera(self.model, name, width, height)
        return self._cameras[name].frame(self.data)

    def _info(self) -> dict[str, Any]:
        made = self.assembly.made
        return {"success": all(made), "made": sum(made)}


_FULL = int(mujoco.mjtState.mjSTATE_INTEGRATION)
