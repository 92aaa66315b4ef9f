"""The world's clock."""

from __future__ import annotations

from voxeldojo.world.constants import DAY_TICKS
from voxeldojo.world.jit import jit
from voxeldojo.world.state import World


@jit
def step_clock(world: World) -> None:
    """Advance the clock by one tick. The time of day advances only if the mission has ``time_passes=True``."""
    clock = world.clock[0]
    clock.tick += 1
    if clock.time_passes:
        clock.time = (clock.time + 1) % DAY_TICKS
