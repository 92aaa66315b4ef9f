"""Effects of potions on the player: harming, slowness, poison and weakness, each of level I.

An effect ends by time, by a drink of milk and at death. The numbers come from minecraft.wiki, pages Status effect and
Potion, 1.11.
"""

from __future__ import annotations

from typing import Any

from voxeldojo.world.constants import (
    EFFECT_EVERY,
    EFFECT_LEAST,
    HARMING,
    POISON_BEATS,
    POISON_EVERY,
    POISON_LEAST,
    SLOWNESS_SECONDS,
    WEAKNESS_SECONDS,
)
from voxeldojo.world.health import UNBLOCKABLE, hurt
from voxeldojo.world.jit import part
from voxeldojo.world.state import World

HARMS, SLOWS, POISONS, WEAKENS = 0, 1, 2, 3
"""Potions: the ``variant`` of a potion that a mob throws."""


@part
def _longer(now: int, share: float, whole: int, every: int) -> int:
    """Return the duration of an effect after a potion: the longer one, in units of ``every`` ticks."""
    ticks = int(share * whole * every + 0.5)
    return max(now, ticks // every) if ticks > EFFECT_LEAST else now


@part
def affect(world: World, potion: int, share: float) -> bool:
    """Let a potion act on the player. Return whether it damaged the player.

    :param share: the share of the full effect, 0 to 1.
    """
    p = world.player[0]
    if potion == HARMS:
        return bool(hurt(world, float(int(share * HARMING + 0.5)), UNBLOCKABLE))
    if potion == SLOWS:
        p.slowness = _longer(int(p.slowness), share, SLOWNESS_SECONDS, EFFECT_EVERY)
    elif potion == POISONS:
        p.poison = _longer(int(p.poison), share, POISON_BEATS, POISON_EVERY)
    else:
        p.weakness = _longer(int(p.weakness), share, WEAKNESS_SECONDS, EFFECT_EVERY)
    return False


@part
def cure(p: Any) -> None:
    """End all effects on the player."""
    p.poison = p.slowness = p.weakness = 0


@part
def step_effects(world: World) -> None:
    """Run the effects on the player for one tick. Poison does not kill."""
    p, e, now = world.player[0], world.events[0], world.clock[0].tick
    if p.dead:
        cure(p)
        return
    if p.poison > 0 and now % POISON_EVERY == 0:
        p.poison -= 1
        if p.life > POISON_LEAST and hurt(world, 1.0, UNBLOCKABLE):
            e.magic = True
    if now % EFFECT_EVERY == 0:
        p.slowness = max(int(p.slowness) - 1, 0)
        p.weakness = max(int(p.weakness) - 1, 0)
