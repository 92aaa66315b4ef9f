"""Primitives that dig down or ahead."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from rlgpt.domain import Plain
from rlgpt.plugin.types import Context, Primitive

from rlgpt_minecraft.ground import VOXELS, Ground
from rlgpt_minecraft.moves import move
from rlgpt_minecraft.primitives.camera import facing
from rlgpt_minecraft.primitives.common import Moves, Run, choice, gained, integer, observe, struck, travelled
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


def _stop(ctx: Context, began: int, places: Iterable[tuple[int, int, int]]) -> str:
    """Return why the digging has to stop before the next places are dug, or "".

    :param began: the step of the episode at which the call began.
    :param places: the next places, relative to the block of the feet.
    """
    if struck(ctx, began):
        return "hit"
    if any(observe(ctx).ground.lava_beside(*place) for place in places):
        return "lava"
    return "" if ctx.step - began < MAX_TICKS - 1 else "time"


def _break(ctx: Context, began: int) -> Moves:
    """Hold the attack key until another block is under the cross-hair, something strikes the player, or the time of the
    call that began at the step ``began`` is over.
    """
    place = observe(ctx).crosshair.place
    while ctx.step - began < MAX_TICKS and not struck(ctx, began):
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


def _lava_below(ground: Ground) -> bool:
    """Whether the block under the feet is the ceiling of a cave in which lava is visible below the player."""
    for dy in range(-2, VOXELS["ymin"] - 1, -1):
        if ground.solid(0, dy, 0) or "water" in ground.name(0, dy, 0):
            return False
        if ground.lava_beside(0, dy, 0):
            return True
    return False


def dig_down(ctx: Context, *, blocks: int) -> Run:
    before, start, step = observe(ctx).inventory, float(observe(ctx).position[1]), ctx.step
    yield from facing(ctx, -90.0)
    stopped = ""
    while start - float(observe(ctx).position[1]) < blocks - 0.1:
        stopped = _stop(ctx, step, ((0, -1, 0),))
        if stopped:
            break
        obs = observe(ctx)
        if not (obs.ground.on_ground or obs.ground.in_water):
            yield move()  # The player falls.
        elif obs.crosshair.reach and obs.crosshair.distance < BELOW:
            if _lava_below(obs.ground):
                stopped = "lava"
                break
            yield from _break(ctx, step)
        elif obs.ground.on_ground and MAX_TICKS - (ctx.step - step) > CENTRING:
            yield from _step_over(ctx)
            yield move()
        else:
            yield move()
    return _outcome(ctx, before, stopped, {"deeper": round(start - float(observe(ctx).position[1]), 2)})


def dig_ahead(ctx: Context, *, blocks: int) -> Run:
    before, start, step = observe(ctx).inventory, observe(ctx).position, ctx.step
    stride, stopped = Stride(ctx), ""
    while travelled(ctx, start) < blocks:
        ground = observe(ctx).ground
        dx, dz = ground.column_at()
        stopped = _stop(ctx, step, ((dx, 0, dz), (dx, 1, dz)))
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
        yield from _break(ctx, step)
    return _outcome(ctx, before, stopped, {"moved": round(travelled(ctx, start), 2)})


def dig_up(ctx: Context, *, blocks: int) -> Run:
    before, step, dug, stopped = observe(ctx).inventory, ctx.step, 0, ""
    yield from facing(ctx, 90.0)
    while dug < blocks:
        aim, ground = observe(ctx).crosshair, observe(ctx).ground
        stopped = _stop(ctx, step, (ground.offset(aim.place),)) if aim.block else "free"
        if stopped or not aim.reach:
            stopped = stopped or "far"
            break
        yield from _break(ctx, step)
        now = observe(ctx).crosshair
        dug += int(now.place != aim.place or not now.block)
    return _outcome(ctx, before, stopped, {"dug": dug})


def pillar_up(ctx: Context, *, item: str, blocks: int) -> Run:
    before, start, step, stopped = observe(ctx).inventory, float(observe(ctx).position[1]), ctx.step, ""
    yield from facing(ctx, -90.0)
    while float(observe(ctx).position[1]) - start < blocks - 0.1 or not observe(ctx).ground.on_ground:
        obs = observe(ctx)
        slot, floor = obs.slot(item), math.floor(float(obs.position[1]) + 0.01)
        stopped = _stop(ctx, step, ((0, 2, 0),))
        if not stopped and obs.ground.on_ground and (slot is None or obs.ground.solid(0, 2, 0)):
            stopped = "item" if slot is None else "head"
        if stopped:
            break
        if obs.ground.on_ground:
            yield move(body="jump")
        elif (
            slot is not None
            and not obs.ground.solid(0, -1, 0)
            and obs.crosshair.reach
            and float(obs.position[1]) >= floor
        ):
            yield move(function="place", slot=slot)
        else:
            yield move()
    risen = round(float(observe(ctx).position[1]) - start, 2)
    return _outcome(ctx, before, stopped, {"higher": risen})


def _outcome(ctx: Context, before: dict[str, int], stopped: str, how_far: dict[str, Plain]) -> dict[str, Plain]:
    return {**how_far, "stopped_by": stopped, "gained": gained(before, observe(ctx).inventory)}


_STOPPED = "'' or what ended it before: 'hit' (something strikes you), 'lava' (it would flow in), 'time' (60 ticks)"
_GAINED = "item -> how many more there are now"


def primitives(blocks: tuple[str, ...]) -> tuple[Primitive, ...]:
    """Return the primitives that dig.

    :param blocks: the items with which the player can build a pillar.
    """
    return (
        Primitive(
            "dig_down",
            "Look straight down and dig the ground away under the feet, block by block; at most 60 ticks. The right "
            "tool in the hand decides how long a block takes, and whether it drops anything.",
            dig_down,
            (integer("blocks", 1, 3, 1, "blocks", "how deep"),),
            {"deeper": "m that the player sank", "stopped_by": _STOPPED, "gained": _GAINED},
            MAX_TICKS + 2,
        ),
        Primitive(
            "dig_ahead",
            "Dig a way two blocks high along the heading and walk through; at most 60 ticks. Turn the heading to 0, "
            "90, 180 or -90 degrees first: along the blocks.",
            dig_ahead,
            (integer("blocks", 1, 3, 1, "blocks", "how far"),),
            {"moved": "m along the ground", "stopped_by": f"{_STOPPED}, 'wall', 'fall'", "gained": _GAINED},
            MAX_TICKS + 2,
        ),
        Primitive(
            "dig_up",
            "Look straight up and dig away what is above the head, block by block, up to 4.5 m from the eyes; at most "
            "60 ticks. The player stays on the ground.",
            dig_up,
            (integer("blocks", 1, 2, 1, "blocks", "how many"),),
            {
                "dug": "blocks that are gone",
                "stopped_by": f"{_STOPPED}, 'free' (nothing within 40 m), 'far' (out of reach)",
                "gained": _GAINED,
            },
            MAX_TICKS + 2,
        ),
        *((_pillar(blocks),) if blocks else ()),
    )


def _pillar(blocks: tuple[str, ...]) -> Primitive:
    return Primitive(
        "pillar_up",
        "Look straight down, jump, and put a block under the feet, again and again; at most 60 ticks. Use it to "
        "leave a pit. If a block is above the head, use dig_up first.",
        pillar_up,
        (choice(blocks, "what to put under the feet", "item"), integer("blocks", 1, 3, 1, "blocks", "how high")),
        {
            "higher": "m that the player rose",
            "stopped_by": f"{_STOPPED}, 'head' (a block is above the head), 'item' (no such item is left)",
            "gained": _GAINED,
        },
        MAX_TICKS + 2,
    )
