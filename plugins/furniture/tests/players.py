"""Scripted players that use only primitives and the view."""

from __future__ import annotations

import math
from collections.abc import Callable

from rlgpt.domain import Plain
from rlgpt.testing.player import Player

Place = tuple[float, float]
HOLES = [(x, y) for x in (0.05625, -0.05625) for y in (0.05625, -0.05625)]
DESK_HOLES = [(x, y) for x in (0.080, -0.080) for y in (0.050, -0.050)]


def one_leg(play: Player) -> None:
    for attempt in range(3):
        if leg(play, "leg4", "table_top", HOLES[attempt:] + HOLES[:attempt], 0.046875, 0.012):
            return


def leg(play: Player, name: str, top: str, holes: list[Place], height: float, along: float) -> bool:
    """Insert a leg into the first of the holes that the arm can reach.

    :returns: whether the joint is made.
    """
    if not play("grasp", part=name, along_z=along, sink=0.003).get("holding"):
        return False
    play("move_by", dz=0.12)
    for x, y in holes:
        there: dict[str, Plain] = {"part": name, "onto": top, "x": x, "y": y}
        over = play("servo", **there, z=height + 0.05, tolerance=0.004)
        if over.get("planned"):
            break
    if not over.get("reached"):
        play("release")
        return False
    for _ in range(3):
        play("servo", **there, z=height + 0.028)
        play("servo", **there, z=height, speed=0.006, tolerance=0.003)
        play("push_down")
        if play.over or play.see()[f"{name}_made"] >= 1:
            play("release")
            return True
        play("servo", **there, z=height + 0.04)
    play("release")
    return False


def table(play: Player, legs: tuple[str, ...], top: str, holes: list[Place], height: float, along: float) -> None:
    """Insert the legs one by one, first into the holes that are far from the robot."""
    for _ in range(3):
        for name in legs:
            view = play.see()
            if play.over or view[f"{name}_made"] >= 1:
                continue
            free = [h for h in holes if not any(_is_at(view[f"{o}_seen_from_{top}"], h) for o in legs if o != name)]
            leg(play, name, top, _far_first(view, top, free), height, along)
            play("move_by", dz=0.15)


def _is_at(place: list[float], hole: Place) -> bool:
    return abs(place[0] - hole[0]) < 0.02 and abs(place[1] - hole[1]) < 0.02


def _far_first(view: dict[str, list[float]], top: str, holes: list[Place]) -> list[Place]:
    x, z = view[f"{top}_x"], view[f"{top}_z"]
    y = z[1] * x[2] - z[2] * x[1]
    return sorted(holes, key=lambda h: -(h[0] * x[0] + h[1] * y))


def square_table(play: Player) -> None:
    table(play, ("leg1", "leg4", "leg2", "leg3"), "table_top", HOLES, 0.046875, 0.012)


def desk(play: Player) -> None:
    legs = ("desk_leg1", "desk_leg4", "desk_leg2", "desk_leg3")
    table(play, legs, "desk_top", DESK_HOLES, 0.065625, 0.02)


def lamp(play: Player) -> None:
    for _ in range(3):
        if play.over or play.see()["lamp_bulb_made"] >= 1 or _bulb(play):
            break
    for _ in range(3):
        if play.over:
            return
        _hood(play)


def _bulb(play: Player) -> bool:
    # Grasp the part at its upper end, because the palm must stay above the shoulder of the base.
    if not play("grasp", part="lamp_bulb", along_z=0.004, sink=-0.007).get("holding"):
        return False
    play("move_by", dz=0.12)
    there: dict[str, Plain] = {"part": "lamp_bulb", "onto": "lamp_base"}
    if not play("servo", **there, z=0.0678 + 0.05, tolerance=0.004).get("reached"):
        play("release")
        return False
    for turn in ("any", "0", "90", "180", "270"):
        if turn != "any":
            # On one side the hand may be blocked, and free on another side.
            play("servo", **there, z=0.0678 + 0.12, turn=turn, tolerance=0.004)
            if not play("servo", **there, z=0.0678 + 0.07, tolerance=0.004).get("reached"):
                continue
        play("servo", **there, z=0.0678 + 0.033)
        play("servo", **there, z=0.0678, speed=0.006, tolerance=0.003)
        play("push_down")
        if play.over or play.see()["lamp_bulb_made"] >= 1:
            break
        play("servo", **there, z=0.0678 + 0.045)
    play("release", back=0.1)
    play("move_by", dz=0.15)
    return bool(play.see()["lamp_bulb_made"] >= 1)


def _hood(play: Player) -> None:
    if not play("grasp", part="lamp_hood", along_z=0.042, sink=0.0).get("holding"):
        return
    play("move_by", dz=0.2)
    there: dict[str, Plain] = {"part": "lamp_hood", "onto": "lamp_base"}
    if play("servo", **there, z=0.2, tolerance=0.004).get("reached"):
        for z in (0.15, 0.12, 0.0883):
            play("servo", **there, z=z, tolerance=0.003)
        play("push_down")
    play("release", back=0.1)
    play("move_by", dz=0.1)


def connected(play: Player, kind: str, direction: int) -> None:
    """Assemble with connectors: move the parts into place, and twist them to the left (``direction`` 1) or to the right
    (-1).
    """
    if kind == "one_leg":
        stand(play)
        twist(play, "leg4", 0.018, direction)
        return
    if not play("grasp", part="lamp_bulb", along_z=0.004, sink=-0.007).get("holding"):
        return
    play("move_by", dz=0.12)
    for height in (0.05, 0.03, 0.0):
        play("servo", part="lamp_bulb", onto="lamp_base", z=0.0678 + height, tolerance=0.004)
    twist(play, "lamp_bulb", 0.04, direction)
    play("release", back=0.1)
    play("move_by", dz=0.1)
    if not play("grasp", part="lamp_hood", along_z=0.042, sink=0.0).get("holding"):
        return
    play("move_by", dz=0.2)
    for height in (0.11, 0.06, 0.03, 0.0):
        play("servo", part="lamp_hood", onto="lamp_base", z=0.0883 + height, tolerance=0.004)
    twist(play, "lamp_hood", 0.055, direction)


def stand(play: Player) -> None:
    """Move the leg upright to its connector."""
    if not play("grasp", part="leg4", along_z=0.012, sink=0.003).get("holding"):
        return
    play("move_by", dz=0.12)
    for x, y in HOLES:
        there: dict[str, Plain] = {"part": "leg4", "onto": "table_top", "x": x, "y": y}
        if play("servo", **there, z=0.046875 + 0.05, tolerance=0.004).get("reached"):
            break
    play("servo", **there, z=0.046875 + 0.028)
    play("servo", **there, z=0.046875, speed=0.006, tolerance=0.003)


def twist(play: Player, name: str, along: float, direction: int) -> None:
    """Twist an upright part from above, with a new grasp when the wrist reaches its limit."""
    for _ in range(12):
        play("release", back=0.06)
        play("move_by", dz=0.12)
        play("rotate_part", axis="z", angle=-0.8 * direction)
        play("grasp", part=name, along_z=along, sink=0.0)
        if play.over or play.see()[f"{name}_made"] >= 1:
            return
        missing = (1 - play.see()[f"{name}_made"]) * math.pi / 2
        play("rotate_part", axis="z", angle=direction * min(missing + 0.3, 1.0))
        if play.over or play.see()[f"{name}_made"] >= 1:
            return


PLAYERS: dict[str, Callable[[Player], None]] = {
    "one_leg": one_leg,
    "square_table": square_table,
    "desk": desk,
    "lamp": lamp,
}
