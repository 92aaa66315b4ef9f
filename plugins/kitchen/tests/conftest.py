"""A player that calls primitives by name, as the host does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rlgpt.domain import Plain
from rlgpt.plugin.base import Context
from rlgpt.testing.stage import Stage
from rlgpt_kitchen.plugin import KitchenPlugin


class Player(Stage):
    """``player("move_to", x=0.1)``; arguments that are left out have their defaults."""

    def __init__(self, task: str, seed: int = 0) -> None:
        plugin = KitchenPlugin()
        super().__init__(plugin, plugin.tasks()[f"kitchen/{task}"], seed=seed)
        self._primitives = {p.name: p for p in plugin.primitives(self.task)}

    def __call__(self, name: str, **args: Plain) -> dict[str, Plain]:
        if self.over:
            return {}
        primitive = self._primitives[name]
        defaults: dict[str, Plain] = {p.name: p.default for p in primitive.parameters}
        assert set(args) <= set(defaults)
        return dict(self.call(primitive, {**defaults, **args}).outcome or {})

    @property
    def ctx(self) -> Context:
        return self.context

    def see(self) -> dict[str, Any]:
        return self.plugin.view(self.context)

    @property
    def success(self) -> bool:
        return bool(self.context.info["success"])


@pytest.fixture
def make_player() -> Iterator[Callable[..., Player]]:
    made: list[Player] = []

    def make(task: str, seed: int = 0) -> Player:
        made.append(Player(task, seed))
        return made[-1]

    yield make
    for player in made:
        player.env.close()


@pytest.fixture(scope="session")
def plugin() -> KitchenPlugin:
    return KitchenPlugin()
