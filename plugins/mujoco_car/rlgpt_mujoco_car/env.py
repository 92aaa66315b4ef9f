"""The car's tasks as environments."""

from __future__ import annotations

import itertools
import math
from collections import deque
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from rlgpt.domain import Task
from rlgpt.errors import ConfigError, StateError
from rlgpt.plugin.mujoco_camera import Camera
from rlgpt.plugin.mujoco_state import physics_of, set_physics
from rlgpt.plugin.offscreen import make_mujoco_importable
from rlgpt.plugin.state_data import pack, record, whole

from rlgpt_mujoco_car import vehicle
from rlgpt_mujoco_car.rays import segments
from rlgpt_mujoco_car.scenarios import SCENARIOS
from rlgpt_mujoco_car.scene import SUBSTEPS, TIMESTEP, Scene, mjcf
from rlgpt_mujoco_car.sensors import (
    COMPONENT_SIZES,
    LOOKAHEAD,
    RAY_RANGE,
    RAYS,
    SENSOR_COUNT,
    SensorVector,
    read_sensors,
)
from rlgpt_mujoco_car.tasks import friction, has_camera, scenario_of, sensor_delay

make_mujoco_importable()
import mujoco  # noqa: E402

PERIOD = TIMESTEP * SUBSTEPS
"""Duration of one control step, 0.05 s."""
TOUCH_SUBSTEPS = 4
"""Number of physics steps between two checks for contact with a wall; they last 0.01 s."""
TOUCH_PERIOD = TIMESTEP * TOUCH_SUBSTEPS
WALL_CONTACTS = 6
"""Index in the sensor data of the number of contacts with walls."""
MAX_TOUCH_CHECKS = round(1.0 / TOUCH_PERIOD)
"""Number of consecutive checks that may find contact with a wall: these checks last one second. One more check with
contact ends the episode as a failure.
"""
PARKED_STEPS = 10
"""Number of control steps for which the car must stand in the parking space."""
PARKING_TOLERANCE = (0.09, 0.06, 0.12)
"""Largest errors of the parked car: along the road (m), across the road (m), in heading (rad)."""
GOAL_HEIGHT_TOLERANCE = 0.05
"""Largest height by which a car at the goal may be below the ground, m. A car that fell beside the road is lower: it
has not reached the goal.
"""
PIXEL_SIZE = 64

Observation = dict[str, np.ndarray[Any, Any]]


