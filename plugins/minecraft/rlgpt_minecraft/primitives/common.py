"""Contains helpers of the primitives, which read the observation, declare parameters and report outcomes."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence

from rlgpt.domain import Parameter, Plain
from rlgpt.plugin.types import Context

from rlgpt_minecraft.hits import is_struck
from rlgpt_minecraft.moves import Action
from rlgpt_minecraft.observation import ParsedObservation, Sighting
from rlgpt_minecraft.rays import Array

Run = Generator[Action, None, dict[str, Plain]]
Moves = Generator[Action, None, None]


def observe(ctx: Context) -> ParsedObservation:
    """Return the newest observation, parsed."""
    obs: ParsedObservation = ctx.model.read(ctx.observation)
    return obs


def sight(ctx: Context, name: str) -> Sighting:
    """Return the nearest thing of a name."""
    return observe(ctx).sights[name]


def struck(ctx: Context, since: int) -> bool:
    """Return whether something has struck the player after the step ``since`` of the episode."""
    return is_struck(ctx.info, ctx.step - since)


def travelled(ctx: Context, start: Array) -> float:
    """Return the horizontal distance in m between ``start`` and the player."""
    x, _, z = observe(ctx).position
    return math.hypot(x - start[0], z - start[2])


def gained(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, Plain]:
    """Return how much the count of each item increased, for the items whose count increased."""
    return {item: n - before.get(item, 0) for item, n in after.items() if n > before.get(item, 0)}


def choice(names: Sequence[str], doc: str, name: str = "target") -> Parameter:
    """Declare a parameter of a primitive whose value is one of ``names``. The first name is the default."""
    return Parameter(name=name, kind="choice", choices=tuple(names), default=names[0], doc=doc)


def integer(name: str, low: int, high: int, default: int, unit: str, doc: str) -> Parameter:
    return Parameter(name=name, kind="int", low=low, high=high, default=default, unit=unit, doc=doc)


def number(name: str, low: float, high: float, default: float, unit: str, doc: str) -> Parameter:
    return Parameter(name=name, low=low, high=high, default=default, unit=unit, doc=doc)


def flag(name: str, default: bool, doc: str) -> Parameter:
    return Parameter(name=name, kind="bool", default=default, doc=doc)
