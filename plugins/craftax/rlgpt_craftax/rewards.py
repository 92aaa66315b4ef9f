"""The reward terms. All reward terms are computed only from observations and the benchmark's own reward."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rlgpt.domain import RLSetup
from rlgpt.plugin.defaults import ENV_REWARD
from rlgpt.plugin.types import Context, RewardTerm

from rlgpt_craftax.names import BODY, FLAGS, FLOORS
from rlgpt_craftax.scene import held

HEALTH_SHARE = 0.1
"""The benchmark's reward for each point of health."""
MOST_AT_ONCE = 40.0

Value = Callable[[Context], float]


def _body(name: str) -> Value:
    index = BODY.index(name)
    return lambda ctx: min(1.0, float(ctx.observation["body"][index]) / 9)


def _achieved(ctx: Context) -> float:
    """Return that part of the newest reward, in points, which comes from achievements. The rest is for changes of
    health.
    """
    if ctx.previous is None:
        return 0.0
    gained = float(ctx.observation["body"][0] - ctx.previous["body"][0])
    return float(np.clip(round(float(ctx.info.get("env_reward", 0.0)) - HEALTH_SHARE * gained), 0, MOST_AT_ONCE))


def _has(item: str, least: int = 1) -> Value:
    return lambda ctx: float(held(ctx.observation, item) >= least)


def _flag(name: str) -> Value:
    index = FLAGS.index(name)
    return lambda ctx: float(ctx.observation["flags"][index] > 0)


def _cleared(ctx: Context) -> float:
    return float(int(ctx.observation["floor"]) > 0 and ctx.observation["flags"][FLAGS.index("ladder_open")] > 0)


def _on(floor: int) -> Value:
    return lambda ctx: float(int(ctx.observation["floor"]) == floor)


def _woke(ctx: Context) -> float:
    asleep = FLAGS.index("sleeping")
    return float(ctx.previous is not None and ctx.previous["flags"][asleep] > ctx.observation["flags"][asleep])


def _armour(grade: int) -> Value:
    return lambda ctx: float(ctx.observation["armour"].max() >= grade)


_GRADES = ("wood", "stone", "iron", "diamond")
_COLLECTED = ("wood", "sapling", "stone", "coal", "iron", "diamond", "sapphire", "ruby")
_FLOOR_NAMES = ("enter_" + name for name in FLOORS[1:])


def _events() -> dict[str, tuple[str, Value]]:
    """Return, for each event that observations show, the text of the condition under which its reward term pays, and
    the function that computes the payment.
    """
    terms: dict[str, tuple[str, Value]] = {f"collect_{item}": (f"the first {item}", _has(item)) for item in _COLLECTED}
    for tool in ("pickaxe", "sword"):
        for grade, name in enumerate(_GRADES, 1):
            terms[f"make_{name}_{tool}"] = (f"a {tool} of {name} or better", _has(tool, grade))
    terms |= {
        "make_arrow": ("the first arrow", _has("arrow")),
        "make_torch": ("the first torch", _has("torch")),
        "make_iron_armour": ("the first piece of armour", _armour(1)),
        "make_diamond_armour": ("the first piece of diamond armour", _armour(2)),
        "find_bow": ("the bow", _has("bow")),
        "wake_up": ("the end of a sleep", _woke),
        "learn_fireball": ("the spell", _flag("knows_fireball")),
        "learn_iceball": ("the spell", _flag("knows_iceball")),
        "enchant_sword": ("an enchanted sword", lambda ctx: float(held(ctx.observation, "sword_enchantment") > 0)),
        "enchant_armour": ("enchanted armour", lambda ctx: float(ctx.observation["armour_enchantment"].max() > 0)),
    }
    return terms | {name: (f"floor {floor}", _on(floor)) for floor, name in enumerate(_FLOOR_NAMES, 1)}


REWARD_TERMS = (
    ENV_REWARD,
    RewardTerm(
        "achievements",
        "points for achievements that were unlocked in this step: 1, 3, 5 or 8 for each; 0 in most steps",
        _achieved,
        "step",
        0,
        MOST_AT_ONCE,
    ),
    *(RewardTerm(name, f"{name} / 9, at most 1: what is lost costs", _body(name)) for name in BODY[:4]),
    RewardTerm("alive", "1 for each step", lambda ctx: 1.0, "step"),
    RewardTerm("open_ladder", "once: enough monsters of a floor below the overworld are killed", _cleared, "event"),
    *(RewardTerm(name, f"once: {what}", value, "event") for name, (what, value) in _events().items()),
)


def default_setup() -> RLSetup:
    """Return the default setup, which has the benchmark's reward and a compact observation."""
    keys = ("free", "pickaxe", "sword", "armour", "enchantments", *BODY, *FLAGS, "floor", "light", "near_table")
    return RLSetup(
        reward_weights={"env_reward": 1.0},
        observation_keys=(*keys, "near_furnace", "items", "direction", "nearest", "around"),
        interrupt_every=10,
        reason="the benchmark's own reward; body, inventory, the nearest thing of each kind, the neighbouring cells",
    )