class CarTask(gymnasium.Env[Any, Any]):
    """A 1:10 car among walls. One control step is 0.05 s.

    The action, Box(-1, 1, (2,)), is the motor's target speed in units of 2.5 m/s (negative values drive backwards), and
    the steering angle in units of 0.5 rad (positive values steer to the left).

    The observation of the car, float32, has these keys:

    - The key ``rays`` (20) has the distances in m (at most 5) from the middle of the car to the nearest wall or
      obstacle, every 18 degrees, counter-clockwise from straight ahead.
    - The key ``motion`` (5) has the speed forwards and to the left (m/s), the turning rate (rad/s, positive to the
      left), the steering angle (rad), and the pitch of the body (rad, positive with the nose up).
    - The key ``road`` (12) has the offset of the car to the left of the centre line (m), the heading of the line
      relative to the car (rad), and x (forwards), y (left) in m of five points of the line 0.5, 1, 1.5, 2.25 and 3 m
      ahead.
    - The key ``goal`` (4) has x, y (m) of the goal from the rear axle, and the cosine and sine of the goal's heading
      relative to the car.
    - The key ``touching`` (1) has the seconds of uninterrupted contact with a wall.
    - The key ``pixels`` (64, 64, 3), uint8, is the picture from behind the windscreen, and exists only with the setting
      ``camera=True``.

    The setting ``sensor_delay`` delays all observations except the pixels by this number of seconds. The setting
    ``friction`` makes the ground slippery.

    The reward is the car's progress along the road in the last step, in m. ``info["success"]`` is True if the car has
    reached the end of the road, stands in the parking space, or is on top of the hill, depending on the task. The
    episode ends as a failure after one second of uninterrupted contact with a wall, or when the car turns over.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": round(1 / PERIOD)}  # noqa: RUF012
    substeps = SUBSTEPS
    """Number of physics steps in one control step."""

    def __init__(self, task: Task, *, seed: int, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ConfigError(f"render_mode is {render_mode!r}; valid: None, 'rgb_array'.")
        self.task, self.render_mode = task, render_mode
        self._scenario, self._pixels = scenario_of(task), has_camera(task)
        self._draw_scene, self._is_parking = SCENARIOS[self._scenario], self._scenario == "parking"
        self._friction = friction(task)
        self._late: deque[SensorVector] = deque(maxlen=1 + round(sensor_delay(task) / PERIOD))
        """The newest sensor readings. The oldest of these readings is the current observation."""
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        entries: dict[str, gymnasium.Space[Any]] = {
            "rays": spaces.Box(0.0, RAY_RANGE, (RAYS,), np.float32),
            "motion": spaces.Box(-20.0, 20.0, (5,), np.float32),
            "road": spaces.Box(-50.0, 50.0, (2 + 2 * len(LOOKAHEAD),), np.float32),
            "goal": spaces.Box(-100.0, 100.0, (4,), np.float32),
            "touching": spaces.Box(0.0, 2.0, (1,), np.float32),
        }
        if self._pixels:
            entries["pixels"] = spaces.Box(0, 255, (PIXEL_SIZE, PIXEL_SIZE, 3), np.uint8)
        self.observation_space = spaces.Dict(entries)
        self._camera: Camera | None = None
        self._pixel_camera: Camera | None = None
        self.position = (0.0, 0.0)
        """Position x, y of the centre of the rear axle, m."""
        self.height = self.heading = self.progress = self._upright = 0.0
        self.steps = self.touch_checks = self.parked_steps = 0
        super().reset(seed=seed)
        self._begin_scene()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._begin_scene()
        return self._observe(), self._info(False)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        speed, steer = min(1.0, max(-1.0, float(action[0]))), min(1.0, max(-1.0, float(action[1])))
        control = self._control
        control[0] = speed * (vehicle.MAX_SPEED / vehicle.WHEEL_RADIUS)
        control[1], control[2] = vehicle.ackermann(steer * vehicle.MAX_STEER)
        data, sensordata, before = self.data, self._sensordata, self.progress
        checks = most_checks = self.touch_checks
        for _ in range(SUBSTEPS // TOUCH_SUBSTEPS):
            mujoco.mj_step(self.model, data, nstep=TOUCH_SUBSTEPS)
            checks = checks + 1 if sensordata[WALL_CONTACTS] else 0
            most_checks = max(most_checks, checks)
        self.steps, self.touch_checks = self.steps + 1, checks
        observation = self._observe()
        lost = most_checks > MAX_TOUCH_CHECKS or self.height < -1.0 or self._upright < 0.3
        success = self._arrived() and not lost
        ended = success or lost
        truncated = not ended and self.steps >= self.task.horizon
        return observation, self.progress - before, ended, truncated, self._info(success)

    def render(self) -> Any:
        """Return a frame of the camera, uint8 (height, width, 3), or None if ``render_mode`` is None."""
        if self.render_mode is None:
            return None
        if self._camera is None:
            self._camera = Camera(self.model, "chase", 640, 400)
        return self._camera.frame(self.data)

    def close(self) -> None:
        for camera in (self._camera, self._pixel_camera):
            if camera is not None:
                camera.close()
        self._camera = self._pixel_camera = None

    def save(self) -> bytes:
        """Return the state of the episode. After :meth:`load`, the episode continues exactly as if it had not been
        saved.

        The saved state does not contain the scene, but the state of the random generator from which the scene is drawn
        again.
        """
        counts = self.steps, self.touch_checks, self.parked_steps, self._index
        physics = physics_of(self.model, self.data)
        state = {"scenario": self._scenario, "drawn": self._drawn, "physics": physics, "counts": list(counts)}
        late = list(self._late) if self._is_late else []
        return pack({**state, "late": np.array(late, np.float32).reshape(-1, SENSOR_COUNT)})

    def load(self, state: bytes, *, seed: int | None = None) -> Observation:
        """Restore a state that :meth:`save` returned, possibly in another environment or an earlier episode.

        :param seed: a seed, which has no effect, because nothing in an episode is random.
        :returns: the observation in this state.
        :raises StateError: the state is damaged, or belongs to another scenario.
        """
        saved = record(state, ("scenario", "drawn", "physics", "counts", "late"))
        if saved["scenario"] != self._scenario:
            raise StateError(
                f"the state is of the scenario {saved['scenario']!r:.80}; {self.task.id} is {self._scenario!r}: load "
                "it into an environment of its own task."
            )
        if saved["drawn"] != self._drawn:
            rng = np.random.Generator(np.random.PCG64())
            try:
                rng.bit_generator.state = saved["drawn"]
            except (TypeError, ValueError, KeyError, OverflowError) as fault:
                raise StateError(f"the generator of the saved scene is damaged: {fault}.") from fault
            self._np_random = rng
            self._begin_scene()
        counts, late = saved["counts"], saved["late"]
        if not isinstance(counts, list) or len(counts) != 4:
            raise StateError(f"the saved counts are {counts!r:.80}; valid: four integers.")
        known = isinstance(late, np.ndarray) and late.dtype == np.float32 and late.shape[1:] == (SENSOR_COUNT,)
        if not (known and len(late) <= self._is_late * (self._late.maxlen or 1) and np.isfinite(late).all()):
            raise StateError("the saved readings of the sensors are damaged, or of a car with another delay.")
        most = (self.task.horizon, MAX_TOUCH_CHECKS, PARKED_STEPS, len(self.scene.road.points) - 1)
        self.steps, self.touch_checks, self.parked_steps, self._index = (
            whole(count, 0, high, "count") for count, high in zip(counts, most, strict=True)
        )
        set_physics(self.model, self.data, saved["physics"])
        observation = self._observe()
        if not len(late):
            return observation
        # Earlier sensor readings cannot be computed again, so they are part of the state.
        self._late.clear()
        self._late.extend(late)
        return self._components(self._late[0]) | {key: observation[key] for key in observation if key == "pixels"}

    @property
    def _is_late(self) -> bool:
        """Return whether the sensors have a delay."""
        return self._late.maxlen != 1

    def _sample_scene(self, rng: np.random.Generator) -> Scene:
        return replace(self._draw_scene(rng), friction=self._friction)

    def _begin_scene(self) -> None:
        self._drawn = self.np_random.bit_generator.state
        self.load_scene(self._sample_scene(self.np_random))

    def load_scene(self, scene: Scene) -> None:
        """Start an episode in ``scene``. The function compiles the scene's model and puts the car at the scene's
        start.
        """
        self.scene = scene
        self.model = mujoco.MjModel.from_xml_string(mjcf(scene))
        for camera in (self._camera, self._pixel_camera):
            if camera is not None:
                camera.show(self.model)
        self.data = mujoco.MjData(self.model)
        # These arrays share the simulator's memory and are valid as long as its data exist.
        self._qpos, self._sensordata, self._control = self.data.qpos, self.data.sensordata, self.data.ctrl
        self._segments = segments(scene)
        points = scene.road.points
        self._centre_line = np.column_stack((points, scene.road.headings))
        self._goal = (float(scene.goal[0]), float(scene.goal[1]), float(scene.goal[2]))
        self._goal_direction = (math.cos(self._goal[2]), math.sin(self._goal[2]))
        self._goal_radius, self._min_goal_height = 2 * scene.road.half_width, scene.summit - GOAL_HEIGHT_TOLERANCE
        self.steps = self.touch_checks = self.parked_steps = 0
        self._index = int(np.argmin(((points - scene.start[:2]) ** 2).sum(axis=1)))
        mujoco.mj_forward(self.model, self.data)
        self._late.clear()
        self._read_sensors()

    def _arrived(self) -> bool:
        x, y, turn = self._goal
        dx, dy = x - self.position[0], y - self.position[1]
        if not self._is_parking:
            near = dx * dx + dy * dy < self._goal_radius * self._goal_radius and self.height > self._min_goal_height
            return near and dx * self._goal_direction[0] + dy * self._goal_direction[1] <= 0.0
        # The parking space lies along the x axis, so distances along and across it are those along x and y.
        along, across, angle = PARKING_TOLERANCE
        inside = abs(dx) < along and abs(dy) < across and abs(turn - self.heading) < angle
        self.parked_steps = self.parked_steps + 1 if inside and abs(float(self._sensordata[0])) < 0.05 else 0
        return self.parked_steps >= PARKED_STEPS

    def _read_sensors(self) -> SensorVector:
        """Read the sensors, and update the position of the car on the road."""
        flat = np.empty(SENSOR_COUNT, np.float32)
        self._index, x, y, self.height, self.heading, self._upright, self.progress = read_sensors(
            self._qpos,
            self._sensordata,
            self._centre_line,
            self._segments,
            self._goal,
            self._index,
            self.touch_checks * TOUCH_PERIOD,
            flat,
        )
        self.position = (x, y)
        return flat

    def _observe(self) -> Observation:
        self._late.append(self._read_sensors())
        observation = self._components(self._late[0])
        if self._pixels:
            if self._pixel_camera is None:
                self._pixel_camera = Camera(self.model, "front", PIXEL_SIZE, PIXEL_SIZE)
            observation["pixels"] = self._pixel_camera.frame(self.data)
        return observation

    @staticmethod
    def _components(flat: SensorVector) -> Observation:
        return {name: flat[part] for name, part in _COMPONENT_SLICES}

    def _info(self, success: bool) -> dict[str, Any]:
        return {"success": success, "progress": self.progress, "touching": self.touch_checks * TOUCH_PERIOD}


_COMPONENT_ENDS = tuple(itertools.accumulate(COMPONENT_SIZES.values(), initial=0))
_COMPONENT_SLICES = tuple(
    (name, slice(a, b)) for name, (a, b) in zip(COMPONENT_SIZES, itertools.pairwise(_COMPONENT_ENDS), strict=True)
)
"""Component of the observation -> its slice of the sensor vector."""
