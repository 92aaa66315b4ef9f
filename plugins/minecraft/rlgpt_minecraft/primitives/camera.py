"""Primitives that turn the camera. The camera turns in steps of 15 degrees, so the cross-hair can be up to 7.5 degrees
beside its target.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from rlgpt.domain import Plain
from rlgpt.plugin.types import Context, Primitive
from voxeldojo.spaces import CAMERA_INTERVAL

from rlgpt_minecraft.moves import LEVEL, bins, move
from rlgpt_minecraft.observation import ParsedObservation, Sighting
from rlgpt_minecraft.primitives.common import Moves, Run, choice, number, observe, sight
from rlgpt_minecraft.rays import look_vector

TRIES = 3
SCAN_STEP = 2
SCAN_STEPS = 12
"""Camera bins of each turn of a scan, and the number of turns of a full circle."""
SAME_THING = 10.0
"""Two sightings from different headings are of the same thing if their directions differ by at most this angle, in
degrees."""
ROUNDED = 7.0
"""``turn`` rounds to 15 degrees, so that it drops a remainder of at most this angle, in degrees."""


def turn_to(obs: ParsedObservation, target: Sighting) -> tuple[int, int]:
    """Return the numbers of camera bins, right and up, that bring the cross-hair nearest to one of the rays that hit
    the target.
    """
    right, up = bins(target.bearing), bins(target.elevation - obs.look_elevation)
    lowest, highest = (
        -math.floor((90 + obs.look_elevation) / CAMERA_INTERVAL),
        math.floor((90 - obs.look_elevation) / CAMERA_INTERVAL),
    )
    best, nearest = (right, min(max(up, lowest), highest)), -2.0
    for a, b in product((0, -1, 1), repeat=2):
        bins_right, bins_up = right + a, min(max(up + b, lowest), highest)
        look = np.array(look_vector(obs.yaw + CAMERA_INTERVAL * bins_right, obs.pitch - CAMERA_INTERVAL * bins_up))
        cosine = float((target.hits @ look).max()) if len(target.hits) else 0.0
        if cosine > nearest + 1e-6:
            best, nearest = (bins_right, bins_up), cosine
    return best


def aim_at(ctx: Context, name: str, tries: int = TRIES) -> Moves:
    """Turn until the nearest thing with a name is under the cross-hair, or until ``tries`` attempts were made."""
    for _ in range(tries):
        target = sight(ctx, name)
        if not target.visible or target.aimed:
            return
        right, up = turn_to(observe(ctx), target)
        if right == up == 0:
            return
        yield move(right=right, up=up)


def facing(ctx: Context, elevation: float) -> Moves:
    """Turn the camera to an elevation."""
    up = bins(elevation - observe(ctx).look_elevation)
    if up:
        yield move(up=up)


def tell(ctx: Context, name: str) -> dict[str, Plain]:
    target = sight(ctx, name)
    return {
        "seen": target.visible,
        "aimed": target.aimed,
        "distance": round(target.distance, 2),
        "bearing": round(target.bearing, 1),
        "elevation": round(target.elevation, 1),
    }


def look_at(ctx: Context, *, target: str) -> Run:
    yield from aim_at(ctx, target)
    return tell(ctx, target)


def turn(ctx: Context, *, degrees: float) -> Run:
    right = bins(degrees)
    if right:
        yield move(right=min(max(right, -LEVEL), LEVEL))
    return {"turned": right * CAMERA_INTERVAL, "heading": round(observe(ctx).yaw, 1)}


def look(ctx: Context, *, elevation: float) -> Run:
    yield from facing(ctx, elevation)
    obs = observe(ctx)
    return {
        "elevation": round(obs.look_elevation, 1),
        "aim_block": obs.crosshair.block,
        "aim_entity": obs.crosshair.entity,
        "aim_distance": round(obs.crosshair.distance, 2),
        "aim_reach": obs.crosshair.reach,
    }


def scan(ctx: Context, *, target: str) -> Run:
    seen: list[tuple[float, float, float]] = []
    for _ in range(SCAN_STEPS):
        found = sight(ctx, target)
        if found.visible:
            seen.append((found.distance, observe(ctx).yaw, found.bearing))
        yield move(right=SCAN_STEP)
    if not seen:
        return {"found": False, "distance": 40.0, "bearing": 0.0}
    distance, yaw, bearing = min(seen)
    nearest = yaw + bearing
    same = [(abs(b), y, b) for _, y, b in seen if abs(_turn(y + b - nearest)) <= SAME_THING]
    _, yaw, bearing = min(same)
    # The rays of another heading can miss the thing. A turn by this bearing ends at a heading that has seen the thing.
    away = _turn(yaw - observe(ctx).yaw) + float(np.clip(bearing, -ROUNDED, ROUNDED))
    return {"found": True, "distance": round(distance, 2), "bearing": round(_turn(away), 1)}


def _turn(degrees: float) -> float:
    """Return the same turn within -180 to 180 degrees."""
    return (degrees + 180.0) % 360.0 - 180.0


_SIGHT = {
    "seen": "one is seen now",
    "aimed": "it is under the cross-hair and in reach",
    "distance": "m from the eyes to it; 40 if none is seen",
    "bearing": "degrees to the right of the heading, left is negative",
    "elevation": "degrees above the level, below is negative",
}


def primitives(sights: tuple[str, ...]) -> tuple[Primitive, ...]:
    """Return the primitives that only turn the camera.

    :param sights: the names of the things that the camera primitives can look for.
    """
    return (
        Primitive(
            "look_at",
            "Turn the look to the nearest thing of a kind that is seen now, so that it comes under the cross-hair. "
            "Does nothing if none is seen. Up to 3 ticks. The camera turns in steps of 15 degrees, so that small "
            "things farther away than about 3 m may be missed; come nearer first.",
            look_at,
            (choice(sights, "what to look at"),),
            _SIGHT,
            TRIES,
        ),
        Primitive(
            "turn",
            "Turn to the right by an angle (negative: to the left), rounded to 15 degrees. One tick.",
            turn,
            (number("degrees", -180.0, 180.0, 30.0, "degrees", "to the right"),),
            {"turned": "degrees turned", "heading": "of the look now, as in the view"},
            1,
        ),
        Primitive(
            "look",
            "Bring the look to an elevation, rounded to 15 degrees from where it is. One tick.",
            look,
            (number("elevation", -90.0, 90.0, 0.0, "degrees", "0 level, 90 straight up, -90 straight down"),),
            {
                "elevation": "degrees of the look now",
                "aim_block": "name of the block under the cross-hair, or ''",
                "aim_entity": "name of what moves under the cross-hair, or ''",
                "aim_distance": "m to it; 40: nothing",
                "aim_reach": "attack and use reach it",
            },
            1,
        ),
        Primitive(
            "scan",
            "Turn once around on the spot, in 12 ticks, back to the first heading, and report where the nearest "
            "thing of a kind was seen.",
            scan,
            (choice(sights, "what to look for"),),
            {
                "found": "one was seen",
                "distance": "m to the nearest; 40 if none",
                "bearing": "degrees to the right of the heading now: turn by it to face it",
            },
            SCAN_STEPS,
        ),
    )
