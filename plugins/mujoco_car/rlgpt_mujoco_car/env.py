"""The car's tasks as environments."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from rlgpt.domain import Task
from rlgpt.errors import ConfigError
from rlgpt.plugin.mujoco_camera import Camera, Viewpoint
from rlgpt.plugin.offscreen import make_mujoco_importable

from rlgpt_mujoco_car import vehicle
from rlgpt_mujoco_car.courses import COURSES
from rlgpt_mujoco_car.rays import measure, segments
from rlgpt_mujoco_car.road import SPACING, Array
from rlgpt_mujoco_car.scene import SUBSTEPS, TIMESTEP, WALL_GROUP, Scene, mjcf

make_mujoco_importable()
import mujoco  # noqa: E402

RAYS = 20
RANGE = 5.0
"""m; a ray that meets nothing measures this."""
AHEAD = (0.5, 1.0, 1.5, 2.25, 3.0)
"""m along the road at which its points are told."""
PERIOD = TIMESTEP * SUBSTEPS
"""s of one control step: 0.05."""
TOUCH = round(1.0 / PERIOD)
"""Control steps in touch with a wall, one after another, after which the episode is lost."""
STILL = 10
"""Control steps for which a car must stand in its spot."""
SPOT = (0.09, 0.06, 0.12)
"""How far the parked car may be off: along the road (m), across it (m), heading (rad)."""
PIXELS = 64

Observation = dict[str, np.ndarray[Any, Any]]


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
        self._draw = COURSES[str(task.settings["course"])]
        self._parks = task.settings["course"] == "parking"
        self._pixels = bool(task.settings.get("camera", False))
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
        self._ahead = np.round(np.array(AHEAD) / SPACING).astype(int)
        self.progress = self.offset = self.turn = self.heading = self.pitch = 0.0
        self.place, self.height = (0.0, 0.0), 0.0
        self.steps = self.touching = self.still = 0
        super().reset(seed=seed)
        self._lay(self._draw(self.np_random))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._lay(self._draw(self.np_random))
        return self._observe(), self._info(False)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        speed, steer = (min(1.0, max(-1.0, float(a))) for a in action)
        control = self.data.ctrl
        control[0] = speed * (vehicle.MAX_SPEED / vehicle.RADIUS)
        control[1], control[2] = vehicle.ackermann(steer * vehicle.MAX_STEER)
        mujoco.mj_step(self.model, self.data, nstep=SUBSTEPS)
        self.steps += 1
        before = self.progress
        self._locate()
        self.touching = self.touching + 1 if self._touches() else 0
        success = self._arrived()
        lost = self.touching > TOUCH or self.data.qpos[2] < -1.0 or self._upright < 0.3
        ended = success or lost
        truncated = not ended and self.steps >= self.task.horizon
        return self._observe(), self.progress - before, ended, truncated, self._info(success)

    def render(self) -> Any:
        """A frame, uint8 (height, width, 3), or None where ``render_mode`` is None."""
        if self.render_mode is None:
            return None
        if self._camera is None:
            self._camera = Camera(self.model, self._viewpoint(), 640, 400)
        return self._camera.frame(self.data)

    def close(self) -> None:
        for camera in (self._camera, self._eye):
            if camera is not None:
                camera.close()
        self._camera = self._eye = None

    def state(self) -> Array:
        """All that the future depends on beside the scene: save it, :meth:`restore` it, and it goes on bit for bit."""
        flat = np.empty(mujoco.mj_stateSize(self.model, _FULL))
        mujoco.mj_getState(self.model, self.data, flat, _FULL)
        return np.concatenate((flat, [self.steps, self.touching, self.still, self._index]))

    def restore(self, state: Array) -> Observation:
        """Go back to a :meth:`state` of this scene; the observation there."""
        mujoco.mj_setState(self.model, self.data, state[:-4], _FULL)
        self.steps, self.touching, self.still, self._index = (int(v) for v in state[-4:])
        mujoco.mj_forward(self.model, self.data)
        self._locate()
        return self._observe()

    def _lay(self, scene: Scene) -> None:
        self.close()
        self.scene = scene
        self.model = mujoco.MjModel.from_xml_string(mjcf(scene))
        self.data = mujoco.MjData(self.model)
        self._walls = self.model.geom_group == WALL_GROUP
        self._segments = segments(scene)
        self._points, self._headings = scene.road.points, scene.road.headings
        self._last = len(self._points) - 1
        ends = np.minimum(np.arange(len(self._points) + self._ahead[-1]), self._last)
        self._line = self._points[ends] @ np.array((1, 1j))
        """The middle line in the complex plane, its last point repeated for what lies beyond it."""
        self.steps = self.touching = self.still = 0
        self._index = int(np.argmin(((self._points - scene.start[:2]) ** 2).sum(axis=1)))
        mujoco.mj_forward(self.model, self.data)
        self._locate()

    def _locate(self) -> None:
        """Where the car is: its place and heading, and how far along the road."""
        x, y, z, w, i, j, k = self.data.qpos[:7].tolist()
        self.place, self.height = (x, y), z - vehicle.RADIUS
        self.heading = math.atan2(2 * (w * k + i * j), 1 - 2 * (j * j + k * k))
        self.pitch = -math.asin(min(1.0, max(-1.0, 2 * (w * j - k * i))))
        self._upright = 1 - 2 * (i * i + j * j)
        self._cos, self._sin = math.cos(self.heading), math.sin(self.heading)
        # the nearest point is near the last one: a car does a point in two steps at most
        index, points = self._index, self._points
        best = _square(points[index], x, y)
        for way in (1, -1):
            while 0 <= index + way <= self._last:
                other = _square(points[index + way], x, y)
                if other >= best:
                    break
                index, best = index + way, other
        self._index = index
        line = float(self._headings[index])
        dx, dy = x - float(points[index, 0]), y - float(points[index, 1])
        cos, sin = math.cos(line), math.sin(line)
        self.offset = dy * cos - dx * sin
        self.progress = index * SPACING + dx * cos + dy * sin
        self.turn = (line - self.heading + math.pi) % (2 * math.pi) - math.pi

    def _touches(self) -> bool:
        count = self.data.ncon
        return bool(self._walls[self.data.contact.geom[:count]].any()) if count else False

    def _arrived(self) -> bool:
        x, y, turn = self.scene.goal
        if not self._parks:
            dx, dy = x - self.place[0], y - self.place[1]
            near = dx * dx + dy * dy < 4 * self.scene.road.half**2
            return near and dx * math.cos(turn) + dy * math.sin(turn) <= 0.0
        there = (
            abs(x - self.place[0]) < SPOT[0]
            and abs(y - self.place[1]) < SPOT[1]
            and abs(turn - self.heading) < SPOT[2]
            and abs(float(self.data.sensordata[0])) < 0.05
        )
        self.still = self.still + 1 if there else 0
        return self.still >= STILL

    def _observe(self) -> Observation:
        # complex numbers turn and shift with one multiplication and one addition: this runs at every step
        here, back = complex(*self.place), complex(self._cos, -self._sin)
        forward, left, _, _, _, rate = self.data.sensordata.tolist()
        places = self.data.qpos
        steer = (float(places[_STEER[0]]) + float(places[_STEER[1]])) / 2
        x, y, turn = self.scene.goal
        goal, turn = (complex(x, y) - here) * back, turn - self.heading
        ends = (goal.real, goal.imag, math.cos(turn), math.sin(turn), self.touching * PERIOD)
        ahead = (self._line[self._index + self._ahead] - here) * back
        flat = np.empty(12 + ahead.size * 2, np.float32)
        flat[:12] = (forward, left, rate, steer, self.pitch, *ends, self.offset, self.turn)
        flat[12:] = ahead.view(np.float64)
        seen: Observation = {
            "rays": self._measure(),
            "motion": flat[:5],
            "goal": flat[5:9],
            "touching": flat[9:10],
            "road": flat[10:],
        }
        if self._pixels:
            if self._eye is None:
                self._eye = Camera(self.model, "front", PIXELS, PIXELS)
            seen["pixels"] = self._eye.frame(self.data)
        return seen

    def _measure(self) -> np.ndarray[Any, Any]:
        middle = vehicle.WHEELBASE / 2
        x, y = self.place
        seen = np.empty(RAYS, np.float32)
        measure(x + middle * self._cos, y + middle * self._sin, self.heading, self._segments, RANGE, seen)
        return seen

    def _info(self, success: bool) -> dict[str, Any]:
        return {"success": success, "progress": self.progress, "touching": self.touching * PERIOD}

    def _viewpoint(self) -> Viewpoint | str:
        return "chase"


_FULL = int(mujoco.mjtState.mjSTATE_INTEGRATION)
_STEER = (8, 11)
"""Where the front wheels' steering angles lie in qpos."""


def _square(point: Array, x: float, y: float) -> float:
    dx, dy = float(point[0]) - x, float(point[1]) - y
    return dx * dx + dy * dy
