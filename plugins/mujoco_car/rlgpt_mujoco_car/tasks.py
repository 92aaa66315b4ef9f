"""Defines the tasks, with the goal, the horizon and the success of each scenario."""

from __future__ import annotations

from collections.abc import Mapping

from rlgpt.domain import Task
from rlgpt.errors import ConfigError, UnknownNameError

_ROAD_SUCCESS = "the rear axle passes the end of the road; no wall was touched for a second without a break"
_TASKS: Mapping[str, tuple[str, int, str]] = {
    "winding_road": ("Drive to the end of the winding road.", 400, _ROAD_SUCCESS),
    "winding_road_wet": ("Drive to the end of the winding road, parts of which are slippery.", 450, _ROAD_SUCCESS),
    "winding_road_slope": ("Drive to the end of the winding road, which lies on a slope.", 450, _ROAD_SUCCESS),
    "blocked_start": (
        "Get free: the way ahead is blocked except for a gap at one side. Then drive to the end of the road.",
        400,
        _ROAD_SUCCESS,
    ),
    "parking": (
        "Park in the gap between the two parked cars at the right, parallel to the road.",
        300,
        "the car is at rest (below 0.05 m/s for 10 steps) within 0.09 m along, 0.06 m across and 0.12 rad of the goal; "
        "no wall or car was touched for a second without a break",
    ),
    "hill": (
        "Get on top of the hill: the motor is too weak to climb it without a run-up.",
        250,
        "the rear axle is 0.8 m beyond the end of the ramp; no wall was touched for a second without a break",
    ),
}

DEFAULTS: Mapping[str, float | bool] = {"camera": False, "sensor_delay": 0.0, "friction": 1.0}
"""Settings that every task has in addition to its scenario, with their defaults."""
MAX_SENSOR_DELAY = 0.5
MIN_FRICTION = 0.1


def make_tasks() -> dict[str, Task]:
    """Every task by its id."""
    return {
        f"mujoco_car/{name}": Task(
            id=f"mujoco_car/{name}",
            goal=goal,
            horizon=horizon,
            success=success,
            settings={"scenario": name, **DEFAULTS},
        )
        for name, (goal, horizon, success) in _TASKS.items()
    }


def scenario_of(task: Task) -> str:
    """Return the scenario of a task, a name in :data:`rlgpt_mujoco_car.scenarios.SCENARIOS`.

    :raises UnknownNameError: the task's settings contain an unknown scenario.
    :raises ConfigError: the scenario in the settings differs from the scenario that the task's goal and success
        describe.
    """
    scenario = str(task.settings.get("scenario", ""))
    if scenario not in _TASKS:
        raise UnknownNameError(f"scenario of {task.id}", scenario, _TASKS)
    plugin, _, own = task.id.partition("/")
    if plugin == "mujoco_car" and own in _TASKS and own != scenario:
        raise ConfigError(
            f"task_settings.scenario is {scenario!r}, but the goal and the success of {task.id} are those of {own!r}, "
            f"the only valid scenario here. For the other one choose task=mujoco_car/{scenario}."
        )
    return scenario


def has_camera(task: Task) -> bool:
    """Whether a task's observation contains pixels.

    :raises ConfigError: the setting ``camera`` is neither true nor false.
    """
    camera = task.settings.get("camera", False)
    if not isinstance(camera, bool):
        raise ConfigError(f"task_settings.camera of {task.id} is {camera!r}; valid: true, false (without quotes).")
    return camera


def sensor_delay(task: Task) -> float:
    """Return the delay of the observations, s (the setting ``sensor_delay``).

    :raises ConfigError: the setting ``sensor_delay`` is not a number from 0 to 0.5.
    """
    return _number(task, "sensor_delay", 0.0, MAX_SENSOR_DELAY, "s")


def friction(task: Task) -> float:
    """Return the friction of the ground and of its wet patches, as a share of the default friction (the setting
    ``friction``).

    :raises ConfigError: the setting ``friction`` is not a number from 0.1 to 1.
    """
    return _number(task, "friction", MIN_FRICTION, 1.0, "of dry ground")


def _number(task: Task, name: str, low: float, high: float, unit: str) -> float:
    value = task.settings.get(name, DEFAULTS[name])
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ConfigError(f"task_settings.{name} of {task.id} is {value!r}; valid: {low:g} to {high:g} ({unit}).")
    return float(value)
