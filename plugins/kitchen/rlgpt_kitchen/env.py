"""Defines the environment of a task, which is FrankaKitchen-v1 with unchanged physics, goals and success.

Observations are copies of the arrays of FrankaKitchen-v1.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from rlgpt.domain import Task
from rlgpt.errors import ConfigError, StateError
from rlgpt.plugin.mujoco_camera import Camera, Viewpoint
from rlgpt.plugin.mujoco_state import physics_of, set_physics
from rlgpt.plugin.offscreen import make_mujoco_importable
from rlgpt.plugin.state_data import numbers, pack, record, whole

from rlgpt_kitchen.elements import ELEMENTS
from rlgpt_kitchen.tasks import elements_of

make_mujoco_importable()
# The import would print a notice about other environments in every process.
with contextlib.redirect_stderr(io.StringIO()):
    from gymnasium_robotics.envs.franka_kitchen.kitchen_env import KitchenEnv

VIEWPOINT = Viewpoint(look_at=(-0.4, 0.4, 2.1), distance=2.0, azimuth=60.0, elevation=-22.0)
"""Viewpoint of the camera. The picture shows the counter, the knobs and the cabinets, with the arm at the right."""

OBSERVATION_BOUND = 100.0
"""Bound to which observations are clipped. The bound makes the spaces finite, and real values are far below this bound.
"""

Observation = dict[str, np.ndarray[Any, np.dtype[np.float64]]]


class KitchenTask(gymnasium.Env[Any, Any]):
    """The environment of one task.

    The observation, float64, comes from FrankaKitchen's sensors, which are noisy, and has two keys:

    - The key ``robot`` (18) has the positions of 7 joints (rad) and 2 fingers (m), then their velocities.
    - The key ``objects`` (41) has 21 positions, then 20 velocities. The positions are: knob and burner of each of the
      four burners (8), light switch (2), slide cabinet (1), two hinges of the hinge cabinet (2), microwave (1),
      position and quaternion of the kettle (7). The kettle has 6 velocities.

    The action, Box(-1, 1, (9,)), has the velocities of 7 joints in units of 2 rad/s, and two numbers for the fingers (1
    opens, -1 closes). The reward is that of FrankaKitchen-v1, which is the number of elements completed in this step.
    ``info["success"]`` is True if all elements of the task have been completed; ``info["completed"]`` names the
    completed elements in the order of their completion.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 12}  # noqa: RUF012

    def __init__(self, task: Task, *, seed: int, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ConfigError(f"render_mode is {render_mode!r}; valid: None, 'rgb_array'.")
        self.render_mode = render_mode
        self.elements = elements_of(task)
        self.horizon = task.horizon
        self.base = KitchenEnv(
            tasks_to_complete=[ELEMENTS[e].label for e in self.elements],
            robot_noise_ratio=_ratio(task, "robot_noise_ratio"),
            object_noise_ratio=_ratio(task, "object_noise_ratio"),
        )
        """The environment FrankaKitchen-v1, unchanged."""
        self.action_space = self.base.action_space
        self.observation_space = spaces.Dict(
            {
                "robot": spaces.Box(-OBSERVATION_BOUND, OBSERVATION_BOUND, (18,), np.float64),
                "objects": spaces.Box(-OBSERVATION_BOUND, OBSERVATION_BOUND, (41,), np.float64),
            }
        )
        self._names = {ELEMENTS[e].label: e for e in self.elements}
        self._camera: Camera | None = None
        self._steps = 0
        self.base.reset(seed=seed)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        observation, info = self.base.reset(seed=seed)
        self._steps = 0
        return self._observe(observation), self._info(info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, _, info = self.base.step(np.asarray(action, np.float64))
        self._steps += 1
        truncated = not terminated and self._steps >= self.horizon
        return self._observe(observation), float(reward), bool(terminated), truncated, self._info(info)

    def render(self) -> Any:
        """Return a frame of the camera, uint8 (height, width, 3), or None if ``render_mode`` is None."""
        if self.render_mode is None:
            return None
        if self._camera is None:
            self._camera = Camera(self.base.model, VIEWPOINT)
        return self._camera.frame(self.base.data)

    def close(self) -> None:
        if self._camera is not None:
            self._camera.close()
            self._camera = None
        self.base.close()

    def save(self) -> bytes:
        """Return the state of the episode. After :meth:`load`, the episode continues exactly as if it had not been
        saved, with the same noise of sensors and motors.

        The saved state lacks the newest observation, which cannot be computed again because it is noisy.
        """
        base, robot = self.base, self.base.robot_env
        return pack(
            {
                "physics": physics_of(base.model, base.data),
                "sensed": robot._last_robot_qpos,
                "completed": [self._names[label] for label in base.episode_task_completions],
                "steps": self._steps,
                "noise": robot.np_random,
            }
        )

    def load(self, state: bytes, *, seed: int | None = None) -> None:
        """Restore a state that :meth:`save` returned for a task with the same elements.

        :param seed: the seed of the noise after the loading; with None, the saved random numbers of the noise continue.
        :raises StateError: the state is damaged, or belongs to a task with other elements.
        """
        saved = record(state, ("physics", "sensed", "completed", "steps", "noise"), seed=seed)
        done = saved["completed"]
        if not isinstance(done, list) or len({*done}) != len(done) or not {*done} <= {*self.elements}:
            raise StateError(f"the saved state completed {done!r:.80}; the task's elements are {self.elements}.")
        if not isinstance(saved["noise"], np.random.Generator):
            raise StateError("the saved state has no generator of noise.")
        base, robot = self.base, self.base.robot_env
        sensed = numbers(saved["sensed"], robot.model.nu, "sensed joints")
        self._steps = whole(saved["steps"], 0, self.horizon, "number of steps")
        set_physics(base.model, base.data, saved["physics"])
        robot._last_robot_qpos, robot.np_random = sensed, saved["noise"]
        labels = [ELEMENTS[element].label for element in done]
        base.episode_task_completions[:] = labels
        base.tasks_to_complete = set(base.goal) - set(labels)

    def _observe(self, observation: dict[str, Any]) -> Observation:
        # The environment returns arrays of its own state, which the next step changes.
        flat = np.clip(observation["observation"], -OBSERVATION_BOUND, OBSERVATION_BOUND)
        return {"robot": flat[:18].copy(), "objects": flat[18:].copy()}

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        completed = tuple(self._names[label] for label in info["episode_task_completions"])
        return {"success": len(completed) == len(self.elements), "completed": completed}


def _ratio(task: Task, name: str) -> float:
    value = task.settings[name]
    if isinstance(value, str | tuple):
        raise ConfigError(f"setting {name} of {task.id} is {value!r}; it must be a number (0.01 is the default noise).")
    return float(value)
