"""A scripted player of the kitchen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from rlgpt.testing.player import Player
from rlgpt_kitchen.plugin import KitchenPlugin


@pytest.fixture
def make_player(plugin: KitchenPlugin) -> Iterator[Callable[..., Player]]:
    made: list[Player] = []

    def make(task: str, seed: int = 0) -> Player:
        made.append(Player(plugin, plugin.tasks()[f"kitchen/{task}"], seed=seed))
        return made[-1]

    yield make
    for player in made:
        player.env.close()


@pytest.fixture(scope="session")
def plugin() -> KitchenPlugin:
    return KitchenPlugin()
