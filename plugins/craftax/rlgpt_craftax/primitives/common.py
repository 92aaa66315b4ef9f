"""Defines the common keys of all outcomes, and helpers to declare the parameters of primitives."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import numpy as np
from rlgpt.domain import Parameter, Plain
from rlgpt.plugin.skills import env_reward
from rlgpt.plugin.types import Context, LowLevel, Primitive

from rlgpt_craftax.names import ACTION, ARMOUR, BODY, INVENTORY, POTIONS
from rlgpt_craftax.scene import Scene

Moves = Generator[np.int64, None, None]
Run = Generator[np.int64, None, dict[str, Plain]]

COMMON: Mapping[str, str] = {
    "reward": "sum of the environment's reward during the call",
    "hurt": "health lost during the call; negative: gained",
}
"""Keys of the outcome of every primitive."""


def primitive(
    name: str,
    doc: str,
    run: Callable[..., Run],
    parameters: Sequence[Parameter] = (),
    outcome: Mapping[str, str] | None = None,
    max_steps: int = 1,
) -> Primitive:
    """Declare a primitive whose outcome has the keys :data:`COMMON` in addition to its own."""

    def counted(ctx: Context, **args: Any) -> LowLevel:
        reward, before = 0.0, health(ctx)
        steps = run(ctx, **args)
        try:
            while True:
                yield next(steps)
                reward += env_reward(ctx)
        except StopIteration as end:
            return {**end.value, "reward": round(reward, 2), "hurt": round(before - health(ctx), 2)}
        finally:
            steps.close()

    return Primitive(name, doc, counted, tuple(parameters), {**(outcome or {}), **COMMON}, max_steps)


def action(name: str) -> np.int64:
    return np.int64(ACTION[name])


def scene(ctx: Context) -> Scene:
    """Return the :class:`Scene` that the newest observation shows."""
    known = ctx.memory.get("_scene")
    if known is None or known[0] is not ctx.observation:
        known = ctx.memory["_scene"] = ctx.observation, Scene(ctx.observation)
    now: Scene = known[1]
    return now


def health(ctx: Context) -> float:
    return float(ctx.observation["body"][BODY.index("health")])


def possessions(ctx: Context) -> dict[str, int]:
    """Return the count (for tools and armour, the grade) of every item that the player has, by the item's name."""
    observation = ctx.observation
    numbers = zip(INVENTORY, observation["inventory"].astype(int).tolist(), strict=True)
    colours = zip(POTIONS, observation["potions"].astype(int).tolist(), strict=True)
    armour = zip(ARMOUR, observation["armour"].astype(int).tolist(), strict=True)
    return {**dict(numbers), **{f"potion_{colour}": count for colour, count in colours}, **dict(armour)}


def gained(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, Plain]:
    """Return how much the count of each item increased, for the items whose count increased."""
    return {item: count - before[item] for item, count in after.items() if count > before[item]}


def choice(name: str, names: Sequence[str], doc: str, default: str = "") -> Parameter:
    return Parameter(name=name, kind="choice", choices=tuple(names), default=default or names[0], doc=doc)


def integer(name: str, low: int, high: int, default: int, doc: str, unit: str = "steps") -> Parameter:
    return Parameter(name=name, kind="int", low=low, high=high, default=default, unit=unit, doc=doc)


def flag(name: str, default: bool, doc: str) -> Parameter:
    return Parameter(name=name, kind="bool", default=default, doc=doc)


WARY = flag("stop_if_hurt", True, "end as soon as health falls")
