"""Defines the reward terms, which are bounded and smooth, and are computed from the simulator's true state. The setup
has their weights.
"""

from __future__ import annotations

import math

import numpy as np
from rlgpt.domain import RLSetup, Task
from rlgpt.plugin.types import Context, RewardTerm

from rlgpt_kitchen.elements import ELEMENTS, Element
from rlgpt_kitchen.model import KitchenModel
from rlgpt_kitchen.tasks import elements_of

STEEPNESS = 3.0
"""Nearness is 1 - tanh(3 d), d in m: 0.28 at 0.3 m, 0.71 at 0.1 m."""


def nearness(ctx: Context, element: str) -> float:
    """Return the nearness of the hand to the element's handle, 1 - tanh(3 d) with the distance d in m, in (0, 1]."""
    model: KitchenModel = ctx.model
    offset = model.true_contact_point(element) - model.true_hand()
    return 1.0 - math.tanh(STEEPNESS * math.sqrt(float(offset @ offset)))


def _completed(ctx: Context) -> tuple[str, ...]:
    return tuple(ctx.info.get("completed", ()))


def _reach(element: Element) -> RewardTerm:
    def value(ctx: Context) -> float:
        return 1.0 if element.name in _completed(ctx) else nearness(ctx, element.name)

    doc = f"how near the hand is to the {element.label}: 1 - tanh(3 x distance in m); 1 once completed"
    return RewardTerm(f"reach_{element.name}", doc, value)


def _progress(element: Element) -> RewardTerm:
    def value(ctx: Context) -> float:
        return 1.0 if element.name in _completed(ctx) else ctx.model.true_progress(element)

    doc = f"progress of the {element.label}, from 0 at the start to 1 where it counts as completed"
    return RewardTerm(f"progress_{element.name}", doc, value)


def _complete(element: Element) -> RewardTerm:
    def value(ctx: Context) -> float:
        return float(element.name in _completed(ctx))

    return RewardTerm(f"complete_{element.name}", f"once, when the {element.label} is completed", value, "event")


def _reach_next(ctx: Context) -> float:
    model: KitchenModel = ctx.model
    done = _completed(ctx)
    remaining = [e.name for e in model.elements if e.name not in done]
    near = nearness(ctx, remaining[0]) if remaining else 0.0
    return (len(model.elements) - len(remaining) + near) / len(model.elements)


def _success(ctx: Context) -> float:
    return float(bool(ctx.info.get("success", False)))


def _slowness(ctx: Context) -> float:
    """Return the reward term -|v|^2 / (1 + |v|^2), in (-1, 0], where v are the velocities of the arm's joints,
    rad/s.
    """
    velocity = ctx.model.data.qvel[:7]
    square = float(velocity @ velocity)
    return -square / (1.0 + square)


def _upright(ctx: Context) -> float:
    """The cosine of the kettle's tilt, or 0 if the cosine is negative."""
    w, x, y, z = ctx.model.data.qpos[26:30]
    norm = w * w + x * x + y * y + z * z
    return float(np.clip(1.0 - 2.0 * (x * x + y * y) / norm, 0.0, 1.0))


def reward_terms(task: Task) -> tuple[RewardTerm, ...]:
    """Return the reward terms of a task. The reward terms are reach, progress and completion for each element, and
    terms for all elements together.
    """
    elements = [ELEMENTS[name] for name in elements_of(task)]
    terms = [maker(e) for e in elements for maker in (_reach, _progress, _complete)]
    terms += [
        RewardTerm(
            "reach_next",
            "completed elements plus nearness to the first that is left, in the goal's order, over their number",
            _reach_next,
        ),
        RewardTerm("success", "once, when every element is completed", _success, "event"),
        RewardTerm("calm", "minus v^2 / (1 + v^2) of the joints' speed in rad/s, each step", _slowness, "step", -1, 0),
        RewardTerm("time", "minus one, each step", lambda ctx: -1.0, "step", -1, 0),
    ]
    if any(e.name == "kettle" for e in elements):
        terms.append(RewardTerm("kettle_upright", "cosine of the kettle's tilt, each step", _upright, "step"))
    return tuple(terms)


def default_setup(task: Task) -> RLSetup:
    """Return the default setup. For each element of the task, the default setup has the potential 4 nearness + 6
    progress, and a reward of 5 for the completion. In preliminary runs, PPO learned with these weights.
    """
    elements = elements_of(task)
    keys = ["robot", "hand_position", "gripper_closed", "time"]
    for name in elements:
        keys += [f"{name}_offset", f"{name}_near", f"{name}_progress", f"{name}_done"]
    if len(elements) == 1:
        keys.remove(f"{elements[0]}_done")
    weights = {"reach_next": 4.0 * len(elements), "success": 5.0 if len(elements) == 1 else 0.0}
    for name in elements:
        weights[f"progress_{name}"] = 6.0
        if len(elements) > 1:
            weights[f"complete_{name}"] = 5.0
    return RLSetup(
        reward_weights={k: v for k, v in weights.items() if v},
        observation_keys=tuple(keys),
        reason="the plugin's default: potential of nearness and progress, and a bonus for each completed element",
    )
