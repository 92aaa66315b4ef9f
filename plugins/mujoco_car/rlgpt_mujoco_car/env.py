"""The car's tasks as environments."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from rlgpt.domain import Task
from rlgpt.errors import ConfigError
from rlgpt.plugin.mujoco_camera import Camera
from rlgpt.plugin.offscreen import make_mujoco_importable

from rlgpt_mujoco_car import vehicle
from rlgpt_mujoco_car.courses import COURSES
from rlgpt_mujoco_car.rays import segments
from rlgpt_mujoco_car.road import Array
from rlgpt_mujoco_car.scene import SUBSTEPS, TIMESTEP, Scene, mjcf
from rlgpt_mujoco_car.senses import AHEAD, PARTS, RANGE, RAYS, SIZE, Senses, sense
from rlgpt_mujoco_car.tasks import course_of, has_camera

make_mujoco_importable()
import mujoco  # noqa: E402

PERIOD = TIMESTEP * SUBSTEPS
"""s of one control step: 0.05."""
LOOK = 4
"""Physics steps after which touch is looked at, again and again: 0.01 s."""
GLANCE = TIMESTEP * LOOK
CONTACTS = 6
"""Where the number of contacts with walls lies in the sensors' data."""
TOUCH = round(1.0 / GLANCE)
"""Looks, one after another, that may find a wall touched: a second's. One more, and the episode is lost."""
STILL = 10
"""Control steps for which a car must stand in its spot."""
SPOT = (0.09, 0.06, 0.12)
"""How far the parked car may be off: along the road (m), across it (m), heading (rad)."""
LEVEL = 0.05
"""m by which a car at the goal may be below the goal's ground: one that fell beside the road is not there."""
PIXELS = 64

Observation = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True, eq=False)
class Saved:
    """A moment of an episode, as :meth:`CarTask.state` has it; it can be pickled.

    :ivar course: of the task.
    :ivar scene: what the episode is played in.
    :ivar physics: the simulator's state, flat.
    :ivar counts: steps, looks in touch with a wall, steps that stood in the spot, index of the road's nearest point.
    """

    course: str
    scene: Scene
    physics: Array
    counts: tuple[int, int, int, int]


