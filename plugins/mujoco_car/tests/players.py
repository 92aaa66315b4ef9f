"""Scripted players of the tasks, which use only primitives and the view."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rlgpt.testing.player import Player

LANE = 0.43
"""Distance from the road's centre line to the centre of the gap beside the obstacle of ``blocked_start``, in m."""


def winding_road(play: Player) -> None:
    for _ in range(60):
        if play("follow", speed=1.4, seconds=1.0).get("ended") == "blocked":
            turn = -0.3 if play.see()["line_angle"] > 0 else 0.3
            play("drive", speed=-0.4, steering=turn, seconds=0.6)


def blocked_start(play: Player) -> None:
    view = play.see()
    rays = view["rays"]
    side = 1 if sum(rays[1:5]) > sum(rays[-4:]) else -1
    play("reverse", metres=min(2.0, view["clear_behind"] - 0.1))
    play("stop")
    distance, target = 0.0, play.see()["clear_ahead"] + 0.45
    while distance < target and not play.over:
        view = play.see()
        angle, offset, lookahead = view["line_angle"], side * LANE - view["line_offset"], 0.55
        x = lookahead * math.cos(angle) - offset * math.sin(angle)
        y = lookahead * math.sin(angle) + offset * math.cos(angle)
        outcome = play("drive", speed=0.5, steering=_clip_steering(math.atan2(0.52 * y, x * x + y * y)), seconds=0.2)
        distance += float(outcome.get("moved", [0.0])[0]) * math.cos(angle)  # type: ignore[arg-type, index]
    winding_road(play)


def hill(play: Player) -> None:
    play("reverse", metres=2.0)
    while not play.over:
        play("drive", speed=2.5, seconds=3.0)


def parking(play: Player) -> None:
    for _ in range(3):
        need = play.see()["goal"][0] + 0.62
        if abs(need) > 0.04:
            play("drive", speed=math.copysign(0.4, need), seconds=min(3.0, max(0.05, abs(need) / 0.4)))
        play("stop")
    offset = play.see()["goal"][1]
    seconds = 0.5 * math.acos(max(-1.0, 1.0 - abs(offset))) / 0.3
    play("drive", speed=-0.3, steering=-0.5, seconds=seconds)
    play("drive", speed=-0.3, steering=0.5, seconds=seconds)
    while not play.over:
        play("stop")
        _correct(play)


def _correct(play: Player) -> None:
    view: dict[str, Any] = play.see()
    (x, y), turn = view["goal"], view["goal_angle"]
    askew = abs(turn) > 0.1 or abs(y) > 0.05
    if not askew and abs(x) < 0.06:
        return
    forward = view["clear_ahead"] > view["clear_behind"] if askew else x > 0
    room = (view["clear_ahead"] if forward else view["clear_behind"]) - 0.03
    distance = max(0.03, min(room, 0.2 if askew else abs(x)))
    steering = _clip_steering((3 * turn if forward else -3 * turn) + 4 * y)
    play("drive", speed=0.3 if forward else -0.3, steering=steering, seconds=max(0.05, distance / 0.3))


def _clip_steering(steering: float) -> float:
    return max(-0.5, min(0.5, steering))


PLAYERS: dict[str, Callable[[Player], None]] = {
    "winding_road": winding_road,
    "winding_road_wet": winding_road,
    "winding_road_slope": winding_road,
    "blocked_start": blocked_start,
    "parking": parking,
    "hill": hill,
}
