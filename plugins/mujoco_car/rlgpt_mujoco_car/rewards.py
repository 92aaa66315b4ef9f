"""Defines the reward terms, which are bounded and smooth. The setup has their weights."""

from __future__ import annotations

import math

from rlgpt.domain import RLSetup, Task
from rlgpt.plugin.types import Context, RewardTerm

from rlgpt_mujoco_car.env import CarTask
from rlgpt_mujoco_car.scenarios import GRAVITY
from rlgpt_mujoco_car.tasks import has_camera, scenario_of


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
    """Return the nearness to the goal times the cosine of the angle to the goal's heading, or 0 if the cosine is
    negative.
    """
    return _nearness(ctx) * max(0.0, float(ctx.observation["goal"][2]))


def _energy(ctx: Context) -> float:
    """Return the car's potential and kinetic energy divided by the potential energy at the goal, (z + v^2 / 2g) /
    z_goal, within [0, 1].
    """
    env = _env(ctx)
    speed = float(ctx.observation["motion"][0])
    return min(1.0, max(0.0, (env.height + speed * speed / (2 * GRAVITY)) / env.scene.summit))


def _touching(ctx: Context) -> float:
    return -float(ctx.observation["touching"][0] > 0)


def _success(ctx: Context) -> float:
    return float(bool(ctx.info.get("success", False)))


def reward_terms(task: Task) -> tuple[RewardTerm, ...]:
    """Return the reward terms of a task. Only the task ``hill`` has the reward term ``energy``."""
    terms = [
        RewardTerm("progress", "share of the road's length that lies behind the car", _progress),
        RewardTerm("nearness", "to the goal: 1 - tanh(1.5 x distance in m)", _nearness),
        RewardTerm("aligned", "nearness times the cosine of the angle to the goal's heading", _aligned),
        RewardTerm("success", "once, at success", _success, "event"),
        RewardTerm("touching", "minus one, each step in contact with a wall", _touching, "step", -1, 0),
        RewardTerm("time", "minus one, each step", lambda ctx: -1.0, "step", -1, 0),
    ]
    if scenario_of(task) == "hill":
        terms.append(RewardTerm("energy", "height plus v^2 / 2g, over the hill's height", _energy))
    return tuple(terms)


def default_setup(task: Task) -> RLSetup:
    """Return the default setup. The default weights are 10 for progress (in the parking task, for nearness and angle),
    3 for energy (in the task on the hill), and 5 for success; costs have small weights.
    """
    scenario = scenario_of(task)
    weights = {"success": 5.0, "touching": 0.02, "time": 0.005}
    if scenario == "parking":
        weights["aligned"], paid = 10.0, "nearness to the goal at its heading"
    elif scenario == "hill":
        weights["progress"], weights["energy"], paid = 10.0, 3.0, "progress and energy"
    else:
        weights["progress"], paid = 10.0, "progress"
    keys = ["speed", "turning_rate", "steering", "rays", "line_offset", "line_angle", "touching", "time"]
    keys += ["goal", "goal_angle"] if scenario == "parking" else ["road_ahead"]
    if scenario == "hill":
        keys.append("pitch")
    if has_camera(task):
        keys.append("pixels")
    return RLSetup(
        reward_weights=weights,
        observation_keys=tuple(keys),
        reason=f"the plugin's default: {paid} as a potential, a bonus for success, small costs of time and touch",
    )