class CarTask(gymnasium.Env[Any, Any]):
    """A 1:10 car among walls. One control step is 0.05 s.

    Action: Box(-1, 1, (2,)): speed that the motor aims at, in units of 2.5 m/s (negative: backwards), and steering in
    units of 0.5 rad (positive: left).

    Observation, float32:

    - ``rays`` (20): m from the middle of the car to the nearest wall or obstacle, 5 at most, every 18 degrees from
      straight ahead to the left and round;
    - ``motion`` (5): speed forwards and to the left (m/s), turning rate (rad/s, positive left), steering angle (rad),
      pitch of the body (rad, positive: nose up);
    - ``road`` (12): metres the car is left of the middle line, the line's direction against the car's (rad), and x
      (forwards), y (left) in m of five points of the line 0.5, 1, 1.5, 2.25 and 3 m ahead;
    - ``goal`` (4): x, y (m) of the goal from the rear axle, cosine and sine of its heading against the car's;
    - ``touching`` (1): seconds the car has been in touch with a wall without a break.

    and with ``camera=True`` in the task's settings ``pixels`` (64, 64, 3), uint8, from behind the windscreen.

    The reward is progress along the road since the last step, in m. ``info["success"]``: the end of the road is
    reached (the car stands in its spot; it is on top of the hill). An episode is lost when a wall has been touched for
    a second without a break, or the car has turned over.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": round(1 / PERIOD)}  # noqa: RUF012
    substeps = SUBSTEPS
    """Physics steps of one control step."""

    def __init__(self, task: Task, *, seed: int, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ConfigError(f"render_mode is {render_mode!r}; valid: None, 'rgb_array'.")
        self.task, self.render_mode = task, render_mode
        self._course, self._pixels = course_of(task), has_camera(task)
        self._draw, self._parks = COURSES[self._course], self._course == "parking"
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        entries: dict[str, gymnasium.Space[Any]] = {
            "rays": spaces.Box(0.0, RANGE, (RAYS,), np.float32),
            "motion": spaces.Box(-20.0, 20.0, (5,), np.float32),
            "road": spaces.Box(-50.0, 50.0, (2 + 2 * len(AHEAD),), np.float32),
            "goal": spaces.Box(-100.0, 100.0, (4,), np.float32),
            "touching": spaces.Box(0.0, 2.0, (1,), np.float32),
        }
        if self._pixels:
            entries["pixels"] = spaces.Box(0, 255, (PIXELS, PIXELS, 3), np.uint8)
        self.observation_space = spaces.Dict(entries)
        self._camera: Camera | None = None
        self._eye: Camera | None = None
        self.place = (0.0, 0.0)
        self.height = self.heading = self.progress = self._upright = 0.0
        self.steps = self.touching = self.still = 0
        super().reset(seed=seed)
        self._lay(self._draw(self.np_random))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._lay(self._draw(self.np_random))
        return self._observe(), self._info(False)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        speed, steer = min(1.0, max(-1.0, float(action[0]))), min(1.0, max(-1.0, float(action[1])))
        control = self._control
        control[0] = speed * (vehicle.MAX_SPEED / vehicle.RADIUS)
        control[1], control[2] = vehicle.ackermann(steer * vehicle.MAX_STEER)
        data, sensed, before = self.data, self._sensed, self.progress
        touching = longest = self.touching
        for _ in range(SUBSTEPS // LOOK):
            mujoco.mj_step(self.model, data, nstep=LOOK)
            touching = touching + 1 if sensed[CONTACTS] else 0
            longest = max(longest, touching)
        self.steps, self.touching = self.steps + 1, touching
        observation = self._observe()
        lost = longest > TOUCH or self.height < -1.0 or self._upright < 0.3
        success = self._arrived() and not lost
        ended = success or lost
        truncated = not ended and self.steps >= self.task.horizon
        return observation, self.progress - before, ended, truncated, self._info(success)

    def render(self) -> Any:
        """A frame, uint8 (height, width, 3), or None where ``render_mode`` is None."""
        if self.render_mode is None:
            return None
        if self._camera is None:
            self._camera = Camera(self.model, "chase", 640, 400)
        return self._camera.frame(self.data)

    def close(self) -> None:
        for camera in (self._camera, self._eye):
            if camera is not None:
                camera.close()
        self._camera = self._eye = None

    def state(self) -> Saved:
        """All that the rest of the episode depends on: :meth:`restore` it, and it goes on bit for bit."""
        flat = np.empty(mujoco.mj_stateSize(self.model, _FULL))
        mujoco.mj_getState(self.model, self.data, flat, _FULL)
        return Saved(self._course, self.scene, flat, (self.steps, self.touching, self.still, self._index))

    def restore(self, state: Saved) -> Observation:
        """Go back to a :meth:`state`, be it of another environment or of an episode before; the observation there.

        :raises ConfigError: it is of another course.
        """
        if state.course != self._course:
            raise ConfigError(
                f"the state is of the course {state.course!r}; {self.task.id} is on {self._course!r}: restore it into "
                "an environment of its own task."
            )
        if state.scene is not self.scene:
            self._lay(state.scene)
        mujoco.mj_setState(self.model, self.data, state.physics, _FULL)
        self.steps, self.touching, self.still, self._index = state.counts
        mujoco.mj_forward(self.model, self.data)
        return self._observe()

    def _lay(self, scene: Scene) -> None:
        self.scene = scene
        self.model = mujoco.MjModel.from_xml_string(mjcf(scene))
        for camera in (self._camera, self._eye):
            if camera is not None:
                camera.show(self.model)
        self.data = mujoco.MjData(self.model)
        # views of the simulator's memory, good as long as its data is
        self._places, self._sensed, self._control = self.data.qpos, self.data.sensordata, self.data.ctrl
        self._segments = segments(scene)
        points = scene.road.points
        self._line = np.column_stack((points, scene.road.headings))
        self._goal = (float(scene.goal[0]), float(scene.goal[1]), float(scene.goal[2]))
        self._ahead = (math.cos(self._goal[2]), math.sin(self._goal[2]))
        self._reach, self._floor = 2 * scene.road.half, scene.summit - LEVEL
        self.steps = self.touching = self.still = 0
        self._index = int(np.argmin(((points - scene.start[:2]) ** 2).sum(axis=1)))
        mujoco.mj_forward(self.model, self.data)
        self._sense()

    def _arrived(self) -> bool:
        x, y, turn = self._goal
        dx, dy = x - self.place[0], y - self.place[1]
        if not self._parks:
            near = dx * dx + dy * dy < self._reach * self._reach and self.height > self._floor
            return near and dx * self._ahead[0] + dy * self._ahead[1] <= 0.0
        # the spot lies along x: distances along and across it are those of the world
        there = abs(dx) < SPOT[0] and abs(dy) < SPOT[1] and abs(turn - self.heading) < SPOT[2]
        self.still = self.still + 1 if there and abs(float(self._sensed[0])) < 0.05 else 0
        return self.still >= STILL

    def _sense(self) -> Senses:
        """What the car senses; finds where it is on the way."""
        flat = np.empty(SIZE, np.float32)
        self._index, x, y, self.height, self.heading, self._upright, self.progress = sense(
            self._places,
            self._sensed,
            self._line,
            self._segments,
            self._goal,
            self._index,
            self.touching * GLANCE,
            flat,
        )
        self.place = (x, y)
        return flat

    def _observe(self) -> Observation:
        flat = self._sense()
        seen: Observation = {name: flat[part] for name, part in _PARTS}
        if self._pixels:
            if self._eye is None:
                self._eye = Camera(self.model, "front", PIXELS, PIXELS)
            seen["pixels"] = self._eye.frame(self.data)
        return seen

    def _info(self, success: bool) -> dict[str, Any]:
        return {"success": success, "progress": self.progress, "touching": self.touching * GLANCE}


_FULL = int(mujoco.mjtState.mjSTATE_INTEGRATION)
_ENDS = tuple(itertools.accumulate(PARTS.values(), initial=0))
_PARTS = tuple((name, slice(a, b)) for name, (a, b) in zip(PARTS, itertools.pairwise(_ENDS), strict=True))
"""Where each part of the observation lies among the senses."""
