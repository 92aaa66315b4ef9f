"""The reward terms. Each reward term is bounded, and computed only from the observation. The setup has the weights of
the terms.
"""

from __future__ import annotations

from collections.abc import Callable

from rlgpt.domain import RLSetup, Task
from rlgpt.plugin.types import Context, RewardTerm

from rlgpt_minecraft.rays import DISTANCE
from rlgpt_minecraft.settings import pixels
from rlgpt_minecraft.tasks import spec_of
from rlgpt_minecraft.things import FLUIDS, THINGS
from rlgpt_minecraft.views import view_keys

DIG_TICKS = 60
"""Ticks to break a log with bare hands. A longer attack on one block does not increase the reward."""

Value = Callable[[Context], float]


def _near(thing: str) -> Value:
    return lambda ctx: 1.0 - ctx.info["nearest"][thing] / DISTANCE


def _aimed(thing: str) -> Value:
    return lambda ctx: float(ctx.model.read(ctx.observation).aimed(thing))


def _dug(thing: str) -> Value:
    return lambda ctx: min(1.0, ctx.info["dug"][thing] / DIG_TICKS)


def _most(item: str, need: int) -> Value:
    return lambda ctx: min(1.0, ctx.info["most"][item] / need)


def _first(item: str) -> Value:
    return lambda ctx: float(ctx.info["most"][item] > 0)


def _success(ctx: Context) -> float:
    return float(bool(ctx.info.get("success", False)))


def _life(ctx: Context) -> float:
    return float(ctx.model.read(ctx.observation).life) / 20.0


def reward_terms(task: Task) -> tuple[RewardTerm, ...]:
    """Return the reward terms of a task. The reward terms are nearness and aim for each thing in the task's view except
    fluids, and terms for items, success, life and time.
    """
    spec = spec_of(task)
    terms: list[RewardTerm] = []
    for thing in (name for name in spec.sights if name not in FLUIDS):
        label, block = THINGS[thing].label, THINGS[thing].kind == "block"
        terms += [
            RewardTerm(
                f"near_{thing}",
                f"1 - d / 40, d the smallest distance (m) at which any {label} was seen so far: pays what it shrinks",
                _near(thing),
            ),
            RewardTerm(f"aim_{thing}", f"1 while any {label} is under the cross-hair and in reach", _aimed(thing)),
        ]
        if block:
            doc = f"share of {DIG_TICKS} ticks that attack was held without a break on any {label}; the most so far"
            terms.append(RewardTerm(f"dig_{thing}", doc, _dug(thing)))
    for item in spec.path:
        need = spec.need(item)
        doc = f"share of {need} {item} beyond those at the start; the most so far"
        terms += [
            RewardTerm(f"gain_{item}", doc, _most(item, need)),
            RewardTerm(f"first_{item}", f"once, at the first {item} gained", _first(item), "event"),
        ]
    terms += [
        RewardTerm("success", "once, when the task is done", _success, "event"),
        RewardTerm("life", "life as a share of 20 half hearts: what is lost costs", _life),
        RewardTerm("time", "minus one, each step", lambda ctx: -1.0, "step", -1, 0),
    ]
    return tuple(terms)


def default_setup(task: Task) -> RLSetup:
    """Return the default setup. The default weights are 10 for success, 2 for the first of each item on the path, 0.1
    for each metre nearer (as in the official code), 1 for aiming, and 4 for digging without interruption.
    """
    spec = spec_of(task)
    weights: dict[str, float] = {"success": 10.0, "time": 0.005, "life": 1.0}
    for thing in spec.seek:
        weights |= {f"near_{thing}": 4.0, f"aim_{thing}": 1.0}
        if THINGS[thing].kind == "block":
            weights[f"dig_{thing}"] = 4.0
    for item in spec.path:
        weights[f"first_{item}"] = 2.0
        if spec.need(item) > 1:
            weights[f"gain_{item}"] = 2.0
    return RLSetup(
        reward_weights=weights,
        observation_keys=_keys(task),
        reason="the plugin's default: nearness by lidar, aim, digging, the first of each item on the way, success",
    )


def _keys(task: Task) -> tuple[str, ...]:
    """Return the observation keys of a policy. By default, a policy observes the picture, if the task has one, and all
    numbers of the view except those that reveal the position in the world, repeat other numbers, or matter only in long
    episodes.
    """
    left_out = {"position", "height", "heading", "food", "breath", "daylight", "hit_ticks", "hit_amount", "hit_bearing"}
    numbers = (key.name for key in view_keys(task) if key.size and key.name not in left_out)
    return (*(("rgb",) if pixels(task) is not None else ()), *numbers)
