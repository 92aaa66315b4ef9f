"""Scripted players that use primitives, and the parts' poses as observed: the tasks can be done."""

from __future__ import annotations

from collections.abc import Callable

from rlgpt.testing.player import Player

HOLES = [(x, y) for x in (0.05625, -0.05625) for y in (0.05625, -0.05625)]


def _say(name: str, outcome: object, verbose: bool) -> None:
    if verbose:
        print("   ", name, outcome)


def one_leg(play: Player, verbose: bool = False) -> None:
    leg, height = "leg4", 0.046875
    for attempt in range(3):
        if play.over:
            return
        _say("grasp", got := play("grasp", part=leg, along_z=0.012, sink=0.003), verbose)
        if not got.get("holding"):
            continue
        play("move_by", dz=0.12)
        for hole in HOLES[attempt:] + HOLES[:attempt]:
            there = {"part": leg, "onto": "table_top", "x": hole[0], "y": hole[1]}
            _say("over", over := play("servo", **there, z=height + 0.05, tolerance=0.004), verbose)
            if over.get("planned"):
                break
        if not over.get("reached"):
            _say("release", play("release"), verbose)
            continue
        for _ in range(3):
            _say("rim", play("servo", **there, z=height + 0.028), verbose)
            _say("in", play("servo", **there, z=height, speed=0.006, tolerance=0.003), verbose)
            _say("push", play("push_down"), verbose)
            if play.over:
                return
            play("servo", **there, z=height + 0.04)
        play("release")


PLAYERS: dict[str, Callable[[Player], None]] = {"one_leg": one_leg}
