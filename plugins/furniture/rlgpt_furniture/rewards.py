"""Defines the reward terms for the phases of assembly, which are reach, hold, upright, align, insert and made. The
setup has their weights.

The phases follow the dense reward of the IKEA furniture environment (Lee and others, 2021, appendix), whose phases are
reach, grasp, align and connect. Each reward term is about the next joint, which is the first joint in the order of
assembly that is not made. A distance d enters the reward terms as 1 - tanh(k d), as in robosuite (Zhu and others,
2020).
"""

from __future__ import annotations

import math

import numpy as np
from rlgpt.domain import RLSetup, Task
from rlgpt.plugin.types import Context, RewardTerm

from rlgpt_furniture.furniture import Furniture, Joint
from rlgpt_furniture.settings import CAMERAS, read_settings
from rlgpt_furniture.views import view_keys


def _furniture(ctx: Context) -> Furniture:
    furniture: Furniture = ctx.model.furniture
    return furniture


def _next(ctx: Context) -> Joint | None:
    """The first joint that is not made."""
    from rlgpt_furniture.motion import cached

    joint: Joint | None = cached(ctx, "next", lambda: _not_made(ctx))
    return joint


def _not_made(ctx: Context) -> Joint | None:
    for joint, made in zip(_furniture(ctx).joints, ctx.observation["made"], strict=True):
        if made < 1.0:
            return joint
    return None


def _phase(value: float, ctx: Context) -> float:
    """Return the number of made joints plus ``value`` for the next joint in the order of assembly, divided by the
    number of joints, in [0, 1].
    """
    made = float(np.floor(ctx.observation["made"]).sum())
    count = len(ctx.observation["made"])
    return min(1.0, max(0.0, (made + value) / count)) if made < count else 1.0


def _part(ctx: Context, name: str) -> tuple[np.ndarray, np.ndarray]:
    from rlgpt_furniture.motion import part_pose

    return part_pose(ctx, [p.name for p in _furniture(ctx).parts].index(name))


def _reach(ctx: Context) -> float:
    joint = _next(ctx)
    if joint is None:
        return 1.0
    away = ctx.observation["robot"][:3] - _part(ctx, joint.part)[0]
    return _phase(1.0 - math.tanh(5.0 * math.sqrt(float(away @ away))), ctx)


def _hold(ctx: Context) -> float:
    from rlgpt_furniture.motion import held_part

    joint = _next(ctx)
    if joint is None:
        return 1.0
    number = held_part(ctx)
    return _phase(float(number >= 0 and _furniture(ctx).parts[number].name == joint.part), ctx)


def _upright(ctx: Context) -> float:
    joint = _next(ctx)
    if joint is None:
        return 1.0
    cosine = float(_part(ctx, joint.base)[1][:, 2] @ _part(ctx, joint.part)[1][:, 2])
    return _phase((1.0 + cosine) / 2, ctx)


def _away(ctx: Context, joint: Joint) -> tuple[float, float]:
    """Return the distances from the part to its nearest target position, across and along the z axis of the base, m."""
    root, frame = _part(ctx, joint.base)
    where = frame.T @ (_part(ctx, joint.part)[0] - root)
    across = [math.hypot(where[0] - p[0], where[1] - p[1]) for p in joint.places]
    nearest = int(np.argmin(across))
    return across[nearest], float(where[2] - joint.places[nearest][2])


def _align(ctx: Context) -> float:
    joint = _next(ctx)
    if joint is None:
        return 1.0
    across, _ = _away(ctx, joint)
    return _phase(1.0 - math.tanh(8.0 * across), ctx)


def _insert(ctx: Context) -> float:
    """Return the reward term for the depth of the next part in its hole. The reward for the depth is positive only if
    the part is upright and at most 1 cm away from the hole's axis.
    """
    joint = _next(ctx)
    if joint is None:
        return 1.0
    across, along = _away(ctx, joint)
    cosine = float(_part(ctx, joint.base)[1][:, 2] @ _part(ctx, joint.part)[1][:, 2])
    depth = min(1.0, max(0.0, 1.0 - along / (2 * joint.depth)))
    return _phase(depth * max(0.0, 1.0 - across / 0.01) * max(0.0, 2 * cosine - 1.0), ctx)


def _made(ctx: Context) -> float:
    return float(np.floor(ctx.observation["made"]).mean())


def _twist(ctx: Context) -> float:
    joint = _next(ctx)
    if joint is None:
        return 1.0
    return _phase(float(ctx.observation["made"][_furniture(ctx).joints.index(joint)]), ctx)


def _success(ctx: Context) -> float:
    return float(bool(ctx.info.get("success", False)))


def reward_terms(task: Task) -> tuple[RewardTerm, ...]:
    """Return the reward terms of a task. The terms of the phases have values from 0 to 1, which grow with the number of
    made joints and with the state of the next joint in the order of assembly (see :func:`_phase`).
    """
    twist = (RewardTerm("twist", "share of the twist of the next part, where a connector holds it", _twist),)
    return (
        RewardTerm("reach", "of the hand to the next part: 1 - tanh(5 x m)", _reach),
        RewardTerm("hold", "both finger pads touch the next part", _hold),
        RewardTerm("upright", "of the next part: (1 + cosine of its z and its base's) / 2", _upright),
        RewardTerm("align", "of the next part over the nearest place: 1 - tanh(8 x m across)", _align),
        RewardTerm(
            "insert", "depth of the next part in its place, where it is within 1 cm across and upright", _insert
        ),
        *(twist if read_settings(task).connectors else ()),
        RewardTerm("made", "share of the joints that are made", _made),
        RewardTerm("success", "once, when all are made", _success, "event"),
        RewardTerm("time", "minus one, each step", lambda ctx: -1.0, "step", -1, 0),
    )


def default_setup(task: Task) -> RLSetup:
    """Return the default setup. The default setup has a potential for each phase of assembly, with larger weights for
    later phases, and a bonus for success.
    """
    settings = read_settings(task)
    weights = {"reach": 1.0, "hold": 1.0, "upright": 1.0, "align": 2.0, "insert": 4.0, "made": 5.0}
    if settings.connectors:
        weights["twist"] = 4.0
    keys = tuple(k.name for k in view_keys(task) if k.size)
    return RLSetup(
        reward_weights={**weights, "success": 10.0, "time": 0.002},
        observation_keys=(*keys, *(CAMERAS if settings.cameras else ())),
        reason="the plugin's default: potentials of the phases of assembly, a bonus for success, a small cost of time",
    )
