"""The tasks are doable with these primitives and this view: one fixed script for each, which is not always lucky."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

Player = Any
Make = Callable[..., Any]

PARTIES = 20


def find(player: Player, target: str) -> bool:
    """Turn around, then wander until it is seen."""
    while not player.over:
        if player.see()[f"{target}_seen"]:
            return True
        around = player("scan", target=target)
        if around.get("found"):
            player("turn", degrees=around["bearing"])
            player("approach", target=target, steps=10)
            continue
        player("explore", steps=40)
    return False


def reach(player: Player, target: str, within: float) -> bool:
    """Come so near that the target is under the cross-hair and in reach."""
    while find(player, target):
        player("approach", target=target, within=within)
        if player.over:
            return False
        if player("look_at", target=target).get("aimed"):
            return True
        if player.see()[f"{target}_distance"] <= within:
            player("walk", metres=0.5)
            if not player("look_at", target=target).get("aimed"):
                player("explore", steps=10)
    return False


def chop(player: Player) -> None:
    """One log from where a log is in reach."""
    if not reach(player, "log", 2.5):
        return
    before = player.see()["log_count"]
    for _ in range(3):
        if player("mine", ticks=40).get("broken", True):
            break
    for _ in range(3):
        if player.over or player("collect").get("gained", True) or player.see()["log_count"] > before:
            return
        player("walk", metres=1.0)


def gather(player: Player, logs: int) -> None:
    while not player.over and player.see()["log_count"] < logs:
        chop(player)


def _log(player: Player) -> None:
    gather(player, 1)


def _milk(player: Player) -> None:
    while not player.over and reach(player, "cow", 2.0):
        player("use")


def _wool(player: Player) -> None:
    while not player.over and reach(player, "sheep", 2.0):
        player("use")
        player("collect")


def _crafting_table(player: Player) -> None:
    gather(player, 1)
    player("craft", item="planks")
    player("craft", item="crafting_table")


def _wooden_pickaxe(player: Player) -> None:
    gather(player, 3)
    for _ in range(3):
        player("craft", item="planks")
    player("craft", item="crafting_table")
    player("craft", item="stick")
    for _ in range(3):
        if player("place", item="crafting_table").get("table_near", True):
            break
        player("explore", steps=10)
    player("craft", item="wooden_pickaxe")


SCRIPTS: Mapping[str, Callable[[Player], None]] = {
    "harvest_log": _log,
    "harvest_milk": _milk,
    "harvest_wool": _wool,
    "crafting_table": _crafting_table,
    "wooden_pickaxe": _wooden_pickaxe,
}


def wins(player: Player, name: str, seeds: int) -> int:
    count = 0
    for seed in range(seeds):
        player.reset(seed)
        SCRIPTS[name](player)
        count += player.success
    return count


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_does_it_now_and_then(make_player: Make, name: str) -> None:
    assert wins(make_player(name), name, 5) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_does_it_often_and_not_always(make_player: Make, name: str) -> None:
    assert wins(make_player(name), name, PARTIES) >= 0.3 * PARTIES
