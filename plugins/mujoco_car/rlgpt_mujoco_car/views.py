"""Defines the view that coded actions see; policies can use its keys, too. The view of the car is computed only from
the observation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from rlgpt.domain import Plain, Task
from rlgpt.plugin.types import Context, ViewKey

from rlgpt_mujoco_car.env import Observation
from rlgpt_mujoco_car.sensors import LOOKAHEAD, RAY_RANGE, RAYS
from rlgpt_mujoco_car.vehicle import BODY_LENGTH, BODY_WIDTH

_RAY_ANGLES = np.arange(RAYS) * (2 * math.pi / RAYS)
_RAY_COS, _RAY_SIN = np.cos(_RAY_ANGLES), np.sin(_RAY_ANGLES)
SIDE_MARGIN = 0.01
"""Distance beside the body within which an obstacle is in the path of the car, m."""
CORNER_MARGIN = 0.02
"""Depth by which a hit may be inside the outline of the body, m, because a corner of an obstacle can be
between two rays.
"""

VIEW_KEYS = (
    ViewKey("speed", "forwards; negative is backwards", "m/s", size=1),
    ViewKey("turning_rate", "positive turns left", "rad/s", size=1),
    ViewKey("steering", "of the front wheels, positive left, at most 0.5", "rad", size=1),
    ViewKey("pitch", "of the body, positive: nose up", "rad", size=1),
    ViewKey("clear_ahead", "free distance from the front bumper straight ahead, at most 4.8", "m", size=1),
    ViewKey("clear_behind", "free distance from the rear bumper straight back, at most 4.8", "m", size=1),
    ViewKey("clear_left", "free space from the left side of the body", "m", size=1),
    ViewKey("clear_right", "free space from the right side of the body", "m", size=1),
    ViewKey("rays", "distance from the middle of the car, every 18 degrees from ahead to the left", "m", size=RAYS),
    ViewKey("line_offset", "of the rear axle from the road's middle line, positive: left of it", "m", size=1),
    ViewKey(
        "line_angle",
        "the road's direction less the car's, positive: turn left to be parallel",
        "rad",
        size=1,
    ),
    ViewKey(
        "road_ahead",
        f"points of the road's middle line {', '.join(map(str, LOOKAHEAD))} m on: [[x, y], ...] from the rear axle, "
        "x forwards, y left",
        "m",
        size=2 * len(LOOKAHEAD),
    ),
    ViewKey("goal", "where the rear axle has to be: x forwards, y left of where it is", "m", size=2),
    ViewKey("goal_angle", "heading at the goal less the car's, positive: turn left to have it", "rad", size=1),
    ViewKey("touching", "how long a wall has been touched without a break (1 s: the episode is lost)", "s", size=1),
    ViewKey("time", "share of the episode that has passed", "", size=1),
)


def view_keys(task: Task) -> tuple[ViewKey, ...]:
    """The keys of the view, the same for every task."""
    return VIEW_KEYS


def clearance(rays: np.ndarray[tuple[int], np.dtype[np.float32]]) -> tuple[float, float, float, float]:
    """Return the free distance ahead, behind, to the left and to the right of the car's body, m.

    :param rays: ``(20,)``, m, as in the observation.
    """
    x, y = rays * _RAY_COS, rays * _RAY_SIN
    # A wall beside the body is neither ahead nor behind, and a hit beyond the bumpers is not beside the body.
    lane, flank = np.abs(y) < BODY_WIDTH / 2 + SIDE_MARGIN, np.abs(x) < BODY_LENGTH / 2 + SIDE_MARGIN
    front, rear = x[lane & (x > BODY_LENGTH / 2 - CORNER_MARGIN)], -x[lane & (x < CORNER_MARGIN - BODY_LENGTH / 2)]
    left, right = y[flank & (y > BODY_WIDTH / 2 - CORNER_MARGIN)], -y[flank & (y < CORNER_MARGIN - BODY_WIDTH / 2)]
    far = float(RAY_RANGE)
    return (
        max(0.0, float(front.min(initial=far)) - BODY_LENGTH / 2),
        max(0.0, float(rear.min(initial=far)) - BODY_LENGTH / 2),
        max(0.0, float(left.min(initial=far)) - BODY_WIDTH / 2),
        max(0.0, float(right.min(initial=far)) - BODY_WIDTH / 2),
    )


def view(ctx: Context) -> dict[str, Plain]:
    """The view at the current step."""
    observation: Observation = ctx.observation
    speed, _, rate, steering, pitch = observation["motion"].tolist()
    ahead, behind, left, right = clearance(observation["rays"])
    road, goal = observation["road"].tolist(), observation["goal"].tolist()
    return {
        "speed": round(speed, 3),
        "turning_rate": round(rate, 3),
        "steering": round(steering, 3),
        "pitch": round(pitch, 3),
        "clear_ahead": round(ahead, 3),
        "clear_behind": round(behind, 3),
        "clear_left": round(left, 3),
        "clear_right": round(right, 3),
        "rays": [round(float(r), 3) for r in observation["rays"]],
        "line_offset": round(road[0], 3),
        "line_angle": round(road[1], 3),
        "road_ahead": [[round(x, 3), round(y, 3)] for x, y in zip(road[2::2], road[3::2], strict=True)],
        "goal": [round(goal[0], 3), round(goal[1], 3)],
        "goal_angle": round(math.atan2(goal[3], goal[2]), 3),
        "touching": round(float(observation["touching"][0]), 3),
        "time": round(ctx.step / ctx.task.horizon, 4),
    }


def summarize(view: Mapping[str, Plain]) -> str:
    """The view as text."""
    lines = [
        f"speed {view['speed']} m/s, turning {view['turning_rate']} rad/s, steering {view['steering']} rad, pitch "
        f"{view['pitch']} rad; {100 * float(view['time']):.0f} % of the episode has passed",  # type: ignore[arg-type]
        f"free: ahead {view['clear_ahead']} m, behind {view['clear_behind']} m, left {view['clear_left']} m, right "
        f"{view['clear_right']} m; a wall has been touched for {view['touching']} s",
        f"{view['line_offset']} m left of the road's middle line, whose direction is {view['line_angle']} rad to the "
        f"left of the car's; its points ahead {view['road_ahead']} m",
        f"goal at {view['goal']} m (forwards, left), its heading {view['goal_angle']} rad to the left of the car's",
    ]
    return "\n".join(lines)[:1500]
