"""Primitives that dig down or ahead."""

from __future__ import annotations

import math

import numpy as np
from rlgpt.domain import Plain
from rlgpt.plugin.types import Context, Primitive

from rlgpt_minecraft.moves import move
from rlgpt_minecraft.observation import ParsedObservation
from rlgpt_minecraft.primitives.camera import facing
from rlgpt_minecraft.primitives.common import Moves, Run, gained, integer, observe, travelled
from rlgpt_minecraft.primitives.locomotion import Stride
from rlgpt_minecraft.rays import bearing

MAX_TICKS = 60
"""Maximal number of ticks of one call."""
BELOW = 2.5
"""Distance from the eyes in m. The block under the feet is nearer."""
CENTRING = 12
"""Maximal number of ticks of the walk to the centre of a block."""
FITS = 0.18
"""Distance in m. A body 0.6 m wide that is this close to the centre falls into a hole 1 m wide."""


def _danger(obs: ParsedObservation) -> str:
    """Return "lava" if the voxels contain lava, else ""."""
    return "lava" if len(obs.ground.blocks("lava")) else ""


def _break(ctx: Context, left: int) -> Moves:
    """Hold the attack key until another block is under the cross-hair."""
    place = observe(ctx).crosshair.place
    for _ in range(left):
        if not observe(ctx).crosshair.reach or observe(ctx).crosshair.place != place:
            return
        yield move(function="attack")


def _step_over(ctx: Context) -> Moves:
    """Walk to the centre of the block under the feet, because a body that overlaps the rim of a hole does not fall into
    it.
    """
    for _ in range(CENTRING // 2):
        obs = observe(ctx)
        east, south = (math.floor(float(obs.position[i])) + 0.5 - float(obs.position[i]) for i in (0, 2))
        if max(abs(east), abs(south)) < FITS:
            return
        way = bearing(np.array([east, 0.0, south]), obs.yaw)
        yield move(round(math.cos(math.radians(way))), -round(math.sin(math.radians(way))))
        yield move()


def dig_down(ctx: Context, *, blocks: int) -> Run:
    before, start, step = observe(ctx).inventory, float(observe(ctx).position[1]), ctx.step
    yield from facing(ctx, -90.0)
    stopped = ""
    while start - float(observe(ctx).position[1]) < blocks - 0.1:
        left = MAX_TICKS - (ctx.step - step)
        stopped = _danger(observe(ctx)) or ("" if left > 0 else "time")
        if stopped:
            break
        obs = observe(ctx)
        if obs.crosshair.reach and obs.crosshair.distance < BELOW:
            yield from _break(ctx, left)
        elif obs.ground.on_ground and left > CENTRING:
            yield from _step_over(ctx)
            yield move()
        else:
            yield move()
    return _outcome(ctx, before, stopped, {"deeper": round(start - float(observe(ctx).position[1]), 2)})


def dig_ahead(ctx: Context, *, blocks: int) -> Run:
    before, start, step = observe(ctx).inventory, observe(ctx).position, ctx.step
    stride, stopped = Stride(ctx), ""
    while travelled(ctx, start) < blocks:
        left = MAX_TICKS - (ctx.step - step)
        ground = observe(ctx).ground
        stopped = _danger(observe(ctx)) or ("" if left > 1 else "time")
        if stopped:
            break
        if ground.head_blocked():
            yield from facing(ctx, 0.0)
        elif ground.feet_blocked():
            yield from facing(ctx, -45.0)
        else:
            action = stride.step()
            if action is None:
                stopped = stride.stopped
                break
            yield action
            continue
        if not observe(ctx).crosshair.reach:
            stopped = "wall"
            break
        yield from _break(ctx, MAX_TICKS - (ctx.step - step))
    return _outcome(ctx, before, stopped, {"moved": round(travelled(ctx, start), 2)})


def _outcome(ctx: Context, before: dict[str, int], stopped: str, how_far: dict[str, Plain]) -> dict[str, Plain]:
    return {**how_far, "stopped_by": stopped, "gained": gained(before, observe(ctx).inventory)}


_STOPPED = "'' or what ended it before: 'lava' (within 2 blocks), 'time' (60 ticks), 'wall', 'fall'"
_GAINED = "item -> how many more there are now"

PRIMITIVES = (
    Primitive(
        "dig_down",
        "Look straight down and dig the ground away under the feet, block by block; at most 60 ticks. The right tool "
        "in the hand decides how long a block takes, and whether it drops anything.",
        dig_down,
        (integer("blocks", 1, 3, 1, "blocks", "how deep"),),
        {"deeper": "m that the player sank", "stopped_by": _STOPPED, "gained": _GAINED},
        MAX_TICKS + 2,
    ),
    Primitive(
        "dig_ahead",
        "Dig a way two blocks high along the heading and walk through; at most 60 ticks. Turn the heading to 0, 90, "
        "180 or -90 degrees first: along the blocks.",
        dig_ahead,
        (integer("blocks", 1, 3, 1, "blocks", "how far"),),
        {"moved": "m along the ground", "stopped_by": _STOPPED, "gained": _GAINED},
        MAX_TICKS + 2,
    ),
)
