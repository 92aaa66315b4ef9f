"""The scenarios of the tasks. Each scenario is a function that draws the scene of an episode with a seeded
generator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rlgpt_mujoco_car.road import SPACING, straight, winding
from rlgpt_mujoco_car.scene import Box, Scene
from rlgpt_mujoco_car.vehicle import BODY_LENGTH, BODY_WIDTH, MASS, WHEELBASE

GRAVITY = 9.81
OVERHANG = (BODY_LENGTH - WHEELBASE) / 2
"""Distance from each axle to its bumper, m."""
PARKED_CAR_RGBA = "0.3 0.4 0.6 1"


def winding_road(rng: np.random.Generator) -> Scene:
    """The car drives on a road with 20 to 25 m of bends between walls 1.1 m apart."""
    road = winding(rng, 20.0, 0.55)
    end, heading = road.at(road.length - 0.5)
    return Scene(road, _random_start(rng, 0.6), (float(end[0]), float(end[1]), heading))


def wet_road(rng: np.random.Generator) -> Scene:
    """The car drives on a winding road with five slippery patches, 1.2 m long, each across the whole road."""
    dry = winding_road(rng)
    places = np.linspace(0.2, 0.9, 5) * dry.road.length + rng.uniform(-0.8, 0.8, 5)
    patches = []
    for place in places:
        middle, heading = dry.road.at(float(place))
        patches.append(Box(float(middle[0]), float(middle[1]), 0.6, dry.road.half_width - 0.05, heading))
    return replace(dry, wet=tuple(patches))


def sloping_road(rng: np.random.Generator) -> Scene:
    """The car drives on a winding road whose ground slopes by 6 to 10 degrees, in a direction within 60 degrees of the
    road's direction.
    """
    angle, towards = math.radians(rng.uniform(6, 10)), rng.uniform(-1.05, 1.05)
    pull = GRAVITY * math.sin(angle)
    gravity = (-pull * math.cos(towards), -pull * math.sin(towards), -GRAVITY * math.cos(angle))
    return replace(winding_road(rng), gravity=gravity)


def blocked_start(rng: np.random.Generator) -> Scene:
    """In ``blocked_start``, a wall blocks the road ahead except for a gap at one side. At the start, the car is too
    near to the wall to steer into the gap.

    The wall that blocks the road starts at one side of a road 1.4 m wide and leaves a gap of 0.45 to 0.55 m at the
    other side. The car stands 6 to 16 cm before the wall on the blocked side, and a second wall is 2 to 2.5 m behind
    the car. After the gap, the road winds for 5.5 to 11 m. Lengths across the road are measured between the centres of
    walls, which are 0.08 m thick. Each wall at an end of such a length makes the free length 0.04 m shorter.
    """
    road = winding(rng, 9.0, 0.7)
    side = float(rng.choice((-1.0, 1.0)))
    gap, near, back = rng.uniform(0.45, 0.55), rng.uniform(0.06, 0.16), rng.uniform(2.0, 2.5)
    offset = side * rng.uniform(0.12, 0.3)
    x = back + OVERHANG
    front = x + WHEELBASE + OVERHANG + near
    half = (2 * road.half_width - gap) / 2
    nose = Box(front + 0.05, side * (road.half_width - half), 0.05, half)
    rear = Box(0.0, 0.0, 0.04, road.half_width)
    end, heading = road.at(road.length - 0.5)
    goal = (float(end[0]), float(end[1]), heading)
    return Scene(road, (x, offset, rng.uniform(-0.12, 0.12)), goal, (nose, rear), closed=False)


def parking(rng: np.random.Generator) -> Scene:
    """In ``parking``, two cars are parked on the right of a straight road, with a gap of 1.55 to 1.75 car lengths
    between them.

    The car starts beside the front parked car or up to 0.6 m behind that position, facing along the road.
    """
    road = straight(6.0, 0.55)
    room = BODY_LENGTH * rng.uniform(1.55, 1.75)
    kerb = -road.half_width + 0.04
    lane = kerb + 0.03 + BODY_WIDTH / 2
    middle = 3.0 + rng.uniform(-0.2, 0.2)
    cars = tuple(
        Box(
            middle + side * (room + BODY_LENGTH) / 2,
            lane + rng.uniform(-0.015, 0.015),
            BODY_LENGTH / 2,
            BODY_WIDTH / 2,
            0.0,
            PARKED_CAR_RGBA,
        )
        for side in (-1, 1)
    )
    x = middle + (room + BODY_LENGTH) / 2 - WHEELBASE / 2 - rng.uniform(0.0, 0.6)
    y = lane + BODY_WIDTH + rng.uniform(0.12, 0.2)
    return Scene(road, (x, y, rng.uniform(-0.08, 0.08)), (middle - WHEELBASE / 2, lane, 0.0), cars)


def hill(rng: np.random.Generator) -> Scene:
    """In ``hill``, the ramp is too steep for the motor without a run-up, so the car must first reverse.

    The ramp climbs by 17 to 20 degrees for 1.5 to 1.8 m; the motor's force is 0.6 of the force that would hold the car
    on the ramp. At the start, the car stands 0.1 to 0.3 m before the ramp, with 3 m of level ground behind the car.
    """
    angle, length = math.radians(rng.uniform(17, 20)), rng.uniform(1.5, 1.8)
    road = straight(9.5, 0.45)
    foot = 4.0
    x = foot - rng.uniform(0.1, 0.3) - WHEELBASE - OVERHANG
    top = foot + length + 0.8
    weight = MASS * GRAVITY * math.sin(angle)
    return Scene(
        road,
        (x, rng.uniform(-0.08, 0.08), 0.0),
        (top, 0.0, 0.0),
        ramp=(foot, length, angle),
        plateau=road.length - foot - length,
        force=0.6 * weight,
    )


SCENARIOS: dict[str, Callable[[np.random.Generator], Scene]] = {
    "winding_road": winding_road,
    "winding_road_wet": wet_road,
    "winding_road_slope": sloping_road,
    "blocked_start": blocked_start,
    "parking": parking,
    "hill": hill,
}


def _random_start(rng: np.random.Generator, along: float) -> tuple[float, float, float]:
    return along + float(rng.uniform(0, SPACING)), float(rng.uniform(-0.1, 0.1)), float(rng.uniform(-0.1, 0.1))
