"""Fixtures: the kitchen plugin, and scripted players of its tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from rlgpt.testing.player import Player
from rlgpt_kitchen.plugin import KitchenPlugin


@pytest.fixture
def make_player(plugin: KitchenPlugin) -> Iterator[Callable[..., Player]]:
    players: list[Player] = []

    def make(task: str, seed: int = 0) -> Player:
        players.append(Player(plugin, plugin.tasks()[f"kitchen/{task}"], seed=seed))
        return players[-1]

    yield make
    for player in players:
        player.env.close()


@pytest.fixture(scope="session")
def plugin() -> KitchenPlugin:
    return KitchenPlugin()
