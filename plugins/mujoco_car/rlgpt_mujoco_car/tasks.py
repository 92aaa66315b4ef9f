"""The tasks: on which course, for how long."""

from __future__ import annotations

from collections.abc import Mapping

from rlgpt.domain import Task

_ROAD = "the rear axle passes the end of the road; no wall was touched for a second without a break"
_TASKS: Mapping[str, tuple[str, int, str]] = {
    "winding_road": ("Drive to the end of the winding road.", 400, _ROAD),
    "winding_road_wet": ("Drive to the end of the winding road, parts of which are slippery.", 450, _ROAD),
    "winding_road_slope": ("Drive to the end of the winding road, which lies on a slope.", 450, _ROAD),
    "blocked_start": (
        "Get free: the way ahead is blocked but for a gap at one side. Then drive to the end of the road.",
        400,
        _ROAD,
    ),
    "parking": (
        "Park in the gap between the two parked cars at the right, parallel to the road.",
        300,
        "the car stands (below 0.05 m/s for 10 steps) within 0.09 m along, 0.06 m across and 0.12 rad of the goal; no "
        "wall or car was touched for a second without a break",
    ),
    "hill": (
        "Get on top of the hill: the motor is too weak to climb it without a run-up.",
        250,
        "the rear axle is 0.8 m beyond the end of the ramp; no wall was touched for a second without a break",
    ),
}


def make_tasks() -> dict[str, Task]:
    """Every task by its id."""
    return {
        f"mujoco_car/{name}": Task(
            id=f"mujoco_car/{name}",
            goal=goal,
            horizon=horizon,
            success=success,
            settings={"course": name, "camera": False},
        )
        for name, (goal, horizon, success) in _TASKS.items()
    }
