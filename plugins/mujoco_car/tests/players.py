"""Scripted players that use primitives and the view only: the tasks can be done."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rlgpt.testing.player import Player

LANE = 0.43
"""m from the middle line to the middle of the gap of a blocked start."""


def winding_road(play: Player) -> None:
    for _ in range(60):
        if play("follow", speed=1.4, seconds=1.0).get("ended") == "blocked":
            turn = -0.3 if play.see()["line_angle"] > 0 else 0.3
            play("drive", speed=-0.4, steering=turn, seconds=0.6)


def blocked_start(play: Player) -> None:
    seen = play.see()
    rays = seen["rays"]
    side = 1 if sum(rays[1:5]) > sum(rays[-4:]) else -1
    play("reverse", metres=min(2.0, seen["clear_behind"] - 0.1))
    play("stop")
    way, enough = 0.0, play.see()["clear_ahead"] + 0.45
    while way < enough and not play.over:
        seen = play.see()
        angle, aside, ahead = seen["line_angle"], side * LANE - seen["line_offset"], 0.55
        x = ahead * math.cos(angle) - aside * math.sin(angle)
        y = ahead * math.sin(angle) + aside * math.cos(angle)
        trip = play("drive", speed=0.5, steering=_lock(math.atan2(0.52 * y, x * x + y * y)), seconds=0.2)
        way += float(trip.get("moved", [0.0])[0]) * math.cos(angle)  # type: ignore[arg-type, index, union-attr]
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
    aside = play.see()["goal"][1]
    seconds = 0.5 * math.acos(max(-1.0, 1.0 - abs(aside))) / 0.3
    play("drive", speed=-0.3, steering=-0.5, seconds=seconds)
    play("drive", speed=-0.3, steering=0.5, seconds=seconds)
    while not play.over:
        play("stop")
        _correct(play)


def _correct(play: Player) -> None:
    seen: dict[str, Any] = play.see()
    (x, y), turn = seen["goal"], seen["goal_angle"]
    askew = abs(turn) > 0.1 or abs(y) > 0.05
    if not askew and abs(x) < 0.06:
        return
    forward = seen["clear_ahead"] > seen["clear_behind"] if askew else x > 0
    room = (seen["clear_ahead"] if forward else seen["clear_behind"]) - 0.03
    way = max(0.03, min(room, 0.2 if askew else abs(x)))
    steering = _lock((3 * turn if forward else -3 * turn) + 4 * y)
    play("drive", speed=0.3 if forward else -0.3, steering=steering, seconds=max(0.05, way / 0.3))


def _lock(steering: float) -> float:
    return max(-0.5, min(0.5, steering))


PLAYERS: dict[str, Callable[[Player], None]] = {
    "winding_road": winding_road,
    "winding_road_wet": winding_road,
    "winding_road_slope": winding_road,
    "blocked_start": blocked_start,
    "parking": parking,
    "hill": hill,
}
