"""Reward terms: bounded and smooth. Weights are the RLSetup's."""

from __future__ import annotations

import math

from rlgpt.domain import RLSetup, Task
from rlgpt.plugin.types import Context, RewardTerm

from rlgpt_mujoco_car.courses import G
from rlgpt_mujoco_car.env import CarTask
from rlgpt_mujoco_car.tasks import course_of, has_camera


def _env(ctx: Context) -> CarTask:
    env: CarTask = ctx.model
    return env


def _progress(ctx: Context) -> float:
    env = _env(ctx)
    return min(1.0, max(0.0, env.progress / env.scene.road.length))


def _nearness(ctx: Context) -> float:
    x, y, _, _ = ctx.observation["goal"].tolist()
    return 1.0 - math.tanh(1.5 * math.hypot(x, y))


def _aligned(ctx: Context) -> float:
    """Nearness, times the cosine of the angle to the goal's heading where that is positive."""
    return _nearness(ctx) * max(0.0, float(ctx.observation["goal"][2]))


def _energy(ctx: Context) -> float:
    """Height and kinetic energy as height, over that of the goal: v^2 / 2g + z, within [0, 1]."""
    env = _env(ctx)
    speed = float(ctx.observation["motion"][0])
    return min(1.0, max(0.0, (env.height + speed * speed / (2 * G)) / env.scene.summit))


def _touching(ctx: Context) -> float:
    return -float(ctx.observation["touching"][0] > 0)


def _success(ctx: Context) -> float:
    return float(bool(ctx.info.get("success", False)))


def reward_terms(task: Task) -> tuple[RewardTerm, ...]:
    """The terms of every task; ``energy`` on the hill only."""
    terms = [
        RewardTerm("progress", "share of the road's length that lies behind the car", _progress),
        RewardTerm("nearness", "to the goal: 1 - tanh(1.5 x distance in m)", _nearness),
        RewardTerm("aligned", "nearness times the cosine of the angle to the goal's heading", _aligned),
        RewardTerm("success", "once, at success", _success, "event"),
        RewardTerm("touching", "minus one, each step in touch with a wall", _touching, "step", -1, 0),
        RewardTerm("time", "minus one, each step", lambda ctx: -1.0, "step", -1, 0),
    ]
    if course_of(task) == "hill":
        terms.append(RewardTerm("energy", "height plus v^2 / 2g, over the hill's height", _energy))
    return tuple(terms)


def default_setup(task: Task) -> RLSetup:
    """Ten times progress (parking: nearness and angle; hill: energy, too), five at success; time and touch cost."""
    course = course_of(task)
    weights = {"success": 5.0, "touching": 0.02, "time": 0.005}
    if course == "parking":
        weights["aligned"], paid = 10.0, "nearness to the goal at its heading"
    elif course == "hill":
        weights["progress"], weights["energy"], paid = 10.0, 3.0, "progress and energy"
    else:
        weights["progress"], paid = 10.0, "progress"
    keys = ["speed", "turning_rate", "steering", "rays", "line_offset", "line_angle", "touching", "time"]
    keys += ["goal", "goal_angle"] if course == "parking" else ["road_ahead"]
    if course == "hill":
        keys.append("pitch")
    if has_camera(task):
        keys.append("pixels")
    return RLSetup(
        reward_weights=weights,
        observation_keys=tuple(keys),
        reason=f"the plugin's default: {paid} as a potential, a bonus for success, small costs of time and touch",
    )
